"""Lines of the log."""

import io
import json

from inspectd.host.log import make_log


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_line_is_json_with_process_run_event_and_fields() -> None:
    """What a journal can search."""
    out = io.StringIO()
    make_log("one/gate", "run-1", "info", out)("warning", "slot_orphaned", trigger_id=7)
    line = json.loads(out.getvalue())
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "process": "one/gate",
        "run": "run-1",
        "level": "warning",
        "event": "slot_orphaned",
        "trigger_id": 7,
    }


def test_levels_below_the_chosen_one_are_silent() -> None:
    """`--quiet` means warnings and errors."""
    out = io.StringIO()
    make_log("gate", "run-1", "warning", out)("info", "process_ready")
    assert out.getvalue() == ""


def test_a_terminal_gets_text() -> None:
    """People read no JSON."""
    out = _Terminal()
    make_log("gate", "run-1", "info", out)("info", "process_ready")
    assert "process_ready" in out.getvalue()
    assert not out.getvalue().startswith("{")


def test_an_error_brings_its_trace() -> None:
    """A bug is to be found from the log alone."""
    out = io.StringIO()
    log = make_log("gate", "run-1", "info", out)
    try:
        int("seven")
    except ValueError:
        log("error", "process_failed", exc_info=True)
    assert "ValueError" in json.loads(out.getvalue())["exception"]
