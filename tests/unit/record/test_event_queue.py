"""Events on their way into the database."""

from typing import Any

import pytest

from inspectd.record.event import Event, event_of
from inspectd.record.queue import BATCH, COMMIT_AFTER_NS, RETRY_AFTER_NS, EventQueue


@pytest.fixture
def event(desk: Any) -> Event:
    """Some event."""
    return event_of(desk.ticket(1), desk.line(), "run-1", desk.utc())


def test_a_lone_event_waits_a_moment_for_others(event: Event) -> None:
    """Counted from the first that waits."""
    queue = EventQueue()
    assert queue.due_at_ns() is None
    queue.push(event, 1_000)
    queue.push(event, 2_000)
    assert queue.due_at_ns() == 1_000 + COMMIT_AFTER_NS


def test_a_full_batch_waits_no_longer(event: Event) -> None:
    """And leaves the rest for the next."""
    queue = EventQueue()
    for _ in range(BATCH + 1):
        queue.push(event, 1_000)
    assert queue.due_at_ns() == 1_000
    events, _ = queue.batch()
    assert len(events) == BATCH
    queue.committed(len(events), 0, 5_000)
    assert (len(queue), queue.settled) == (1, BATCH)


def test_a_refused_batch_is_kept_and_tried_again_later(event: Event) -> None:
    """Not at once: the disk is full."""
    queue = EventQueue()
    queue.push(event, 0)
    queue.refused(10)
    assert queue.due_at_ns() == 10 + RETRY_AFTER_NS
    assert (len(queue), queue.settled) == (1, 0)


def test_the_oldest_are_lost_when_nothing_fits_any_more(event: Event) -> None:
    """Bounded, and counted."""
    queue = EventQueue(limit=3)
    for _ in range(5):
        queue.push(event, 0)
    assert (len(queue), queue.lost, queue.taken) == (3, 2, 5)


def test_paths_are_taken_back_only_after_the_events_that_name_them(event: Event) -> None:
    """Otherwise the event would bring the path back."""
    queue = EventQueue()
    for _ in range(BATCH + 1):
        queue.push(event, 0)
    queue.forget(["archive/a.jpg"], 0)
    assert queue.batch()[1] == []
    queue.committed(BATCH, 0, 0)
    assert queue.batch()[1] == ["archive/a.jpg"]
    queue.committed(1, 1, 0)
    assert not queue
    assert queue.due_at_ns() is None


def test_stopping_makes_everything_due(event: Event) -> None:
    """Also what was refused a moment ago."""
    queue = EventQueue()
    queue.push(event, 10**12)
    queue.refused(10**12)
    queue.hasten()
    due_ns = queue.due_at_ns()
    assert due_ns is not None
    assert due_ns <= 0
