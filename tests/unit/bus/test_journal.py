"""The sink's journal: killed at every instruction, torn at every byte, driven at random."""

import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from inspectd.bus import journal as module
from inspectd.bus.entry import ENTRY_BYTES
from inspectd.bus.journal import MemfdJournal
from inspectd.errors import ArenaFault
from inspectd.frame import Reason, Stamp, Ticket, Verdict
from inspectd.ports import Origin, Past, Standing

ORIGIN = Origin("run-1", "line-1", "cam-1", "bottles", "0123")
_ENTRIES = 6


class _KilledError(BaseException):
    """The process died here."""


def _part(trigger_id: int, at: int = 0) -> Ticket:
    ticket = Ticket(0, trigger_id, f"part {trigger_id}", deadline_ns=10**6, detail=b'{"a": 1}')
    return ticket.stamped(Stamp.FIRED, 1000 + at)


def _judged(ticket: Ticket, at: int = 0) -> Ticket:
    return ticket.decided(Verdict.NG, Reason.DEFECT, 2000 + at)


def _seen(journal: MemfdJournal) -> Past:
    """What a process that is started now finds."""
    other = MemfdJournal.attach(os.dup(journal.fd))
    try:
        return other.past()
    finally:
        other.close()


def _killed_after(instructions: int, call: Callable[[], object]) -> bool:
    """Run a call and end it at the so-manieth instruction of the journal; whether it got there."""
    left = instructions

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal left
        if frame.f_code.co_filename != module.__file__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            left -= 1
            if left < 0:
                raise _KilledError
        return trace

    former = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except _KilledError:
        return True
    finally:
        sys.settrace(former)
    return False


def _calls(journal: MemfdJournal) -> list[Callable[[], object]]:
    """Each way to write, on a journal in which each has something to do."""
    seven = _part(7)
    return [
        lambda: journal.begin(5),
        lambda: journal.keep(Standing.OPEN, seven),
        lambda: journal.keep(Standing.SETTLED, _judged(seven)),
        lambda: journal.keep(Standing.LEAVING, _judged(seven), 3),
        lambda: journal.keep(Standing.TOLD, _judged(seven), 3),
        lambda: journal.note(_judged(_part(9))),
        lambda: journal.confirm([entry.number for entry in journal.unrecorded()]),
        lambda: journal.keep(Standing.TOLD, _judged(_part(20))),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("which", range(8))
@pytest.mark.parametrize("garbage", [b"", b"\0" * ENTRY_BYTES, b"\xa5" * ENTRY_BYTES])
def test_a_kill_at_any_instruction_leaves_the_old_or_the_new(which: int, garbage: bytes) -> None:
    """Never a mixture, never a loss; whatever the page that does not count is left with."""
    instructions = 0
    was_killed, found = True, None
    while was_killed:
        journal = MemfdJournal.create(ORIGIN, _ENTRIES)
        calls = _calls(journal)
        for call in calls[:which]:
            call()
        before = _seen(journal)
        was_killed = _killed_after(instructions, calls[which])
        _spoil_idle_pages(journal, garbage)
        found = _seen(journal)
        if was_killed and which != 6:
            again = MemfdJournal.attach(os.dup(journal.fd))
            again.past()
            assert found.damaged == 0
            if found != before:  # it was done: the rest of the call changes nothing any more
                assert _without_numbers(found) == _without_numbers(_after(which))
            again.close()
        journal.close()
        instructions += 1
    assert instructions > 5
    assert found is not None
    assert _without_numbers(found) == _without_numbers(_after(which))


def _after(which: int) -> Past:
    """What stands there after so many calls that nobody disturbed."""
    journal = MemfdJournal.create(ORIGIN, _ENTRIES)
    for call in _calls(journal)[: which + 1]:
        call()
    past = _seen(journal)
    journal.close()
    return past


def _without_numbers(past: Past) -> Past:
    """Numbers are private."""
    return past._replace(
        settled=past.settled and past.settled._replace(number=0),
        held=tuple(entry._replace(number=0) for entry in past.held),
        unseen=tuple(entry._replace(number=0) for entry in past.unseen),
    )


def _spoil_idle_pages(journal: MemfdJournal, garbage: bytes) -> None:
    """Tear every page that does not count: a kill in the middle of a copy leaves anything there."""
    if not garbage:
        return
    size = os.fstat(journal.fd).st_size
    words_at, entries = 4096, _ENTRIES
    pages_at = words_at + entries * 3 * 8
    assert size >= pages_at + entries * 2 * ENTRY_BYTES
    for place in range(entries):
        word = int.from_bytes(os.pread(journal.fd, 8, words_at + 8 * place), "little")
        idle = 0 if word & 8 else 1
        os.pwrite(journal.fd, garbage, pages_at + (2 * place + idle) * ENTRY_BYTES)


@given(st.integers(0, ENTRY_BYTES - 1), st.integers(0, 255))
def test_a_page_with_one_wrong_byte_is_not_believed(at: int, byte: int) -> None:
    """The sum finds it: then it is counted as damaged, and nothing is made up."""
    journal = MemfdJournal.create(ORIGIN, _ENTRIES)
    journal.keep(Standing.OPEN, _part(1))
    whole = _seen(journal)
    place = 4096 + _ENTRIES * 24 + (2 * 1 + 1) * ENTRY_BYTES + at  # entry 1, its second page
    os.pwrite(journal.fd, bytes([byte]), place)
    found = _seen(journal)
    assert found == whole or (found.held == () and found.damaged == 1)
    journal.close()


_OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["open", "settle", "leave", "tell", "note", "confirm", "take", "restart"]),
        st.integers(0, 5),
    ),
    max_size=60,
)


@given(_OPERATIONS)
@settings(max_examples=150)
def test_a_journal_that_is_large_enough_forgets_nothing(operations: list[tuple[str, int]]) -> None:
    """Held parts, told events and counts are those of a plain list, over any restarts."""
    _Trial(entries=64).run(operations)


_LAST_TOLD_HAS_A_LOW_NUMBER = [
    *(("open", trigger_id) for trigger_id in (0, 1, 3, 4)),
    *(("tell", 2), ("tell", 0), ("note", 0), ("open", 0), ("open", 2), ("note", 0)),
]
"""Trigger 0 was told after trigger 2 and opened before it; then the journal is full."""
_LAST_TOLD_IS_RECORDED = [
    *(("open", 0), ("tell", 1), ("confirm", 5), ("tell", 0), ("confirm", 5)),
    *(("open", trigger_id) for trigger_id in range(6)),
    *(("note", 0), ("confirm", 5), ("note", 0), ("restart", 0)),
]


@given(_OPERATIONS)
@example(_LAST_TOLD_HAS_A_LOW_NUMBER)
@example(_LAST_TOLD_IS_RECORDED)
@settings(max_examples=150)
def test_a_journal_that_is_full_loses_the_oldest_events_only(
    operations: list[tuple[str, int]],
) -> None:
    """What was not told yet always stays, and the part told last; losses are said unless seen."""
    _Trial(entries=8).run(operations)


class _Trial:
    """The journal beside a model of it in plain lists."""

    def __init__(self, entries: int) -> None:
        self.entries = entries
        self.journal = MemfdJournal.create(ORIGIN, entries)
        self.held: dict[int, tuple[Standing, Ticket]] = {}
        self.told: list[Ticket] = []
        """Not confirmed, in order."""
        self.taken: list[Ticket] = []
        self.done = 0
        self.settled: Ticket | None = None
        """The part told last."""
        self.clock = 0

    def run(self, operations: list[tuple[str, int]]) -> None:
        for name, trigger_id in operations:
            self.clock += 1
            getattr(self, name)(trigger_id)
            self.compare()
        self.journal.close()

    def open(self, trigger_id: int) -> None:
        if trigger_id not in self.held:
            self._keep(Standing.OPEN, _part(trigger_id, self.clock))

    def settle(self, trigger_id: int) -> None:
        if trigger_id in self.held:
            self._keep(Standing.SETTLED, _judged(self.held[trigger_id][1], self.clock))

    def leave(self, trigger_id: int) -> None:
        if trigger_id in self.held:
            self._keep(Standing.LEAVING, self.held[trigger_id][1])

    def tell(self, trigger_id: int) -> None:
        ticket = self.held.pop(trigger_id, (None, _part(trigger_id, self.clock)))[1]
        ticket = ticket.stamped(Stamp.SENT, self.clock)
        self._said(self.journal.keep(Standing.TOLD, ticket))
        self.told.append(ticket)
        self.done, self.settled = self.done + 1, ticket

    def note(self, trigger_id: int) -> None:
        ticket = _judged(_part(trigger_id, self.clock))
        self._said(self.journal.note(ticket))
        self.told.append(ticket)

    def confirm(self, many: int) -> None:
        self._numbers(many, self.journal.confirm)
        del self.told[:many]

    def take(self, many: int) -> None:
        self._numbers(many, self.journal.take)
        self.taken.extend(self.told[:many])

    def restart(self, _trigger_id: int) -> None:
        again = MemfdJournal.attach(os.dup(self.journal.fd))
        self.journal.close()
        self.journal = again
        again.past()

    def compare(self) -> None:
        past = self.journal.past()
        assert {e.ticket.trigger_id: (e.standing, e.ticket) for e in past.held} == self.held
        assert [e.ticket.trigger_id for e in past.held] == list(self.held)
        assert [entry.ticket for entry in self.journal.unrecorded()] == self.told
        assert [entry.ticket for entry in past.unseen] == [
            ticket for ticket in self.told if ticket not in self.taken
        ]
        assert past.damaged == 0
        assert past.done == self.done
        assert (None if past.settled is None else past.settled.ticket) == self.settled

    def _keep(self, standing: Standing, ticket: Ticket) -> None:
        if ticket.trigger_id in self.held:
            self.journal.keep(standing, ticket)
        else:
            self._said(self.journal.keep(standing, ticket))
        self.held[ticket.trigger_id] = (standing, ticket)

    def _said(self, was_seen: bool) -> None:
        """Forget what had to give way, and hold the journal to what it says of it."""
        stays = self.settled is not None and self.settled not in self.told
        if len(self.held) + len(self.told) + stays < self.entries:
            assert was_seen
            return
        kept = {entry.ticket for entry in self.journal.unrecorded()}
        gone = [ticket for ticket in self.told if ticket not in kept]
        assert len(gone) <= 1
        for ticket in gone:
            assert ticket == next(one for one in self.told if one != self.settled)
            assert was_seen == (ticket in self.taken)
            self.told.remove(ticket)

    def _numbers(self, many: int, call: Callable[[list[int]], None]) -> None:
        numbers = [self.journal.find(ticket) for ticket in self.told[:many]]
        call([number for number in numbers if number is not None])


def test_a_journal_full_of_open_parts_refuses_another() -> None:
    """Nothing that was not told gives way; a ledger holds far fewer."""
    journal = MemfdJournal.create(ORIGIN, _ENTRIES)
    for trigger_id in range(_ENTRIES):
        journal.keep(Standing.OPEN, _part(trigger_id))
    with pytest.raises(ArenaFault, match="full"):
        journal.keep(Standing.OPEN, _part(99))
    journal.close()


def test_memory_that_is_no_journal_is_refused() -> None:
    """Before anything is read from it."""
    fd = os.memfd_create("other")
    os.ftruncate(fd, 1 << 20)
    with pytest.raises(ArenaFault, match="another version"):
        MemfdJournal.attach(fd)
    os.close(fd)
