"""What is counted, and what asks the PLC to stop."""

import pytest

from inspectd.frame import Ticket, Verdict
from inspectd.plc.codes import StopCause
from inspectd.plc.registers import Head
from inspectd.stages.sink.tally import Limits, Tally


def _left(tally: Tally, *verdicts: Verdict) -> None:
    for verdict in verdicts:
        tally.left(Ticket(0, 1, verdict=verdict), is_told=True)


def test_late_parts_in_a_row_ask_for_a_stop_until_one_is_in_time() -> None:
    """An NG in time ends the row as well: the machine keeps up."""
    tally = Tally(Limits(late=2))
    _left(tally, Verdict.LATE, Verdict.LATE)
    assert tally.stop_cause is StopCause.LATE_LIMIT
    _left(tally, Verdict.NG)
    assert tally.stop_cause == StopCause(0)


def test_rejects_in_a_row_ask_for_a_stop_until_an_ok() -> None:
    """Late parts and faults are rejects too; each cause has its bit."""
    tally = Tally(Limits(late=1, reject=3))
    _left(tally, Verdict.NG, Verdict.FAULT)
    assert tally.stop_cause == StopCause(0)
    _left(tally, Verdict.LATE)
    assert tally.stop_cause == StopCause.LATE_LIMIT | StopCause.REJECT_LIMIT
    _left(tally, Verdict.OK)
    assert tally.stop_cause == StopCause(0)


@pytest.mark.parametrize("verdict", [Verdict.LATE, Verdict.NG])
def test_a_limit_of_0_asks_for_nothing(verdict: Verdict) -> None:
    """It is turned off."""
    tally = Tally(Limits(late=0, reject=0))
    _left(tally, *[verdict] * 100)
    assert tally.stop_cause == StopCause(0)


def test_a_reset_begins_anew() -> None:
    """Rows and counters, nothing else."""
    tally = Tally(Limits(late=1))
    tally.missed = 3
    tally.left(Ticket(0, 1, verdict=Verdict.LATE), is_told=False)
    assert (tally.late, tally.untold, tally.late_in_a_row, tally.not_ok_in_a_row) == (1, 1, 1, 1)
    tally.reset()
    assert vars(tally) == vars(Tally(Limits(late=1)))


def test_a_later_life_counts_on() -> None:
    """From what the head says."""
    tally = Tally()
    tally.resume(Head(missed=1, late=2, untold=3, late_in_a_row=4, not_ok_in_a_row=5))
    assert (tally.missed, tally.late, tally.untold) == (1, 2, 3)
    assert (tally.late_in_a_row, tally.not_ok_in_a_row) == (4, 5)
