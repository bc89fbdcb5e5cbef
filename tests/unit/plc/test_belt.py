"""The belt of trials does what a belt does, and its book says so."""

import pytest

from inspectd.plc.belt import Belt, BeltPlan, Fate

MS = 1_000_000
PLAN = BeltPlan(
    speed_mm_s=1000,
    ejector_mm=500,
    zone_mm=40,
    valve_ns=10 * MS,
    counts_per_mm=10,
    bits=16,
    first_count=65_000,
    eye_mm=400,
    bin_after_ns=50 * MS,
    watchdog_ns=100 * MS,
)


def belt() -> Belt:
    """1 mm in 1 ms."""
    return Belt(PLAN, 0)


@pytest.mark.parametrize(
    ("on_ms", "off_ms", "is_passed"),
    [(470, 530, True), (489, 491, True), (491, 530, False), (470, 489, False)],
)
def test_the_output_a_valve_ago_decides(on_ms: int, off_ms: int, is_passed: bool) -> None:
    """A part is at the ejector after 500 ms; the valve needs 10 ms."""
    one = belt()
    one.place(7, 0)
    one.show_life(on_ms * MS)
    one.switch(on_ms * MS, is_on=True)
    one.switch(off_ms * MS, is_on=False)
    one.advance(1000 * MS)
    assert [fate[:2] for fate in one.fates] == [(7, is_passed)]


def test_the_edge_is_measured_against_the_zone() -> None:
    """The zone begins 20 ms before the part, the valve is 10 ms early: due at 470 ms."""
    one = belt()
    one.place(7, 0)
    one.show_life(473 * MS)
    one.switch(473 * MS, is_on=True)
    one.advance(1000 * MS)
    assert one.fates == [Fate(7, is_passed=True, edge_error_ns=3 * MS)]


def test_the_watchdog_releases_the_output() -> None:
    """100 ms after the last sign of life, whatever was written."""
    one = belt()
    one.place(7, 0)
    one.show_life(300 * MS)
    one.switch(310 * MS, is_on=True)
    one.advance(1000 * MS)
    assert not one.is_on
    assert [fate.is_passed for fate in one.fates] == [False]
    assert one.report()["watchdog_bites"] == 1


def test_an_ejected_part_is_seen_at_the_eye_and_in_the_bin() -> None:
    """For its length at the eye, and as it falls."""
    one, eye, sensor = belt(), [], []
    one.place(None, 0)
    for ms in range(700):
        one.advance(ms * MS)
        eye += [ms] * one.is_eye_covered
        sensor += [ms] * one.is_bin_covered
    assert (min(eye), max(eye)) == (400, 409)
    assert (min(sensor), max(sensor)) == (550, 609)


def test_the_counter_rolls_over_stops_and_runs_back() -> None:
    """As an encoder's does."""
    one = belt()
    one.advance(100 * MS)
    assert one.count == (65_000 + 1000) % 65_536
    one.speed_mm_s = 0
    one.advance(200 * MS)
    assert one.count == 464
    one.speed_mm_s = -1000
    one.advance(300 * MS)
    assert one.count == 65_000


def test_parts_slip_and_are_taken_off() -> None:
    """What slipped arrives earlier, what is gone does not arrive."""
    one = belt()
    for trigger_id in (1, 2):
        one.place(trigger_id, 0)
    one.slip(1, 100)
    one.take_off(2)
    one.advance(401 * MS)
    assert [fate.trigger_id for fate in one.fates] == [1]
    assert len(one) == 0


def test_the_book_names_what_should_not_have_happened() -> None:
    """Parts that passed without an OK, and OK parts that were ejected; -1 was never triggered."""
    one = belt()
    one.told(1, "OK")
    one.told(2, "NG")
    one.told(2, "OK")
    one.told(3, "OK")
    for trigger_id in (1, 2, None):
        one.place(trigger_id, 0)
    one.show_life(450 * MS)
    one.switch(450 * MS, is_on=True)
    one.switch(495 * MS, is_on=False)
    one.place(3, 496 * MS)
    one.advance(1000 * MS)
    report = one.report()
    assert report["passed_without_ok"] == [2, -1]
    assert report["ejected_with_ok"] == [3]
    assert (report["passed"], report["ejected"], report["on_the_belt"]) == (3, 1, 0)
