"""Is the picture fit to be judged? Checks and their limits."""

from dataclasses import dataclass
from typing import Literal

from inspectd.config.schema.key import Region, key

__all__ = ["Exposure", "Frozen", "Gate", "Glare", "Presence", "Saturation", "Sharpness"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharpness:
    """Variance of the Laplacian of the grey picture; low means blurred."""

    min: float = key(ge=0)
    """Below this the picture is UNFIT (blurred)."""
    region: Region | None = key(None)
    """Where it is measured; the whole frame when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """Mean grey value, 0 to 255."""

    min_mean: float = key(ge=0, le=255)
    """Below this the picture is UNFIT (dark)."""
    max_mean: float = key(ge=0, le=255)
    """Above this the picture is UNFIT (bright)."""
    region: Region | None = key(None)
    """Where it is measured; the whole frame when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Saturation:
    """Share of pixels at the end of the scale."""

    max_share: float = key(ge=0, le=1)
    """Above this the picture is UNFIT (saturated)."""
    level: int = key(250, ge=1, le=255)
    """Grey values from here on count as saturated."""
    region: Region | None = key(None)
    """Where it is measured; the whole frame when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Glare:
    """The largest connected blob of saturated pixels."""

    max_blob_px: int = key(ge=0)
    """A larger blob makes the picture UNFIT (glare)."""
    level: int = key(250, ge=1, le=255)
    """Grey values from here on count as glare."""
    region: Region | None = key(None)
    """Where it is measured; the whole frame when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence:
    """Likeness to a reference picture; low means occluded, or that the part is missing."""

    reference: str = key(is_path=True)
    """A good picture of the size of the frames (`inspectd gate learn` writes one)."""
    min_likeness: float = key(ge=-1, le=1)
    """Normalised correlation of the pictures reduced to 64 px; below this the picture is UNFIT."""
    meaning: Literal["occluded", "part_missing"] = key("occluded")
    """What a low likeness means at this station."""
    region: Region | None = key(None)
    """Where it is measured; the whole frame when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """A camera or driver that gives the same picture again."""

    max_repeats: int = key(0, ge=0)
    """So many exact repetitions of the last picture are let pass; the next is UNFIT (frozen)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Is the picture fit to be judged? Checks that are not given are not made."""

    sharpness: Sharpness | None = key(None)
    """Blur."""
    exposure: Exposure | None = key(None)
    """Too dark, too bright."""
    saturation: Saturation | None = key(None)
    """Burnt out."""
    glare: Glare | None = key(None)
    """Reflections."""
    presence: Presence | None = key(None)
    """Occluded, or no part there."""
    frozen: Frozen | None = key(None)
    """The same picture again."""
