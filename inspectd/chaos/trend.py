"""Does a series of samples rise? A slope that a few wild samples cannot bend, with its doubt.

Theil and Sen: the median of the slopes of all pairs (P. K. Sen, J. Am. Stat. Assoc. 63, 1968,
1379). The doubt is that of Mann and Kendall's test on the order of the samples: memory that goes up
and down in steps has a slope by chance, and is flat nevertheless. Pure.
"""

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Trend", "trend_of"]

_PAIRS_FROM = 4
"""Fewer samples say nothing."""
_SAMPLES_MAX = 400
"""More are thinned out: pairs grow with the square."""
_SIGNIFICANT_Z = 2.58
"""One in a hundred series without a trend looks like one (two-sided)."""


class Trend(NamedTuple):
    """How a series goes."""

    slope_per_hour: float
    """Median slope; 0 of too few samples."""
    growth: float
    """What that makes over the time that was sampled."""
    is_certain: bool
    """Whether a series without a trend would hardly look like this one."""


def trend_of(times_s: Sequence[float], values: Sequence[float]) -> Trend:
    """The trend of samples.

    Args:
        times_s: When they were taken, rising.
        values: As many, any unit.

    >>> trend_of([0, 1800, 3600, 5400], [10, 11, 12, 13]).slope_per_hour
    2.0
    """
    step = max(1, -(-len(values) // _SAMPLES_MAX))
    points = list(zip(times_s[::step], values[::step], strict=True))
    if len(points) < _PAIRS_FROM or points[0][0] == points[-1][0]:
        return Trend(0.0, 0.0, is_certain=False)
    pairs = [(a, b) for i, a in enumerate(points) for b in points[i + 1 :]]
    slope = statistics.median((b[1] - a[1]) / (b[0] - a[0]) for a, b in pairs)
    score = sum((b[1] > a[1]) - (b[1] < a[1]) for a, b in pairs)
    growth = slope * (points[-1][0] - points[0][0])
    return Trend(slope * 3600, growth, is_certain=_z(score, points) > _SIGNIFICANT_Z)


def _z(score: int, points: Sequence[tuple[float, float]]) -> float:
    """Mann-Kendall's score in standard deviations; equal values make it narrower."""
    count = len(points)
    values = [value for _, value in points]
    ties = [values.count(value) for value in set(values)]
    variance = _pairs(count) - sum(_pairs(tie) for tie in ties)
    if variance <= 0:
        return 0.0
    return (abs(score) - 1) / math.sqrt(variance / 18)


def _pairs(count: int) -> int:
    return count * (count - 1) * (2 * count + 5)
