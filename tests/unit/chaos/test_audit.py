"""The audit finds each kind of breach in books that contain it, and nothing in good ones."""

import pytest

from inspectd.chaos.audit import RULES, Span
from inspectd.chaos.kinds import Allows
from inspectd.plc.book import What
from tests.unit.chaos.conftest import LIMITS, MS, Trial

AWAY = Allows.UNTOLD | Allows.TWICE | Allows.HELD


def _during(trigger_id: int, allows: Allows) -> list[Span]:
    """A fault that struck while this part was under way."""
    at_ns = trigger_id * 100 * MS
    return [Span(7, at_ns + 10 * MS, at_ns + 60 * MS, allows)]


def test_good_books_have_no_breach(trial: Trial) -> None:
    """Five parts, each told once, in order, in time, recorded, and passed because it was OK."""
    found = trial.audited()
    assert found.breaches == ()
    assert (found.parts, found.told, found.exceptions) == (5, 5, {})


def test_a_trigger_without_a_verdict_is_a_breach(trial: Trial) -> None:
    """Also when the part was rejected by the window: nobody told the PLC."""
    trial.fired(6)
    trial.gate(6, What.REJECTED)
    assert trial.rules_broken() == ["unanswered"]


def test_a_part_of_a_time_when_nobody_could_tell_is_an_exception(trial: Trial) -> None:
    """It is counted, and a fault of another time is no excuse."""
    trial.fired(60)
    trial.gate(60, What.REJECTED)
    found = trial.audited(_during(60, Allows.UNTOLD))
    assert (found.breaches, found.exceptions) == ((), {"untold": 1})
    assert trial.rules_broken(_during(30, Allows.UNTOLD)) == ["unanswered"]
    assert trial.rules_broken(_during(60, Allows.TWICE)) == ["unanswered"]


def test_a_part_under_way_is_not_looked_at_yet(trial: Trial) -> None:
    """Its time is not over; the next audit sees it."""
    trial.fired(6)
    now_ns = 600 * MS + LIMITS.settled_ns
    assert trial.audited(until_ns=now_ns - 1).breaches == ()
    assert [b.rule for b in trial.audited(until_ns=now_ns).breaches] == ["unanswered"]


def test_two_verdicts_for_one_trigger_are_a_breach(trial: Trial) -> None:
    """Except where a write that was given up may have been carried out after all."""
    trial.taken(5, "LATE", after_ms=90)
    assert trial.rules_broken() == ["answered_twice"]
    assert trial.audited(_during(5, AWAY)).exceptions == {"told twice": 1}


def test_a_second_ok_cannot_hide_behind_the_first_verdict(trial: Trial) -> None:
    """A part that is NG and was told OK at any time is an escape."""
    trial.fired(6)
    trial.taken(6, "NG")
    trial.taken(6, "OK", after_ms=80)
    trial.gate(6, What.REJECTED)
    trial.recorded(6, "NG", expected="NG")
    assert trial.rules_broken(_during(6, AWAY)) == ["escape"]


def test_verdicts_in_another_order_are_a_breach(trial: Trial) -> None:
    """The order of the triggers, whatever the ids are: they wrap."""
    trial.fired(6)
    trial.fired(7)
    trial.taken(7, after_ms=20)
    trial.taken(6, after_ms=150)
    for trigger_id in (6, 7):
        trial.gate(trigger_id)
        trial.recorded(trigger_id)
    assert trial.rules_broken() == ["out_of_order"]


def test_ids_that_wrap_are_in_order() -> None:
    """What counts is when they were fired."""
    trial = Trial()
    for place, trigger_id in enumerate(((1 << 32) - 1, 0, 1)):
        trial.happened(place * 100, What.FIRED, trigger_id)
        trial.happened(place * 100 + 50, What.TAKEN, trigger_id, "NG")
        trial.recorded(trigger_id, "NG", sent_after_ms=0)
    assert trial.rules_broken() == []


def test_a_verdict_for_a_trigger_that_never_was_is_a_breach(trial: Trial) -> None:
    """Nobody may be told anything of it."""
    trial.taken(99)
    assert trial.rules_broken() == ["unknown_trigger"]


def test_an_ok_that_should_not_be_is_a_breach(trial: Trial) -> None:
    """By the labels of the picture."""
    trial.fired(6)
    trial.taken(6)
    trial.gate(6)
    trial.recorded(6, expected="UNFIT")
    assert trial.rules_broken() == ["escape"]


@pytest.mark.parametrize("after_ms", [None, 750.0])
def test_a_part_that_passes_without_an_ok_taken_before_is_a_breach(
    trial: Trial, after_ms: float | None
) -> None:
    """No verdict at all, or one that came when the part had gone by."""
    trial.fired(6)
    if after_ms is not None:
        trial.taken(6, after_ms=after_ms)
        trial.recorded(6)
    trial.gate(6)
    assert "passed_without_ok" in trial.rules_broken()


def test_a_verdict_after_its_deadline_that_does_not_say_so_is_a_breach(trial: Trial) -> None:
    """By the line's own clock; a confirmation that a fault held up is counted apart."""
    trial.fired(6)
    trial.taken(6, "NG", after_ms=310)
    trial.gate(6, What.REJECTED)
    trial.recorded(6, "NG", sent_after_ms=310)
    assert trial.rules_broken() == ["late_unmarked"]
    assert trial.audited(_during(6, Allows.HELD)).exceptions == {"confirmed late": 1}


def test_a_late_verdict_that_says_late_is_none(trial: Trial) -> None:
    """That is what LATE is for."""
    trial.fired(6)
    trial.taken(6, "LATE", after_ms=310)
    trial.gate(6, What.REJECTED)
    trial.recorded(6, "LATE", sent_after_ms=310)
    assert trial.rules_broken() == []


def test_a_verdict_that_is_not_recorded_is_a_breach(trial: Trial) -> None:
    """No fault excuses it."""
    trial.fired(6)
    trial.taken(6)
    trial.gate(6)
    assert trial.rules_broken(_during(6, AWAY)) == ["unrecorded"]


def test_a_part_that_is_recorded_twice_is_a_breach(trial: Trial) -> None:
    """Told again after a restart, it is still one row."""
    trial.recorded(5)
    assert trial.rules_broken() == ["recorded_twice"]


def test_a_record_that_says_something_else_is_a_breach(trial: Trial) -> None:
    """What the PLC took is the truth; a write that was carried out late is counted apart."""
    trial.fired(6)
    trial.taken(6, "NG")
    trial.gate(6, What.REJECTED)
    trial.recorded(6, "LATE", sent_after_ms=0)
    assert trial.rules_broken() == ["differing"]
    assert trial.audited(_during(6, AWAY)).exceptions == {"carried out late": 1}


def test_a_breach_names_the_fault_in_whose_reach_it_lies(trial: Trial) -> None:
    """The latest that had begun; 0: there was none near."""
    trial.fired(60)
    spans = [*_during(59, Allows.NOTHING), *_during(5, Allows.NOTHING)]
    assert [breach.fault for breach in trial.audited(spans).breaches] == [7]
    assert [breach.fault for breach in trial.audited().breaches] == [0]


def test_every_breach_is_explained(trial: Trial) -> None:
    """What is printed is a sentence of the table."""
    trial.fired(6)
    trial.taken(99)
    assert {breach.rule for breach in trial.audited().breaches} <= set(RULES)
