"""When is a part good?"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from inspectd.config.schema.key import Region, key

__all__ = ["CountRule", "EachHasRule", "ForbidRule", "Rule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForbidRule:
    """Any such object makes the part NG (a defect)."""

    kind: Literal["forbid"] = key()
    name: str = key(is_name=True)
    """Appears in the record of every part that breaks it."""
    labels: tuple[str, ...] = key(nonempty=True)
    """Classes of the model."""
    min_score: float = key(gt=0, le=1)
    """Detections below do not count. No default: it decides between false calls and escapes."""
    min_size_px: float = key(0.0, ge=0)
    """Longer side of the box; smaller objects do not count."""
    min_size_mm: float = key(0.0, ge=0)
    """The same in mm; needs `camera.um_per_px`."""
    max_count: int = key(0, ge=0)
    """So many are tolerated."""
    region: Region | None = key(None)
    """Only objects whose centre lies here; the whole frame when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRule:
    """There must be so many objects."""

    kind: Literal["count"] = key()
    name: str = key(is_name=True)
    """Appears in the record of every part that breaks it."""
    label: str = key(nonempty=True)
    """Class of the model."""
    min_score: float = key(gt=0, le=1)
    """Detections below do not count."""
    min: int = key(0, ge=0)
    """Fewer makes the part NG."""
    max: int = key(1_000_000, ge=0)
    """More makes the part NG."""
    region: Region | None = key(None)
    """Only objects whose centre lies here; the whole frame when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EachHasRule:
    """Each object of one class has its own object of another (a bottle has its cap)."""

    kind: Literal["each_has"] = key()
    name: str = key(is_name=True)
    """Appears in the record of every part that breaks it."""
    label: str = key(nonempty=True)
    """The class that must have something (Bottle)."""
    needs: str = key(nonempty=True)
    """The class that it must have (Cap)."""
    min_score: float = key(gt=0, le=1)
    """Objects of `label` below do not count."""
    needs_min_score: float = key(gt=0, le=1)
    """Objects of `needs` below do not count."""
    min_overlap: float = key(0.5, gt=0, le=1)
    """Share of the needed object's area that must lie inside the other's box."""
    ignore_cut: bool = key(True)
    """Objects of `label` that touch the frame's edge need nothing."""
    region: Region | None = key(None)
    """Only objects of `label` whose centre lies here; the whole frame when not given."""


Rule: TypeAlias = ForbidRule | CountRule | EachHasRule
