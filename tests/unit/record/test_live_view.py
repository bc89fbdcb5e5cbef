"""The live view: follows the record, whatever state it is in, and disturbs nobody."""

import io
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from inspectd.cli.live import PERIOD_NS, Live
from inspectd.frame import Reason, Role, Verdict
from inspectd.ports import Status
from inspectd.record.database import FILE_NAME, Database
from inspectd.record.event import event_of
from inspectd.record.report import build_report
from inspectd.stages.judge.rules import evaluate


@dataclass(frozen=True)
class Row:
    """One process on the board."""

    role: Role
    station: int
    status: Status = Status.READY
    trouble: str = ""


def view(desk: Any, out: io.StringIO) -> Live:
    """The view of the desk's run."""
    return Live(desk.line(), "run-1", desk.folder / FILE_NAME, out)


def test_where_no_terminal_is_each_verdict_is_one_line(desk: Any) -> None:
    """With its latency, what was allowed, and why."""
    out = io.StringIO()
    live = view(desk, out)
    detail = b'{"broken":[["cap","1 of 1 object of Bottle without Cap",1]]}'
    desk.recorded(
        desk.ticket(1, detail=detail), desk.ticket(2, verdict=Verdict.OK, reason=Reason.NONE)
    )
    live.start()
    live.update(0)
    live.stop()
    assert out.getvalue().splitlines() == [
        "cam-1      1 NG    DEFECT 12.0 of 50 ms  1 of 1 object of Bottle without Cap",
        "cam-1      2 OK    12.0 of 50 ms  a.png",
    ]


def test_an_unfit_picture_is_told_with_its_measure_and_limit(desk: Any) -> None:
    """The one measure that the reason speaks of."""
    out = io.StringIO()
    live = view(desk, out)
    measures = '{"name":"glare","value":3,"limit":9},{"name":"exposure","value":11.9,"limit":85}'
    detail = f'{{"measures":[{measures}]}}'.encode()
    desk.recorded(desk.ticket(1, verdict=Verdict.UNFIT, reason=Reason.DARK, detail=detail))
    live.update(0)
    live.stop()
    assert out.getvalue().endswith("exposure 11.9, limit 85\n")


def test_a_record_that_is_not_there_yet_is_waited_for(desk: Any) -> None:
    """The view starts with the line; the database comes later."""
    out = io.StringIO()
    live = view(desk, out)
    live.update(0)
    desk.recorded(desk.ticket(1))
    live.update(PERIOD_NS)
    live.stop()
    assert len(out.getvalue().splitlines()) == 1


def test_the_database_is_asked_five_times_a_second_at_most(desk: Any) -> None:
    """However often the loop turns."""
    out = io.StringIO()
    live = view(desk, out)
    desk.recorded()
    live.update(0)
    with closing(Database(desk.folder, desk.utc, desk.log)) as database:
        database.write([event_of(desk.ticket(1), desk.line(), "run-1", desk.utc())])
    live.update(PERIOD_NS - 1)
    assert not out.getvalue()
    live.update(PERIOD_NS)
    live.stop()
    assert out.getvalue()


def test_what_came_last_is_still_told_before_the_summary(desk: Any) -> None:
    """The end of a run is no reason to hide its last verdicts."""
    out = io.StringIO()
    live = view(desk, out)
    path = desk.recorded(desk.ticket(1))
    live.stop(build_report(desk.line(), "run-1", path, evaluate=evaluate))
    lines = out.getvalue().splitlines()
    assert "DEFECT" in lines[0]
    assert "1 parts" in lines[1]


def test_a_terminal_shows_counts_stages_processes_and_trouble(desk: Any) -> None:
    """The picture of one look, as text."""
    live = view(desk, io.StringIO())
    desk.recorded(desk.ticket(1), desk.ticket(2, verdict=Verdict.LATE))
    rows = (Row(Role.SINK, 0, Status.TROUBLED, "the PLC does not answer"), Row(Role.INFER, -1))
    live.update(0, rows)
    screen = Console(file=io.StringIO(), width=120)
    with screen.capture() as capture:
        screen.print(live._picture())
    live.stop()
    text = capture.get()
    assert "1 of 2 processes ready" in text
    assert "cam-1 sink: the PLC does not answer" in text
    assert "2 of the last 2 confirmed" in text
    assert "infer" in text
    assert "12.0 of 50 ms" in text


def test_a_terminal_is_given_back(desk: Any) -> None:
    """After the end the screen holds the summary only."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    out = Terminal()
    live = view(desk, out)
    path = desk.recorded(desk.ticket(1))
    live.start()
    live.update(0)
    live.stop(build_report(desk.line(), "run-1", path, evaluate=evaluate))
    assert "station cam-1: 1 parts" in out.getvalue()
    assert live._screen is None
