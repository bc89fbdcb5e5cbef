"""What every journal promises: over the memfd journal, in one mapping and in two, and on paper."""

import os
from collections.abc import Iterator

import pytest

from inspectd.bus.journal import MemfdJournal
from inspectd.frame import Reason, Stamp, Ticket, Verdict
from inspectd.ports import Journal, Origin, Standing
from inspectd.stages.sink.paper import PaperJournal

ORIGIN = Origin("run-1", "line-1", "cam-1", "bottles", "0123")


@pytest.fixture(params=["one mapping", "two mappings", "paper"])
def pair(request: pytest.FixtureRequest) -> Iterator[tuple[Journal, Journal]]:
    """The sink's journal and the record's."""
    if request.param == "paper":
        paper = PaperJournal(entries=4)
        yield paper, paper
        return
    ours = MemfdJournal.create(ORIGIN, entries=4)
    if request.param == "one mapping":
        yield ours, ours
    else:
        theirs = MemfdJournal.attach(os.dup(ours.fd))
        yield ours, theirs
        theirs.close()
    ours.close()


def part(trigger_id: int) -> Ticket:
    """A part whose trigger was seen."""
    return Ticket(0, trigger_id, deadline_ns=900).stamped(Stamp.FIRED, 100 + trigger_id)


def good(trigger_id: int) -> Ticket:
    """The same part, judged."""
    return part(trigger_id).decided(Verdict.OK, Reason.NONE, 500 + trigger_id)


class TestJournal:
    """Of one station."""

    def test_an_empty_one_knows_of_no_life(self, pair: tuple[Journal, Journal]) -> None:
        """A sink that finds it so begins, whatever stands in the PLC."""
        past = pair[0].past()
        assert (past.start_id, past.done, past.settled, past.held) == (None, 0, None, ())

    def test_the_begin_is_kept(self, pair: tuple[Journal, Journal]) -> None:
        """Trigger id 0 is a begin as well."""
        pair[0].begin(0)
        assert pair[0].past().start_id == 0
        pair[0].begin(2**32 - 1)
        assert pair[0].past().start_id == 2**32 - 1

    def test_a_part_stands_where_it_was_kept_last(self, pair: tuple[Journal, Journal]) -> None:
        """Open, settled, leaving: one entry."""
        sink, _ = pair
        sink.keep(Standing.OPEN, part(7))
        sink.keep(Standing.SETTLED, good(7))
        sink.keep(Standing.LEAVING, good(7), 12)
        (entry,) = sink.past().held
        assert (entry.standing, entry.ticket, entry.sequence) == (Standing.LEAVING, good(7), 12)

    def test_held_parts_come_back_in_the_order_of_opening(
        self, pair: tuple[Journal, Journal]
    ) -> None:
        """Whichever was settled first; ids may wrap."""
        sink, _ = pair
        for trigger_id in (2**32 - 1, 0, 1):
            sink.keep(Standing.OPEN, part(trigger_id))
        sink.keep(Standing.SETTLED, good(1))
        assert [e.ticket.trigger_id for e in sink.past().held] == [2**32 - 1, 0, 1]

    def test_an_id_that_comes_again_is_another_part(self, pair: tuple[Journal, Journal]) -> None:
        """A PLC that restarted counts from the beginning while older parts are still held."""
        sink, record = pair
        older, newer = part(1), part(1).stamped(Stamp.FIRED, 999)
        sink.keep(Standing.OPEN, older)
        sink.keep(Standing.OPEN, newer)
        assert [entry.ticket for entry in sink.past().held] == [older, newer]
        sink.keep(Standing.TOLD, older)
        assert [entry.ticket for entry in sink.past().held] == [newer]
        assert [entry.ticket for entry in record.unrecorded()] == [older]

    def test_what_was_told_waits_for_the_record(self, pair: tuple[Journal, Journal]) -> None:
        """In the order of telling, notes as well, until the record has committed it."""
        sink, record = pair
        sink.keep(Standing.OPEN, part(2))
        sink.keep(Standing.TOLD, good(1))
        sink.note(good(9))
        sink.keep(Standing.TOLD, good(2))
        first, note, second = record.unrecorded()
        assert [e.ticket.trigger_id for e in (first, note, second)] == [1, 9, 2]
        record.take([first.number, note.number])
        assert len(record.unrecorded()) == 3
        assert [entry.number for entry in sink.past().unseen] == [second.number]
        record.confirm([first.number, note.number])
        assert [entry.number for entry in record.unrecorded()] == [second.number]

    def test_the_part_told_last_is_known_although_recorded(
        self, pair: tuple[Journal, Journal]
    ) -> None:
        """With the count of all told parts; notes are none."""
        sink, record = pair
        for trigger_id in range(10):
            sink.keep(Standing.OPEN, part(trigger_id))
            sink.keep(Standing.TOLD, good(trigger_id), trigger_id)
            sink.note(good(77))
            record.confirm([entry.number for entry in record.unrecorded()])
        past = sink.past()
        assert past.done == 10
        assert past.settled is not None
        assert (past.settled.ticket.trigger_id, past.settled.sequence) == (9, 9)

    def test_an_event_is_found_by_its_message(self, pair: tuple[Journal, Journal]) -> None:
        """With or without its picture; another event of the same part is another."""
        sink, record = pair
        sink.keep(Standing.TOLD, good(3))
        (entry,) = record.unrecorded()
        assert record.find(good(3)) == entry.number
        assert record.find(good(3).stamped(Stamp.SENT, 5)) is None
        assert record.find(part(3)) is None

    def test_the_oldest_event_gives_way_when_it_is_full(
        self, pair: tuple[Journal, Journal]
    ) -> None:
        """And it is said, unless the record had it; parts not told yet stay."""
        sink, record = pair
        sink.keep(Standing.OPEN, part(1))
        for trigger_id in (2, 3, 4):
            assert sink.keep(Standing.TOLD, good(trigger_id))
        assert not sink.keep(Standing.TOLD, good(5))
        assert [e.ticket.trigger_id for e in record.unrecorded()] == [3, 4, 5]
        record.take([record.unrecorded()[0].number])
        assert sink.keep(Standing.TOLD, good(6))
        assert [e.ticket.trigger_id for e in record.unrecorded()] == [4, 5, 6]
        assert [e.ticket.trigger_id for e in sink.past().held] == [1]

    def test_a_confirmation_means_nothing_for_a_later_entry(
        self, pair: tuple[Journal, Journal]
    ) -> None:
        """A record that committed an event which gave way meanwhile confirms nobody else's."""
        sink, record = pair
        sink.keep(Standing.TOLD, good(0))
        (old,) = record.unrecorded()
        for trigger_id in range(1, 5):
            sink.keep(Standing.TOLD, good(trigger_id))
        record.confirm([old.number])
        assert [e.ticket.trigger_id for e in record.unrecorded()] == [1, 2, 3, 4]
