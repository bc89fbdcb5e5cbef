"""The ledger's rules, one by one and under random arrivals."""

from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from inspectd.frame import Reason, Stamp, Ticket, Verdict
from inspectd.stages.sink.ids import GAP_MAX, Ids
from inspectd.stages.sink.ledger import CAPACITY, Ledger, Settlement

MARGIN_NS = 10
ID_LIMIT = Ids().limit
DEADLINE_NS = 100


def _trigger(key: int, now_ns: int = 1) -> Ticket:
    return Ticket(0, key, deadline_ns=now_ns + DEADLINE_NS).stamped(Stamp.FIRED, now_ns)


def _verdict(key: int, verdict: Verdict = Verdict.OK, fired_ns: int = 0, slot: int = -1) -> Ticket:
    ticket = Ticket(0, key, slot=slot, verdict=verdict)
    return ticket.stamped(Stamp.FIRED, fired_ns)


def test_parts_leave_in_the_order_of_their_triggers() -> None:
    """A verdict waits for the parts before its own."""
    ledger = Ledger(MARGIN_NS)
    ledger.open(_trigger(1), 1)
    ledger.open(_trigger(2), 1)
    ledger.settle(_verdict(2), 5)
    assert ledger.leaving(5) is None
    ledger.settle(_verdict(1, Verdict.NG), 6)
    first = ledger.leaving(6)
    assert first is not None
    assert (first.trigger_id, first.verdict) == (1, Verdict.NG)
    ledger.left(first)
    second = ledger.leaving(6)
    assert second is not None
    assert (second.trigger_id, second.verdict) == (2, Verdict.OK)


def test_the_clock_decides_late_a_margin_before_the_deadline() -> None:
    """Not a nanosecond earlier, so that every verdict has all its time."""
    ledger = Ledger(MARGIN_NS)
    ledger.open(_trigger(1), 1)
    limit_ns = 1 + DEADLINE_NS - MARGIN_NS
    assert ledger.leaving(limit_ns - 1) is None
    assert ledger.leaves_at_ns() == limit_ns
    late = ledger.leaving(limit_ns)
    assert late is not None
    assert (late.verdict, late.reason) == (Verdict.LATE, Reason.DEADLINE_PASSED)


@pytest.mark.parametrize("verdict", [Verdict.OK, Verdict.NG, Verdict.UNFIT, Verdict.FAULT])
def test_what_has_not_left_in_time_is_late_and_keeps_what_was_judged(verdict: Verdict) -> None:
    """Nothing is answered after its deadline as if it were in time."""
    ledger = Ledger(MARGIN_NS)
    ledger.open(_trigger(1), 1)
    ledger.settle(_verdict(1, verdict), 5)
    late = ledger.leaving(1 + DEADLINE_NS)
    assert late is not None
    assert (late.verdict, late.judged) == (Verdict.LATE, verdict)


def test_a_gap_in_the_ids_is_fault_also_across_the_wrap() -> None:
    """Triggers that were not seen are answered, in their turn."""
    ledger = Ledger(MARGIN_NS)
    ledger.open(_trigger(ID_LIMIT - 2), 1)
    opening = ledger.open(_trigger(1), 1)
    assert (opening.is_new, len(opening.missed), opening.is_restart) == (True, 2, False)
    ledger.settle(_verdict(ID_LIMIT - 2), 2)
    told = []
    while (ticket := ledger.leaving(2)) is not None:
        ledger.left(ticket)
        told.append((ticket.trigger_id, ticket.verdict, ticket.reason))
    assert told[1:] == [
        (ID_LIMIT - 1, Verdict.FAULT, Reason.TRIGGER_MISSED),
        (0, Verdict.FAULT, Reason.TRIGGER_MISSED),
    ]
    assert ledger.next_id == 1


def test_a_counter_that_begins_anew_is_no_gap_of_billions() -> None:
    """A restarted PLC counts from 0: what it counted since then is missed, no more."""
    ledger = Ledger(MARGIN_NS)
    ledger.open(_trigger(5000), 1)
    opening = ledger.open(_trigger(3, 2), 2)
    assert (len(opening.missed), opening.is_restart, len(ledger)) == (2, True, 4)


def test_a_counter_at_zero_after_a_restart_is_no_trigger() -> None:
    """0 is what a PLC shows that has triggered nothing yet; after a wrap it is a trigger."""
    ledger = Ledger(MARGIN_NS)
    ledger.open(_trigger(5000), 1)
    assert not ledger.open(_trigger(0), 2).is_new
    assert ledger.open(_trigger(1, 3), 3).missed == ()


def test_the_same_trigger_twice_is_one_part() -> None:
    """A repeated message opens nothing."""
    ledger = Ledger(MARGIN_NS)
    assert ledger.open(_trigger(1), 1).is_new
    assert not ledger.open(_trigger(1), 2).is_new
    assert len(ledger) == 1


def test_a_verdict_before_its_trigger_waits_for_it() -> None:
    """Trigger and verdict travel on different roads."""
    ledger = Ledger(MARGIN_NS)
    early = Ticket(0, 1, deadline_ns=100, verdict=Verdict.OK)
    assert ledger.settle(early, 1) is Settlement.HELD
    ledger.open(_trigger(1), 2)
    leaving = ledger.leaving(3)
    assert leaving is not None
    assert leaving.verdict is Verdict.OK


def test_a_verdict_whose_trigger_never_comes_is_let_go() -> None:
    """Its slot goes back through the record once its deadline is over."""
    ledger = Ledger(MARGIN_NS)
    ledger.settle(Ticket(0, 1, slot=4, deadline_ns=100, verdict=Verdict.OK), 1)
    assert ledger.notes(99) == []
    (note,) = ledger.notes(100)
    assert (note.slot, note.verdict, note.judged) == (4, Verdict.NONE, Verdict.OK)


def test_a_verdict_of_another_trigger_with_the_same_id_is_a_stray() -> None:
    """Ids come again after a restart of the PLC; the moment of the trigger does not."""
    ledger = Ledger(MARGIN_NS)
    ledger.open(_trigger(1, now_ns=50), 50)
    assert ledger.settle(_verdict(1, fired_ns=49), 51) is Settlement.STRAY
    assert ledger.leaving(51) is None


def test_more_parts_than_fit_give_the_oldest_up() -> None:
    """Bounded, and never dropped in silence: the oldest is LATE."""
    ledger = Ledger(MARGIN_NS)
    for key in range(CAPACITY + 1):
        ledger.open(_trigger(key + 1), 1)
    oldest = ledger.overdue(2)
    assert oldest is not None
    assert (oldest.trigger_id, oldest.verdict) == (1, Verdict.LATE)
    ledger.left(oldest)
    assert ledger.overdue(2) is None


def test_a_part_cannot_leave_out_of_turn() -> None:
    """A caller that mixes parts up is stopped loudly."""
    ledger = Ledger(MARGIN_NS)
    ledger.open(_trigger(1), 1)
    with pytest.raises(ValueError, match="out of turn"):
        ledger.left(_trigger(2))


def test_a_late_trigger_is_no_second_part() -> None:
    """One that was counted as missed, or told, before its message came stays what it was."""
    ledger = Ledger(MARGIN_NS)
    for key in (1, 4):
        ledger.open(_trigger(key), 1)
    assert not ledger.open(_trigger(3), 2).is_new
    while (ticket := ledger.leaving(DEADLINE_NS)) is not None:
        ledger.left(ticket)
    for key in (2, 4):
        assert not ledger.open(_trigger(key), 2).is_new
    assert len(ledger) == 0


def test_ids_that_begin_anew_give_the_parts_of_before_up() -> None:
    """The PLC has forgotten them: they are not told under ids that mean others now."""
    ledger = Ledger(MARGIN_NS)
    ledger.open(_trigger(5000), 1)
    ledger.open(_trigger(1, 2), 2)
    assert ledger.leaving(3) is None
    old = ledger.overdue(3)
    assert old is not None
    assert (old.trigger_id, old.verdict) == (5000, Verdict.LATE)
    assert not ledger.left(old)
    ledger.settle(_verdict(1, fired_ns=2), 4)
    new = ledger.leaving(4)
    assert new is not None
    assert (new.trigger_id, new.verdict) == (1, Verdict.OK)


def test_a_picture_does_not_wait_with_its_part() -> None:
    """Past the time of the part it goes ahead, once; the part keeps what was judged."""
    ledger = Ledger(MARGIN_NS)
    ledger.open(_trigger(1), 1)
    ledger.settle(_verdict(1, Verdict.NG, slot=4), 5)
    limit_ns = 1 + DEADLINE_NS - MARGIN_NS
    assert ledger.notes_at_ns() == limit_ns
    assert ledger.notes(limit_ns - 1) == []
    (ahead,) = ledger.notes(limit_ns)
    assert (ahead.slot, ahead.verdict, ahead.judged) == (4, Verdict.NONE, Verdict.NG)
    assert ledger.notes(limit_ns + 1) == []
    late = ledger.leaving(limit_ns + 1)
    assert late is not None
    assert (late.slot, late.verdict, late.judged) == (-1, Verdict.LATE, Verdict.NG)


class LedgerMachine(RuleBasedStateMachine):
    """Random triggers, gaps, verdicts (any order, twice, late, unknown), losses, deaths and time.

    A death takes the ledger and every message on its way; the next life opens what was held again.
    """

    ids = Ids()

    def __init__(self) -> None:
        super().__init__()
        self.ledger = Ledger(MARGIN_NS, self.ids)
        self.now_ns = 1
        self.last = self.ids.limit - 20
        self.ledger.begin_after(self.last, Reason.TRIGGER_MISSED)
        self.settled = self.last
        self.born_after = 0
        """Messages of before the last death were lost with it."""
        self.opened: list[int] = []
        self.told: list[int] = []
        self.slots_given = 0
        self.slots_back = 0

    @rule(steps=st.integers(1, 5))
    def trigger(self, steps: int) -> None:
        """The next trigger arrives, or one after a gap."""
        for _ in range(steps):
            self.last = self._after(self.last)
            self.opened.append(self.last)
        opening = self.ledger.open(_trigger(self.last, self.now_ns), self.now_ns)
        assert (opening.is_new, opening.is_restart) == (True, False)

    @rule(back=st.integers(0, 30))
    def repeat(self, back: int) -> None:
        """A trigger of this life arrives again, or late, if any was: it changes nothing."""
        if back < len(self.opened) - self.born_after:
            key = self.opened[-1 - back]
            ticket = self.ledger.known(key) or Ticket(0, key)
            held = len(self.ledger)
            self.ledger.open(replace(ticket, verdict=Verdict.NONE), self.now_ns)
            assert len(self.ledger) == held

    @rule(back=st.integers(-GAP_MAX, 10), verdict=st.sampled_from(list(Verdict)[1:]))
    def settle(self, back: int, verdict: Verdict) -> None:
        """A verdict of any part, also of none."""
        key = (self.last + back) % self.ids.limit
        deadline_ns = self.now_ns + 50
        ticket = Ticket(0, key, slot=1, deadline_ns=deadline_ns, verdict=verdict)
        self.ledger.settle(ticket, self.now_ns)
        self.slots_given += 1

    @rule(back=st.integers(-5, 0))
    def lose(self, back: int) -> None:
        """A process dies with a part."""
        self.ledger.lose(Ticket(0, (self.last + back) % self.ids.limit), self.now_ns)

    @rule(step_ns=st.integers(1, 120))
    def wait(self, step_ns: int) -> None:
        """Time passes; whatever may leave leaves."""
        self.now_ns += step_ns
        while (ticket := self.ledger.leaving(self.now_ns)) is not None:
            self._leave(ticket)
        self._note()

    @rule(step_ns=st.integers(1, 300))
    def lose_the_plc(self, step_ns: int) -> None:
        """Without a PLC nothing leaves, but pictures go ahead."""
        self.now_ns += step_ns
        self._note()

    @rule()
    def give_up(self) -> None:
        """Only what is overdue leaves."""
        while (ticket := self.ledger.overdue(self.now_ns)) is not None:
            assert ticket.verdict is Verdict.LATE
            self._leave(ticket)

    @rule()
    def die(self) -> None:
        """The sink is killed, and goes on with the parts that were held."""
        self._note()
        held = self.ledger.held()
        self.born_after = len(self.opened)
        self.slots_given = self.slots_back + sum(ticket.slot == 1 for ticket in held)
        self.ledger = Ledger(MARGIN_NS, self.ids)
        self.ledger.begin_after(self.settled, Reason.PROCESS_LOST)
        for ticket in held:
            assert self.ledger.open(ticket, self.now_ns).missed == ()
        assert self.ledger.held() == held

    def _after(self, key: int) -> int:
        return (key + 1) % self.ids.limit or int(self.ids.skips_zero)

    def _note(self) -> None:
        self.slots_back += sum(note.slot == 1 for note in self.ledger.notes(self.now_ns))

    def _leave(self, ticket: Ticket) -> None:
        is_ok = ticket.verdict is Verdict.OK
        assert not is_ok or self.now_ns < ticket.deadline_ns - MARGIN_NS
        assert self.ledger.left(ticket)
        self.settled = ticket.trigger_id
        self.told.append(ticket.trigger_id)
        self.slots_back += ticket.slot == 1

    @invariant()
    def told_once_and_in_order(self) -> None:
        """One verdict a trigger, in trigger order, nothing invented."""
        assert self.told == self.opened[: len(self.told)]

    def teardown(self) -> None:
        """Nothing is held for ever: neither a part nor the slot of a verdict."""
        self.now_ns += 10 * DEADLINE_NS
        self.wait(1)
        assert self.told == self.opened
        assert len(self.ledger) == 0
        assert self.slots_back == self.slots_given
        assert self.ledger.leaves_at_ns() is None
        assert self.ledger.notes_at_ns() is None


class NarrowLedgerMachine(LedgerMachine):
    """The same with ids of 16 bits that skip 0."""

    ids = Ids(bits=16, skips_zero=True)


_SETTINGS = settings(max_examples=60, stateful_step_count=40, deadline=None)
LedgerMachine.TestCase.settings = NarrowLedgerMachine.TestCase.settings = _SETTINGS
TestLedgerMachine = pytest.mark.slow(LedgerMachine.TestCase)
TestNarrowLedgerMachine = pytest.mark.slow(NarrowLedgerMachine.TestCase)
