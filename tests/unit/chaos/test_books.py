"""What the PLC's book says of readiness and of the next good part."""

from inspectd.plc.book import What
from tests.unit.chaos.conftest import MS, Trial


def test_the_next_ok_is_of_a_part_fired_after_the_fault(trial: Trial) -> None:
    """An OK that was on its way when the fault struck shows nothing."""
    book = trial.book()
    assert book.first_ok_after(299 * MS) == 350 * MS
    assert book.first_ok_after(300 * MS) == 450 * MS
    assert book.first_ok_after(500 * MS) is None


def test_other_verdicts_are_no_recovery(trial: Trial) -> None:
    """Only an OK shows that every process works again."""
    trial.fired(6)
    trial.taken(6, "FAULT")
    assert trial.book().first_ok_after(501 * MS) is None


def test_ready_that_fell_for_a_moment_is_seen() -> None:
    """Between the two times, or before them and not risen again."""
    trial = Trial()
    trial.happened(10, What.READY)
    trial.happened(500, What.UNREADY)
    trial.happened(600, What.READY)
    book = trial.book()
    assert not book.fell_between(20 * MS, 400 * MS)
    assert book.fell_between(400 * MS, 550 * MS)
    assert book.fell_between(520 * MS, 550 * MS)
    assert not book.fell_between(610 * MS, 900 * MS)
    assert book.fell_between(0, 5 * MS)


def test_parts_that_nobody_was_asked_about_are_counted() -> None:
    """The PLC rejects them by itself."""
    trial = Trial()
    trial.happened(10, What.UNASKED)
    assert trial.book().unasked_ns == [10 * MS]
