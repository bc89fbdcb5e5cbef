"""The log of a process: an event name of the word list and its fields, a line each, to stderr.

JSON when stderr is a file or a pipe (the journal), coloured text when it is a terminal. Levels are
defined by their reader: error, a person must act; warning, watch; info, life cycle; debug,
developers. The path of a frame logs nothing: it counts (`inspectd.host.board`).
"""

import logging
import sys
from collections.abc import Callable
from typing import Any, TextIO

import structlog

__all__ = ["LEVELS", "make_log"]

LEVELS = ("debug", "info", "warning", "error")


def make_log(
    process: str, run_id: str, level: str, stream: TextIO | None = None
) -> Callable[..., None]:
    """Answer `log(level, event, **fields)` of a process, which stands in every line."""
    out = sys.stderr if stream is None else stream
    renderer: Any = (
        structlog.dev.ConsoleRenderer(pad_event_to=20)
        if out.isatty()
        else structlog.processors.JSONRenderer(default=str)
    )
    logger = structlog.wrap_logger(
        structlog.WriteLogger(out),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        cache_logger_on_first_use=True,
    ).bind(process=process, run=run_id)

    def log(at: str, event: str, **fields: Any) -> None:
        getattr(logger, at)(event, **fields)

    return log
