"""Rising or flat? The slope of a soak's samples."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.chaos.leaks import Holding
from inspectd.chaos.soak import flatness
from inspectd.chaos.trend import trend_of

TIMES = [float(second * 4) for second in range(200)]


def test_a_leak_is_certain_and_its_growth_is_told() -> None:
    """One unit a sample, with noise on top."""
    dice = random.Random(1)  # noqa: S311 - noise, no secret
    values = [100 + at + dice.gauss(0, 3) for at in range(200)]
    trend = trend_of(TIMES, values)
    assert trend.is_certain
    assert trend.growth == pytest.approx(199, rel=0.05)
    assert trend.slope_per_hour == pytest.approx(900, rel=0.05)


def test_wild_samples_do_not_bend_the_slope() -> None:
    """A tenth of the samples is nonsense."""
    values = [50.0] * 200
    values[::10] = [500.0] * 20
    trend = trend_of(TIMES, values)
    assert trend.growth == 0
    assert not trend.is_certain


@given(st.integers(0, 1 << 32))
def test_noise_has_no_great_trend(seed: int) -> None:
    """Whatever the dice say, the slope of pure noise stays far below the noise."""
    dice = random.Random(seed)  # noqa: S311 - noise, no secret
    trend = trend_of(TIMES, [dice.gauss(100, 1) for _ in TIMES])
    assert abs(trend.growth) < 1


def test_few_samples_say_nothing() -> None:
    """Neither do samples of one moment."""
    assert not trend_of([], []).is_certain
    assert not trend_of([0, 1, 2], [1, 2, 3]).is_certain
    assert trend_of([1, 1, 1, 1], [1, 2, 3, 4]).growth == 0


def test_flatness_looks_at_every_number_of_every_process() -> None:
    """Descriptors that rise are found; the warm-up is left out; a restarted process is not flat."""
    leaking = [Holding(10 + at // 10, 5, 60.0) for at in range(200)]
    warming = [Holding(10, 5, min(100.0, 60.0 + at)) for at in range(200)]
    rows = flatness(TIMES, {"sink": leaking, "gate": warming, "judge": warming[:150]})
    grown = {(row.process, row.what) for row in rows if not row.is_flat}
    assert ("sink", "fds") in grown
    assert not any(process == "gate" for process, _ in grown)
    assert ("judge", "fds") in grown
