"""Reading a record without disturbing whoever writes it."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from inspectd.errors import UsageFault
from inspectd.frame import Verdict
from inspectd.record.database import FILE_NAME, Database
from inspectd.record.event import event_of
from inspectd.record.reading import Reading


def test_parts_come_in_the_order_of_their_arrival(desk: Any) -> None:
    """From any point on: that is how the live view follows."""
    path = desk.recorded(*(desk.ticket(i) for i in (1, 2, 3)))
    with closing(Reading(path)) as reading:
        assert [part.trigger_id for part in reading.parts("run-1", after=1)] == [2, 3]
        assert list(reading.parts("another run")) == []


def test_the_detail_is_read_only_when_it_is_asked_for(desk: Any) -> None:
    """It is most of the file, and counts and times do not need it."""
    path = desk.recorded(desk.ticket(1))
    with closing(Reading(path)) as reading:
        (short,) = reading.parts("run-1")
        (full,) = reading.parts("run-1", with_detail=True)
    assert (short.detail, "a.png" in full.detail) == ("", True)
    assert full.times_ms == (2.0, 3.0, 3.0, 2.0, 2.0, 12.0)


def test_a_reader_follows_a_writer_at_work(desk: Any) -> None:
    """What is committed is seen at once, and nobody waits for anybody."""
    path = desk.recorded(desk.ticket(1))
    with (
        closing(Reading(path)) as reading,
        closing(Database(desk.folder, desk.utc, desk.log)) as writer,
    ):
        assert len(list(reading.parts("run-1"))) == 1
        writer.write([event_of(desk.ticket(2), desk.line(), "run-1", desk.utc())])
        assert [part.trigger_id for part in reading.parts("run-1", after=1)] == [2]


def test_a_reader_cannot_write(desk: Any) -> None:
    """Whatever it is asked."""
    path = desk.recorded(desk.ticket(1))
    with closing(Reading(path)) as reading, pytest.raises(sqlite3.OperationalError):
        reading._connection.execute("DELETE FROM events")


def test_the_latest_run_is_meant_when_none_is_named(desk: Any) -> None:
    """And one that is not there is named together with those that are."""
    path = desk.recorded(desk.ticket(1))
    with closing(Reading(path)) as reading:
        assert reading.run().run_id == "run-1"
        with pytest.raises(UsageFault, match=r"no run 'other'.*run-1"):
            reading.run("other")


@pytest.mark.parametrize("content", [None, b"", b"no database at all" * 100])
def test_what_is_no_record_is_one_clear_error(tmp_path: Path, content: bytes | None) -> None:
    """Missing, empty or foreign: the file is named."""
    path = tmp_path / FILE_NAME
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageFault, match=FILE_NAME):
        Reading(path)


@pytest.mark.parametrize(
    ("late_by_ns", "verdict", "is_unmarked"),
    [
        (1, Verdict.OK, True),
        (1, Verdict.LATE, False),
        (0, Verdict.OK, False),
        (-(10**9), Verdict.OK, False),
    ],
)
def test_a_verdict_after_its_deadline_must_say_late(
    desk: Any, late_by_ns: int, verdict: Verdict, is_unmarked: bool
) -> None:
    """At the deadline itself it is still in time."""
    ticket = desk.ticket(1)
    sent_ns = ticket.stamps[-1]
    path = desk.recorded(desk.ticket(1, verdict=verdict, deadline_ns=sent_ns - late_by_ns))
    with closing(Reading(path)) as reading:
        (part,) = reading.parts("run-1")
    assert part.is_late_unmarked is is_unmarked
