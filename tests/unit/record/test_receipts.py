"""Events that come by message, and those that must be taken from a journal."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspectd.bus.journal import MemfdJournal
from inspectd.frame import Kind, Role, Ticket, Verdict
from inspectd.ports import Counter, Origin, Standing
from inspectd.record.receipts import Receipts
from inspectd.record.step import LOOK_EVERY_NS, RecordStep

ORIGIN = Origin("run-1", "line-1", "cam-1", "bottles", "0123")
START_NS = 10**12
_IDS = "SELECT trigger_id FROM events ORDER BY sequence"


@pytest.fixture
def journal() -> Iterator[MemfdJournal]:
    """As the sink of the first station writes it."""
    made = MemfdJournal.create(ORIGIN, entries=64)
    yield made
    made.close()


@pytest.fixture
def make(desk: Any, journal: MemfdJournal) -> Iterator[Any]:
    """Begin the record with that journal."""
    steps: list[RecordStep] = []

    def made(**limits: Any) -> RecordStep:
        desk.journals = {0: journal}
        steps.append(RecordStep(desk.line(**limits), desk.context, desk.utc))
        return steps[-1]

    yield made
    for step in steps:
        step.close()


def told(desk: Any, journal: MemfdJournal, trigger_id: int, **fields: Any) -> Ticket:
    """A part that was told, and stands in the journal."""
    ticket: Ticket = desk.ticket(trigger_id, **fields)
    journal.keep(Standing.TOLD, ticket)
    return ticket


def work(step: RecordStep, now_ns: int, for_ns: int = LOOK_EVERY_NS) -> int:
    """Take bites for so long."""
    end_ns = now_ns + for_ns
    while (at_ns := step.wake_at_ns()) is not None and at_ns <= end_ns:
        now_ns = max(now_ns, at_ns)
        step.wake(now_ns)
    return end_ns


def test_an_event_is_confirmed_when_it_is_committed(
    desk: Any, make: Any, journal: MemfdJournal
) -> None:
    """Not before: what is only in memory dies with the process."""
    step = make()
    now_ns = work(step, START_NS)
    step.feed(Kind.EVENT, told(desk, journal, 1), now_ns)
    assert len(journal.unrecorded()) == 1
    work(step, now_ns)
    assert journal.unrecorded() == ()
    assert desk.asked(_IDS) == [(1,)]


def test_a_restarted_record_begins_with_what_the_journal_holds(
    desk: Any, make: Any, journal: MemfdJournal
) -> None:
    """In the order of telling, before any message; a message of the same part adds no row."""
    tickets = [told(desk, journal, i) for i in (1, 2, 3)]
    step = make()
    later = told(desk, journal, 4)
    step.feed(Kind.EVENT, tickets[1], START_NS)
    step.feed(Kind.EVENT, later, START_NS)
    work(step, START_NS)
    assert desk.asked(_IDS) == [(1,), (2,), (3,), (4,)]
    assert journal.unrecorded() == ()


def test_an_event_without_a_message_is_found_by_the_second_look(
    desk: Any, make: Any, journal: MemfdJournal
) -> None:
    """A sink that was killed between the journal and the message."""
    step = make()
    now_ns = work(step, START_NS, LOOK_EVERY_NS // 2)
    told(desk, journal, 1)
    now_ns = work(step, now_ns, LOOK_EVERY_NS)
    assert desk.asked(_IDS) == []
    work(step, now_ns, LOOK_EVERY_NS)
    assert desk.asked(_IDS) == [(1,)]


def test_the_last_look_is_at_the_end(desk: Any, make: Any, journal: MemfdJournal) -> None:
    """The sinks have ended: whatever they told is written before the record is done."""
    step = make()
    now_ns = work(step, START_NS)
    told(desk, journal, 1)
    step.stop(now_ns)
    assert not step.is_drained()
    work(step, now_ns)
    assert step.is_drained()
    assert desk.asked(_IDS) == [(1,)]


def test_events_go_before_pictures_at_the_end(desk: Any, make: Any, journal: MemfdJournal) -> None:
    """Time may be short when the supervisor was killed."""
    step = make()
    now_ns = work(step, START_NS)
    for trigger_id in range(3):
        step.feed(Kind.EVENT, told(desk, journal, trigger_id, picture=True), now_ns)
    step.stop(now_ns)
    step.wake(now_ns)  # the look
    step.wake(now_ns)  # the commit
    assert journal.unrecorded() == ()
    assert len(desk.slots_of(Role.RECORD)) == 3
    work(step, now_ns)
    assert desk.slots_of(Role.RECORD) == []
    assert desk.counted[Counter.ARCHIVED] == 3


def test_the_picture_of_an_event_without_a_message_is_kept(
    desk: Any, make: Any, journal: MemfdJournal
) -> None:
    """Its slot was handed over before the sink died; the journal knows where it lies."""
    told(desk, journal, 1, picture=True)
    work(make(), START_NS)
    assert desk.counted[Counter.ARCHIVED] == 1
    assert desk.slots_of(Role.RECORD) == []


def test_two_events_that_look_the_same_are_both_confirmed(
    desk: Any, make: Any, journal: MemfdJournal
) -> None:
    """A verdict that came twice, too late twice."""
    step = make()
    work(step, START_NS)
    for _ in range(2):
        note = desk.ticket(1, verdict=Verdict.LATE, judged=Verdict.OK)
        journal.note(note)
        step.feed(Kind.EVENT, note, START_NS)
    step.stop(START_NS)
    work(step, START_NS)
    assert step.is_drained()
    assert journal.unrecorded() == ()


@given(st.lists(st.sampled_from(["tell", "send", "commit", "look", "die"])))
@settings(max_examples=200)
def test_nothing_is_missing_after_the_last_look(operations: list[str]) -> None:
    """Messages may come, get lost, or come late; the record may die: all events are committed."""
    trial = _Trial()
    for name in operations:
        getattr(trial, name)()
    trial.look(at_once=True)
    trial.commit()
    assert trial.committed == set(range(1, trial.counter + 1))
    assert trial.receipts.has_all()
    trial.journal.close()


class _Trial:
    """A sink that tells, a road that may lose, a record that may die."""

    def __init__(self) -> None:
        self.journal = MemfdJournal.create(ORIGIN, entries=256)
        self.receipts = Receipts({0: self.journal})
        self.queue: list[Ticket] = []
        self.sent: list[Ticket] = []
        self.committed: set[int] = set()
        self.counter = 0

    def tell(self) -> None:
        self.counter += 1
        self.sent.append(Ticket(0, self.counter, deadline_ns=self.counter))
        self.journal.keep(Standing.TOLD, self.sent[-1])

    def send(self) -> None:
        if self.sent:
            self.queue.append(self.sent.pop())
            self.receipts.queued(self.receipts.of(self.queue[-1]))

    def commit(self) -> None:
        self.committed.update(ticket.trigger_id for ticket in self.queue)
        self.receipts.committed(len(self.queue))
        self.queue.clear()

    def look(self, *, at_once: bool = False) -> None:
        for receipt, ticket in self.receipts.missing(at_once=at_once):
            self.queue.append(ticket)
            self.receipts.queued(receipt)

    def die(self) -> None:
        self.queue.clear()
        self.sent.clear()
        self.receipts = Receipts({0: self.journal})
