"""Where the belt is: counters that roll over, belts that stop, readings that come too late."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspectd.stages.reject.motion import ClockMotion, CounterMotion, Reading

MS = 1_000_000


def counter(bits: int = 16, counts_per_mm: float = 10.0) -> CounterMotion:
    """A belt of at most 500 mm/s, read every few milliseconds."""
    return CounterMotion(
        bits=bits,
        counts_per_mm=counts_per_mm,
        speed_max_mm_s=500.0,
        slack_ns=2 * MS,
        horizon_ns=50 * MS,
        kept_ns=10_000 * MS,
    )


@settings(deadline=None)
@given(
    bits=st.sampled_from([16, 32]),
    counts_per_mm=st.sampled_from([0.5, 10.0, -10.0]),
    first=st.integers(0, (1 << 32) - 1),
    moves_mm=st.lists(st.integers(-2, 2), min_size=1, max_size=100),
)
def test_a_roll_over_is_no_jump(
    bits: int, counts_per_mm: float, first: int, moves_mm: list[int]
) -> None:
    """Positions go on through any number of roll-overs, forwards and backwards."""
    motion = counter(bits, counts_per_mm)
    raw, mm = first % (1 << bits), 0
    motion.take(raw, 0)
    for index, move in enumerate(moves_mm, 1):
        mm += 2 * move
        raw = (raw + round(2 * move * counts_per_mm)) % (1 << bits)
        assert motion.take(raw, index * 10 * MS) is Reading.MOVED
    assert motion.position_at(len(moves_mm) * 10 * MS) == pytest.approx(mm)


@given(st.floats(0, 1))
def test_between_two_readings_the_belt_is_interpolated(share: float) -> None:
    """The position at a trigger is latched afterwards, from the readings around it."""
    motion = counter()
    for index in range(3):
        motion.take(index * 20, index * 10 * MS)
    at_ns = 10 * MS + int(share * 10 * MS)
    assert motion.position_at(at_ns) == pytest.approx(at_ns * 200e-9, abs=1e-6)


def test_after_the_last_reading_it_goes_on_for_a_while() -> None:
    """At its last speed up to the horizon; then nothing is known, nor before the first reading."""
    motion = counter()
    for index in range(10):
        motion.take(index * 20, 100 * MS + index * 10 * MS)
    assert motion.speed_mm_s == pytest.approx(200)
    assert motion.position_at(240 * MS) == pytest.approx(28.0)
    assert motion.position_at(241 * MS) is None
    assert motion.position_at(99 * MS) is None


def test_a_belt_that_stands_still_stays_where_it_is() -> None:
    """Its speed is zero, and the place does not run away."""
    motion = counter()
    for index in range(20):
        motion.take(100, index * 10 * MS)
    assert motion.speed_mm_s == 0
    assert motion.position_at(200 * MS) == 0


@pytest.mark.parametrize(("raw", "at_ms"), [(60_000, 10), (0, 100_000), (200, 10)])
def test_what_no_belt_does_voids_all_positions(raw: int, at_ms: int) -> None:
    """A counter that began anew, a pause in which it may have gone round, or a leap forward."""
    motion = counter()
    motion.take(0, 0)
    assert motion.take(raw, at_ms * MS) is Reading.JUMPED
    assert motion.position_at(0) is None
    assert motion.position_at(at_ms * MS) == 0


def test_old_positions_are_forgotten() -> None:
    """The memory is bounded."""
    motion = CounterMotion(
        bits=16,
        counts_per_mm=1,
        speed_max_mm_s=100,
        slack_ns=MS,
        horizon_ns=MS,
        kept_ns=50 * MS,
    )
    for index in range(100):
        motion.take(index, index * 10 * MS)
    assert motion.position_at(900 * MS) is None
    assert motion.position_at(950 * MS) is not None


def test_the_clock_takes_the_belt_on_trust() -> None:
    """Always the same speed, known for every moment."""
    motion = ClockMotion(250.0)
    assert motion.position_at(2_000 * MS) == pytest.approx(500.0)
