"""How an engine differs from the plain FP32 one, picture by picture and place by place in a batch.

Half precision has been seen wrong on the last frame of a batch only (PaddleDetection#8892), or to
find nothing at all; so every picture is looked at alone and at every place of the largest batch.
Pure but for the engines that are handed in.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from inspectd.frame import Detection
from inspectd.model.geometry import Geometry
from inspectd.model.layout import split
from inspectd.model.spec import ModelSpec
from inspectd.stages.infer.engine import Array, Engine
from inspectd.stages.infer.look import Look
from inspectd.stages.infer.selftest import Tolerance

__all__ = ["Comparison", "Place", "compared", "places_of"]

_PARTNER_IOU = 0.5
"""Boxes of one class that overlap less are not the same object."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What an engine found in a picture, against what it should have."""

    missing: int = 0
    too_many: int = 0
    score: float = 0.0
    """Largest difference of two partners."""
    box_px: float = 0.0
    """Largest difference of a side of two partners, frame pixels."""
    iou: float = 1.0
    """Smallest overlap of two partners."""
    is_finite: bool = True
    is_blind: bool = False
    """Nothing was found where there is something."""

    def is_within(self, tolerance: Tolerance) -> bool:
        """Whether it is as good as the reference."""
        return (
            self.is_finite
            and not (self.is_blind or self.missing or self.too_many)
            and self.score <= tolerance.score
            and self.box_px <= tolerance.box_px
        )


@dataclass(slots=True)
class Place:
    """All pictures at one place of batches of one size."""

    size: int
    place: int
    """From 1."""
    comparisons: list[Comparison] = field(default_factory=list)

    @property
    def worst(self) -> Comparison:
        """The sums of what is wrong, and the largest differences."""
        return Comparison(
            missing=sum(one.missing for one in self.comparisons),
            too_many=sum(one.too_many for one in self.comparisons),
            score=max((one.score for one in self.comparisons), default=0.0),
            box_px=max((one.box_px for one in self.comparisons), default=0.0),
            iou=min((one.iou for one in self.comparisons), default=1.0),
            is_finite=all(one.is_finite for one in self.comparisons),
            is_blind=any(one.is_blind for one in self.comparisons),
        )

    @property
    def blind(self) -> int:
        """In how many pictures nothing was found where there is something."""
        return sum(one.is_blind for one in self.comparisons)


def places_of(
    engines: tuple[Engine, Engine],
    looks: Sequence[Look],
    batch_max: int,
    tolerance: Tolerance,
) -> list[Place]:
    """Run every picture alone, and at every place of a batch of `batch_max`.

    Args:
        engines: the plain FP32 one, which sees each picture once, alone; and the one in question.
        looks: the pictures, laid out for one model; at least one.
        batch_max: largest batch.
        tolerance: detections so near the model's threshold may be on either side of it.

    Raises:
        EngineFault: a run failed.
        ValueError: the outputs are not those of such a batch.
    """
    reference, candidate = engines
    spec = looks[0].spec
    wanted = [look.decoded(_raw(spec, reference, [look])[0]) for look in looks]
    places = []
    for size in sorted({1, batch_max}):
        here = [Place(size, place + 1) for place in range(size)]
        for batch in _rotations(looks, size):
            tensors = [looks[at] if at is not None else _noise(looks[0]) for at in batch]
            for place, (at, raw) in enumerate(
                zip(batch, _raw(spec, candidate, tensors), strict=True)
            ):
                if at is not None:
                    found = _compared_raw(spec, looks[at], wanted[at], raw, tolerance)
                    here[place].comparisons.append(found)
        places += here
    return places


def compared(
    wanted: Sequence[Detection], found: Sequence[Detection], threshold: float, margin: float
) -> Comparison:
    """Compare what counts as found, best first.

    Args:
        wanted: by the reference.
        found: by the engine in question.
        threshold: score from which a detection counts.
        margin: a detection so near the threshold needs no partner, and may be one.
    """
    left = [one for one in found if one.score >= threshold - margin]
    pairs, missing = [], 0
    for one in sorted(wanted, key=lambda each: -each.score):
        partner = max(left, key=lambda each: _likeness(one, each), default=None)
        if partner is not None and _likeness(one, partner) >= _PARTNER_IOU:
            left.remove(partner)
            if one.score >= threshold or partner.score >= threshold:
                pairs.append((one, partner))
        elif one.score >= threshold + margin:
            missing += 1
    counts = [one for one in found if one.score >= threshold - margin]
    return Comparison(
        missing=missing,
        too_many=sum(one.score >= threshold + margin for one in left),
        score=max((abs(a.score - b.score) for a, b in pairs), default=0.0),
        box_px=max((_sides(a, b) for a, b in pairs), default=0.0),
        iou=min((_likeness(a, b) for a, b in pairs), default=1.0),
        is_blind=not counts and any(one.score >= threshold + margin for one in wanted),
    )


# ---------------------------------------------------------------- inside


def _rotations(looks: Sequence[Look], size: int) -> Iterator[list[int | None]]:
    """Batches in which every picture comes once at every place; None: noise fills up."""
    ring: list[int | None] = [*range(len(looks))]
    ring += [None] * (size - len(looks))
    for start in range(len(ring)):
        yield [ring[(start + place) % len(ring)] for place in range(size)]


def _raw(spec: ModelSpec, engine: Engine, looks: Sequence[Look]) -> list[dict[str, Array]]:
    """Run a batch of pictures, each with the side inputs of its own size."""
    sides = [Geometry.of(spec, one.frame_height, one.frame_width).side_inputs() for one in looks]
    side = {name: np.stack([each[name] for each in sides]) for name in sides[0]}
    outputs = engine.run(np.stack([one.tensor for one in looks]), side)
    return split(spec.layout, outputs, len(looks))


def _noise(like: Look) -> Look:
    """A picture of nothing."""
    tensor = np.random.default_rng(1).standard_normal(like.tensor.shape).astype(np.float32)
    return Look(like.spec, tensor, like.frame_height, like.frame_width)


def _compared_raw(
    spec: ModelSpec,
    look: Look,
    wanted: Sequence[Detection],
    raw: dict[str, Array],
    tolerance: Tolerance,
) -> Comparison:
    """Compare raw outputs; those that are not finite are worth nothing."""
    if not all(np.isfinite(values).all() for values in raw.values()):
        return Comparison(is_finite=False, is_blind=bool(wanted))
    return compared(wanted, look.decoded(raw), spec.draw_threshold, tolerance.score)


def _likeness(one: Detection, two: Detection) -> float:
    """Intersection over union; 0 for another class."""
    if one.label != two.label:
        return 0.0
    width = min(one.x2, two.x2) - max(one.x1, two.x1)
    height = min(one.y2, two.y2) - max(one.y1, two.y1)
    common = max(width, 0.0) * max(height, 0.0)
    union = one.width_px * one.height_px + two.width_px * two.height_px - common
    return common / union if union > 0 else 0.0


def _sides(one: Detection, two: Detection) -> float:
    pairs = ((one.x1, two.x1), (one.y1, two.y1), (one.x2, two.x2), (one.y2, two.y2))
    return max(abs(a - b) for a, b in pairs)
