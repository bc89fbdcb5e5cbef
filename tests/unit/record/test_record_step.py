"""The record's door: events are kept, slots come back, pictures are given up first."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import cv2
import pytest

from inspectd.frame import Kind, Role, Verdict
from inspectd.ports import Counter
from inspectd.record.database import FILE_NAME
from inspectd.record.queue import COMMIT_AFTER_NS
from inspectd.record.step import CHECK_EVERY_NS, RecordStep

START_NS = 10**12


@pytest.fixture
def closer() -> Iterator[list[RecordStep]]:
    """Steps to close when the test ends."""
    steps: list[RecordStep] = []
    yield steps
    for step in steps:
        step.close()


@pytest.fixture
def make(desk: Any, closer: list[RecordStep]) -> Any:
    """Begin the record on the desk's folder; keys of `record` by name."""

    def make(**limits: Any) -> RecordStep:
        step = RecordStep(desk.line(**limits), desk.context, desk.utc)
        closer.append(step)
        return step

    return make


def settle(step: RecordStep, now_ns: int = START_NS) -> int:
    """Take bites as the loop would, until nothing is due for long; answers the time then."""
    for _ in range(10_000):
        at_ns = step.wake_at_ns()
        if at_ns is None or at_ns > now_ns + CHECK_EVERY_NS // 2:
            return now_ns
        now_ns = max(now_ns, at_ns)
        step.wake(now_ns)
    raise AssertionError("never comes to rest")


def asked(desk: Any, query: str) -> list[tuple[Any, ...]]:
    """What a stranger reads in the file."""
    with closing(sqlite3.connect(desk.folder / FILE_NAME)) as connection:
        return connection.execute(query).fetchall()


def test_an_event_is_in_the_database_a_moment_later(desk: Any, make: Any) -> None:
    """Within the time that a killed record process can lose."""
    step = make()
    settle(step)
    step.feed(Kind.EVENT, desk.ticket(1), START_NS)
    due_ns = step.wake_at_ns()
    assert due_ns == START_NS + COMMIT_AFTER_NS
    step.wake(due_ns)
    assert asked(desk, "SELECT trigger_id, verdict FROM events") == [(1, "NG")]
    assert desk.counted[Counter.EVENTS] == 1


def test_a_rejected_part_leaves_a_picture_with_its_event_beside(desk: Any, make: Any) -> None:
    """Full size, nothing drawn into it; the slot is free again."""
    step = make()
    step.feed(Kind.EVENT, desk.ticket(1, picture=True), START_NS)
    settle(step)
    [(path,)] = asked(desk, "SELECT archive FROM events")
    picture = cv2.imread(str(desk.folder / path))
    assert picture is not None
    assert picture.shape == (48, 64, 3)
    event = json.loads((desk.folder / path).with_suffix(".json").read_bytes())
    assert (event["archive"], event["detail"]["image"]) == (path, "a.png")
    assert desk.slots_of(Role.RECORD) == []
    assert desk.counted[Counter.ARCHIVED] == 1
    assert desk.counted[Counter.PIXEL_COPIES] == 0


def test_the_slot_comes_back_before_anything_is_written(desk: Any, make: Any) -> None:
    """One bite: encoded and released; disks are slow, slots are few."""
    step = make()
    step.feed(Kind.EVENT, desk.ticket(1, picture=True), START_NS)
    step.wake(START_NS)
    assert desk.slots_of(Role.RECORD) == []
    assert not (desk.folder / "archive").exists()


def test_the_index_knows_a_picture_before_it_lies_on_disk(desk: Any, make: Any) -> None:
    """A record process killed in between leaves a path without a picture, never the reverse."""
    step = make()
    step.feed(Kind.EVENT, desk.ticket(1, picture=True), START_NS)
    step.wake(START_NS)
    step.wake(START_NS + COMMIT_AFTER_NS)
    [(path,)] = asked(desk, "SELECT archive FROM events")
    assert not (desk.folder / path).exists()
    settle(step)
    assert (desk.folder / path).exists()


def test_a_record_that_falls_behind_skips_pictures_not_events(desk: Any, make: Any) -> None:
    """At most half of a station's slots wait here; the camera needs the others."""
    step = make()
    for i in range(6):
        step.feed(Kind.EVENT, desk.ticket(i, picture=True), START_NS)
    assert len(desk.slots_of(Role.RECORD)) == 4
    assert desk.counted[Counter.ARCHIVE_SKIPPED] == 2
    settle(step)
    assert asked(desk, "SELECT count(*), count(archive) FROM events") == [(6, 4)]
    assert desk.slots_of(Role.RECORD) == []


def test_a_full_disk_costs_pictures_but_no_event(desk: Any, make: Any) -> None:
    """Below the free space asked for: the slot is given back at once."""
    step = make(min_free_mb=10**9)
    step.feed(Kind.EVENT, desk.ticket(1, picture=True), START_NS)
    assert desk.slots_of(Role.RECORD) == []
    step.wake(START_NS + COMMIT_AFTER_NS)
    assert asked(desk, "SELECT count(*), count(archive) FROM events") == [(1, 0)]
    assert desk.counted[Counter.ARCHIVE_SKIPPED] == 1
    assert "min_free_mb" in step.trouble()


def test_a_stale_slot_costs_the_picture_only(desk: Any, make: Any) -> None:
    """The supervisor reclaimed it when the last record process died."""
    step = make()
    ticket = desk.ticket(1, picture=True)
    desk.arena.release(ticket.slot, ticket.generation, Role.RECORD)
    step.feed(Kind.EVENT, ticket, START_NS)
    settle(step)
    assert asked(desk, "SELECT count(*), count(archive) FROM events") == [(1, 0)]
    assert desk.counted[Counter.STALE] == 1


def test_a_slot_reclaimed_while_it_waits_leaves_no_foreign_picture(desk: Any, make: Any) -> None:
    """Another part's picture may lie there by now."""
    step = make()
    ticket = desk.ticket(1, picture=True)
    step.feed(Kind.EVENT, ticket, START_NS)
    desk.arena.release(ticket.slot, ticket.generation, Role.RECORD)
    desk.arena.loan(2)
    settle(step)
    assert asked(desk, "SELECT count(*), count(archive) FROM events") == [(1, 0)]
    assert not (desk.folder / "archive").exists()
    assert desk.slots_of(Role.CAMERA) == [ticket.slot]


@pytest.mark.slow
def test_a_database_that_refuses_keeps_events_and_lets_pictures_go(desk: Any, make: Any) -> None:
    """Tried again until there is room: then everything is there."""
    step = make()
    with closing(sqlite3.connect(desk.folder / FILE_NAME)) as other:
        other.execute("BEGIN IMMEDIATE")
        step.feed(Kind.EVENT, desk.ticket(1, picture=True), START_NS)
        step.wake(START_NS)
        step.wake(START_NS + COMMIT_AFTER_NS)
    assert "1 events wait" in step.trouble()
    assert ("error", "record_write_failed") in desk.said
    assert desk.slots_of(Role.RECORD) == []
    settle(step, START_NS + COMMIT_AFTER_NS)
    assert not step.trouble()
    assert asked(desk, "SELECT count(*), count(archive) FROM events") == [(1, 0)]
    assert desk.counted[Counter.ARCHIVE_SKIPPED] == 1


def test_stopping_finishes_what_is_queued(desk: Any, make: Any) -> None:
    """Events that come while it stops as well."""
    step = make()
    for i in range(3):
        step.feed(Kind.EVENT, desk.ticket(i, picture=True), START_NS)
    step.stop(START_NS)
    step.feed(Kind.EVENT, desk.ticket(9), START_NS)
    assert not step.is_drained()
    settle(step)
    assert step.is_drained()
    assert asked(desk, "SELECT count(*), count(archive) FROM events") == [(4, 3)]


@pytest.mark.slow
def test_stopping_comes_to_an_end_although_the_disk_refuses(desk: Any, make: Any) -> None:
    """Three more tries; what is lost is counted and said."""
    step = make()
    step.feed(Kind.EVENT, desk.ticket(1), START_NS)
    with closing(sqlite3.connect(desk.folder / FILE_NAME)) as other:
        other.execute("BEGIN IMMEDIATE")
        step.stop(START_NS)
        now_ns = START_NS
        for _ in range(3):
            now_ns = max(now_ns, step.wake_at_ns() or 0)
            step.wake(now_ns)
        assert step.is_drained()
        step.close()
    assert desk.counted[Counter.EVENTS_LOST] == 1
    assert ("error", "record_events_lost") in desk.said


def test_a_restarted_record_goes_on_in_the_same_file(desk: Any, make: Any) -> None:
    """Same run, same table, no part twice."""
    first = make()
    first.feed(Kind.EVENT, desk.ticket(1), START_NS)
    settle(first)
    second = make()
    second.feed(Kind.EVENT, desk.ticket(1), START_NS)
    second.feed(Kind.EVENT, desk.ticket(2), START_NS)
    settle(second)
    assert asked(desk, "SELECT trigger_id FROM events ORDER BY sequence") == [(1,), (2,)]
    assert asked(desk, "SELECT run_id, line FROM runs") == [("run-1", "line-1")]


def test_slots_that_still_wait_are_given_back_at_the_end(desk: Any, make: Any) -> None:
    """Also when the process ends in a hurry."""
    step = make()
    step.feed(Kind.EVENT, desk.ticket(1, picture=True), START_NS)
    step.close()
    assert desk.slots_of(Role.RECORD) == []


def test_old_pictures_go_while_the_line_runs(desk: Any, make: Any) -> None:
    """A look round every minute deletes what is too old, bite by bite."""
    step = make(keep_days=1)
    step.feed(Kind.EVENT, desk.ticket(1, picture=True, verdict=Verdict.UNFIT), START_NS)
    now_ns = settle(step)
    assert list((desk.folder / "archive").iterdir())
    desk.utc.move(days=2)
    settle(step, now_ns + 2 * 86_400 * 10**9)
    assert list((desk.folder / "archive").iterdir()) == []
    assert asked(desk, "SELECT count(*), count(archive) FROM events") == [(1, 0)]


def test_a_clock_that_steps_deletes_nothing(desk: Any, make: Any) -> None:
    """Set a hundred years ahead or back, it makes nothing old; order stays that of arrival."""
    step = make(keep_days=1, keep_events_days=1)
    step.feed(Kind.EVENT, desk.ticket(1, picture=True, verdict=Verdict.UNFIT), START_NS)
    now_ns = settle(step)
    for trigger_id, days in enumerate((36_500, -56_000, 19_500), start=2):
        desk.utc.move(days=days)
        step.feed(Kind.EVENT, desk.ticket(trigger_id), now_ns)
        now_ns = settle(step, now_ns + CHECK_EVERY_NS)
    rows = asked(desk, "SELECT trigger_id, archive IS NULL FROM events ORDER BY sequence")
    assert rows == [(1, 0), (2, 1), (3, 1), (4, 1)]
    assert len(list((desk.folder / "archive").rglob("*.jpg"))) == 1


def test_other_messages_are_not_for_the_record(desk: Any, make: Any) -> None:
    """Only events are."""
    step = make()
    assert step.feed(Kind.VERDICT, desk.ticket(1), START_NS) == ()
    settle(step)
    assert asked(desk, "SELECT count(*) FROM events") == [(0,)]
