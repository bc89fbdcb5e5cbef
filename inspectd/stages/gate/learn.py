"""Limits of the gate from a folder of good pictures, and how often they will be wrong.

`inspectd.stages.gate.limits` has the arithmetic of one limit. If the next picture is of the same
kind as the n learnt from (exchangeable with them), it lies beyond the k-th worst of them with the
probability k / (n + 1), whatever the distribution. That is the rate told, summed over the limits;
the margin is on top of it. The kept-out rounds show what happens to pictures of other times.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from inspectd.config.schema import Region
from inspectd.ports import Pixels
from inspectd.stages.gate import measures
from inspectd.stages.gate.limits import Bound, Numbers, bounds_of, count_unfit
from inspectd.stages.gate.measures import Shape64

__all__ = ["OUTLIERS", "PICTURES_MIN", "ROUNDS", "Learnt", "learn", "numbers_of"]

PICTURES_MIN = 20
"""Fewer say too little of the worst: even of 20, the next lies beyond in one case of 21."""
ROUNDS = 5
"""Parts into which the pictures are cut, in their order, to try limits on pictures kept out."""
OUTLIERS = 0.005
"""Share of the pictures that may be worse than good: somebody will have left a bad one in."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """What the pictures have taught."""

    pictures: int
    order: int
    """`seen` is so many from the worst."""
    bounds: tuple[Bound, ...]
    """In the order of the station file; those left out as well."""
    max_repeats: int
    """Longest run of exact repetitions among the pictures."""
    unfit: int
    """Of the pictures themselves, those that any limit makes unfit."""
    unfit_kept_out: int
    """The same, each judged by limits learnt without its part of the folder."""

    @property
    def expected_unfit_share(self) -> float:
        """Expected false-unfit rate before the margin: at most this, for pictures of this kind."""
        made = sum(not bound.left_out for bound in self.bounds)
        return min(1.0, made * self.order / (self.pictures + 1))


def numbers_of(
    grey: Pixels, region: Region | None, level: int, reference: Shape64 | None
) -> Numbers:
    """Measure one picture.

    Args:
        grey: (height, width), contiguous.
        region: Where to look; None: everywhere.
        level: Grey values from here on count as burnt out.
        reference: Of the same region; None: likeness is not measured.
    """
    view = measures.view_of(grey, region)
    alike = None if reference is None else measures.likeness(measures.shape_of(view), reference)
    return Numbers(
        sharpness=measures.laplacian_variance(view),
        mean=measures.mean_grey(view),
        share=measures.burnt_share(view, level),
        blob_px=measures.blob_px(view, level),
        likeness=alike,
        fingerprint=measures.fingerprint(grey),
    )


def learn(
    taken: Sequence[Numbers], region_px: int, margin: float = 1.0, outliers: float = OUTLIERS
) -> Learnt:
    """Learn limits.

    Args:
        taken: At least `PICTURES_MIN` good pictures, in the order they were taken.
        region_px: Pixels of the region they were measured in.
        margin: 0: as far as seen (and some slack). 1: the usual room.
        outliers: Share of the pictures that may be worse than good, 0 to below 0.5.

    Raises:
        ValueError: Too few pictures.
    """
    if len(taken) < PICTURES_MIN:
        raise ValueError(f"{len(taken)} pictures, at least {PICTURES_MIN} are needed")
    order = _order(len(taken), outliers)
    bounds = bounds_of(taken, order, region_px, margin)
    return Learnt(
        pictures=len(taken),
        order=order,
        bounds=bounds,
        max_repeats=_longest_repetition(taken),
        unfit=count_unfit(taken, bounds),
        unfit_kept_out=_unfit_kept_out(taken, region_px, margin, outliers),
    )


def _order(pictures: int, outliers: float) -> int:
    return 1 + math.floor(outliers * pictures)


def _unfit_kept_out(
    taken: Sequence[Numbers], region_px: int, margin: float, outliers: float
) -> int:
    """Judge each part of the pictures by what the others teach."""
    unfit = 0
    for start, end in itertools.pairwise(len(taken) * i // ROUNDS for i in range(ROUNDS + 1)):
        others = [*taken[:start], *taken[end:]]
        bounds = bounds_of(others, _order(len(others), outliers), region_px, margin)
        unfit += count_unfit(taken[start:end], bounds)
    return unfit


def _longest_repetition(taken: Sequence[Numbers]) -> int:
    longest = current = 0
    for before, one in itertools.pairwise(taken):
        current = current + 1 if one.fingerprint == before.fingerprint else 0
        longest = max(longest, current)
    return longest
