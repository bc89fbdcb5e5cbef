"""The log of a process: an event name of the word list and its fields, a line each, to stderr.

JSON when stderr is a file or a pipe (the journal), coloured text when it is a terminal. Levels are
defined by their reader: error, a person must act; warning, watch; info, life cycle; debug,
developers. The path of a frame logs nothing: it counts (`inspectd.host.board`).

The JSON is written here, and structlog is loaded for terminals only: it takes a quarter of the time
in which a killed process is back (190 of 780 ms, measured; `docs/chaos.md`).
"""

import json
import sys
import traceback
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any, TextIO

__all__ = ["LEVELS", "make_log"]

LEVELS = ("debug", "info", "warning", "error")


def make_log(
    process: str, run_id: str, level: str, stream: TextIO | None = None
) -> Callable[..., None]:
    """Answer `log(level, event, **fields)` of a process, which stands in every line.

    `exc_info=True` among the fields brings the trace of the exception that is being handled.
    """
    out = sys.stderr if stream is None else stream
    write = _text_to(out) if out.isatty() else _json_to(out)
    lowest = LEVELS.index(level)

    def log(at: str, event: str, **fields: Any) -> None:
        if LEVELS.index(at) >= lowest:
            write(at, event, {"process": process, "run": run_id, **fields})

    return log


def _json_to(out: TextIO) -> Callable[[str, str, dict[str, Any]], None]:
    """One object a line, written in one go: other processes write to the same pipe."""

    def write(level: str, event: str, fields: dict[str, Any]) -> None:
        if fields.pop("exc_info", False):
            fields["exception"] = traceback.format_exc().rstrip()
        utc = datetime.now(timezone.utc).isoformat(timespec="microseconds")
        line = {**fields, "event": event, "level": level, "timestamp": utc.replace("+00:00", "Z")}
        out.write(json.dumps(line, default=str) + "\n")
        out.flush()

    return write


def _text_to(out: TextIO) -> Callable[[str, str, dict[str, Any]], None]:
    """Coloured text for people."""
    import structlog  # noqa: PLC0415 - see above

    logger = structlog.wrap_logger(
        structlog.WriteLogger(out),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.dev.ConsoleRenderer(pad_event_to=20),
        ],
        cache_logger_on_first_use=True,
    )

    def write(level: str, event: str, fields: dict[str, Any]) -> None:
        getattr(logger, level)(event, **fields)

    return write
