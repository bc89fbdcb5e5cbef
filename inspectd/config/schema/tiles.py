"""Large pictures go through the model in pieces."""

from dataclasses import dataclass

from inspectd.config.schema.key import Region, key

__all__ = ["Tiles"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiles:
    """Overlapping pieces of the frame, each as large as the model looks at, in one batch.

    Without tiles the whole frame is scaled into the model, and small defects vanish.
    """

    size_px: int = key(ge=32, le=4096)
    """Width and height of a tile in frame pixels. The model's own size keeps every pixel."""
    overlap_px: int = key(ge=0, le=2048)
    """Neighbours share at least so much. An object up to this size is whole in one of them."""
    skip: tuple[Region, ...] = key(())
    """Tiles that lie wholly inside one of these regions are not looked at."""
    mask: str = key("", is_path=True)
    """A grey picture of the frame's size: tiles where it is black (0) all over are not looked
    at."""
    overview: bool = key(False)
    """Look at the whole frame, scaled, as well: for objects larger than a tile."""
