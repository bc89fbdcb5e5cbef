"""One limit from many numbers: how far have good pictures strayed, and how much further may one go?

On a scale on which spreads are comparable:

    seen  = the k-th worst of n pictures
    limit = seen, moved away from the median by max(margin * weight * |median - seen|, slack)

The scales: log(1 + x) for sharpness, mean and blob (light and focus act by factors), logit for
shares, Fisher's atanh for likeness (it makes the spread of a correlation even).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from statistics import median
from typing import TypeAlias

__all__ = ["Bound", "Numbers", "bounds_of", "count_unfit"]

_SHARE_STEP = 1e-6
_Z_END = 0.999999


@dataclass(frozen=True, slots=True)
class Numbers:
    """What was measured of one picture."""

    sharpness: float
    mean: float
    share: float
    blob_px: float
    likeness: float | None = None
    """None without a reference."""
    fingerprint: int = 0


@dataclass(frozen=True, slots=True)
class Bound:
    """One learnt limit."""

    key: str
    """Within `gate`, e.g. `exposure.min_mean`."""
    is_lower: bool
    limit: float
    seen: float
    """The k-th worst of the pictures."""
    median: float
    beyond: int = 0
    """Of the pictures, those that break the limit."""
    left_out: str = ""
    """Empty, or why this check would find nothing here."""

    def is_kept_by(self, value: float) -> bool:
        """Whether a picture with this number is fit."""
        return value >= self.limit if self.is_lower else value <= self.limit


def _logit(share: float) -> float:
    inside = min(max(share, _SHARE_STEP), 1 - _SHARE_STEP)
    return math.log(inside / (1 - inside))


def _expit(score: float) -> float:
    return 1 / (1 + math.exp(-score))


def _z(alike: float) -> float:
    return math.atanh(min(max(alike, -_Z_END), _Z_END))


_Number: TypeAlias = Callable[[Numbers], float]


@dataclass(frozen=True, slots=True)
class _Rule:
    """How one limit is learnt."""

    key: str
    number: _Number
    to: Callable[[float], float]
    back: Callable[[float], float]
    is_lower: bool
    weight: float
    """Part of the margin that this limit gets."""
    slack: float
    """Room that it gets at least, on the scale."""


_RULES = (
    # Blur takes structure away by factors of hundreds: there is room.
    _Rule(
        "sharpness.min", attrgetter("sharpness"), math.log1p, math.expm1,
        is_lower=True, weight=1.0, slack=math.log(1.5),
    ),
    _Rule(
        "exposure.min_mean", attrgetter("mean"), math.log1p, math.expm1,
        is_lower=True, weight=0.5, slack=math.log(1.15),
    ),
    _Rule(
        "exposure.max_mean", attrgetter("mean"), math.log1p, math.expm1,
        is_lower=False, weight=0.5, slack=math.log(1.15),
    ),
    _Rule(
        "saturation.max_share", attrgetter("share"), _logit, _expit,
        is_lower=False, weight=0.5, slack=math.log(2),
    ),
    _Rule(
        "glare.max_blob_px", attrgetter("blob_px"), math.log1p, math.expm1,
        is_lower=False, weight=0.5, slack=math.log(2),
    ),
    # On a conveyor likeness swings between part and gap: its spread is wide and bounded, and a
    # hidden part is not far below.
    _Rule(
        "presence.min_likeness", attrgetter("likeness"), _z, math.tanh,
        is_lower=True, weight=0.1, slack=0.05,
    ),
)  # fmt: skip

_SHARE_LEAST = 0.002
"""Smallest limit of saturation: some hot pixels are no fault."""
_BLOB_LEAST = 0.0002
"""Smallest limit of glare, as a share of the region: nothing hides behind less."""
_MEAN_MOST = 255.0
_LIKENESS_MOST = 0.9
"""Highest limit of likeness: the part may lie a little elsewhere than in any of the pictures."""
_LIKENESS_USEFUL = 0.3
"""Below, other scenes are as alike."""
_SHARE_USEFUL = 0.9
_BLOB_USEFUL = 0.5
"""Of the region."""


def bounds_of(
    taken: Sequence[Numbers], order: int, region_px: int, margin: float
) -> tuple[Bound, ...]:
    """Learn every limit, in the order of the station file.

    Args:
        taken: Good pictures.
        order: The k of `seen`, from 1.
        region_px: Pixels of the region they were measured in.
        margin: 0: as far as seen (and the slack). 1: the usual room.
    """
    has_likeness = all(one.likeness is not None for one in taken)
    rules = [rule for rule in _RULES if has_likeness or not rule.key.startswith("presence")]
    return tuple(
        _bound(rule, [rule.number(one) for one in taken], order, margin, region_px)
        for rule in rules
    )


def count_unfit(taken: Sequence[Numbers], bounds: Sequence[Bound]) -> int:
    """Count the pictures that break any limit in use."""
    numbers = {rule.key: rule.number for rule in _RULES}
    used = [bound for bound in bounds if not bound.left_out]
    return sum(
        any(not bound.is_kept_by(numbers[bound.key](one)) for bound in used) for one in taken
    )


def _bound(
    rule: _Rule, values: Sequence[float], order: int, margin: float, region_px: int
) -> Bound:
    seen = sorted(values, reverse=not rule.is_lower)[order - 1]
    middle = median(values)
    room = max(margin * rule.weight * abs(rule.to(middle) - rule.to(seen)), rule.slack)
    limit = rule.back(rule.to(seen) + (-room if rule.is_lower else room))
    limit = _within(rule.key, limit, region_px)
    bound = Bound(rule.key, rule.is_lower, limit, seen, middle)
    beyond = sum(not bound.is_kept_by(value) for value in values)
    return replace(bound, beyond=beyond, left_out=_useless(rule.key, limit, region_px))


def _within(key: str, limit: float, region_px: int) -> float:
    """Keep a limit where it makes sense, rounded to what a person would write: outwards."""
    if key == "sharpness.min":
        return _four_digits(max(0.0, limit), math.floor)
    if key == "exposure.min_mean":
        return _four_digits(max(0.0, limit), math.floor)
    if key == "exposure.max_mean":
        return min(_MEAN_MOST, _four_digits(limit, math.ceil))
    if key == "saturation.max_share":
        return min(1.0, _four_digits(max(limit, _SHARE_LEAST), math.ceil))
    if key == "glare.max_blob_px":
        return math.ceil(min(max(limit, _BLOB_LEAST * region_px), region_px))
    return math.floor(1000 * min(limit, _LIKENESS_MOST)) / 1000


def _four_digits(value: float, towards: Callable[[float], int]) -> float:
    if value <= 0:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(value)) - 3)
    return float(f"{towards(round(value / step, 6)) * step:.6g}")


def _useless(key: str, limit: float, region_px: int) -> str:
    """Why a check with this limit would find nothing; empty when it would."""
    if key == "saturation.max_share" and limit >= _SHARE_USEFUL:
        return "good pictures are white in nearly all of the region"
    if key == "glare.max_blob_px" and limit >= _BLOB_USEFUL * region_px:
        return "white patches belong to the good part here"
    if key == "presence.min_likeness" and limit < _LIKENESS_USEFUL:
        return "good pictures are too unlike each other: the scene moves, choose a --region"
    return ""
