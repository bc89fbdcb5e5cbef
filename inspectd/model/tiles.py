"""How a large frame is cut into overlapping tiles of one size; pure.

Along each axis as few tiles as cover it, set out evenly, so that neighbours share `overlap_px` or a
little more and none hangs over the edge. The order is row by row; the scaled overview comes last.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from inspectd.config.schema import Region, Station, Tiles
from inspectd.errors import FrameFault
from inspectd.ports import Pixels

__all__ = ["Tile", "Tiling"]


class Tile(NamedTuple):
    """A piece of the frame, in frame pixels; the right and lower edge are excluded."""

    x1: int
    y1: int
    x2: int
    y2: int

    def of(self, picture: Pixels) -> Pixels:
        """The piece of a picture of the frame's size, as a view."""
        return picture[self.y1 : self.y2, self.x1 : self.x2]

    def lies_in(self, region: Region) -> bool:
        """Whether all of it is inside a region."""
        x1, y1, x2, y2 = region
        return x1 <= self.x1 and y1 <= self.y1 and self.x2 <= x2 and self.y2 <= y2


@dataclass(frozen=True, slots=True)
class Tiling:
    """The pieces of frames of one size."""

    width: int
    height: int
    tiles: tuple[Tile, ...]
    has_overview: bool = False
    """Whether the whole frame, scaled, follows the tiles."""

    @classmethod
    def of(cls, settings: Tiles, width: int, height: int) -> "Tiling":
        """Cut frames of `width` x `height` pixels.

        Raises:
            FrameFault: The mask cannot be read or has another size, or nothing is left to look at.
        """
        size, overlap = settings.size_px, settings.overlap_px
        all_tiles = [
            Tile(x, y, min(x + size, width), min(y + size, height))
            for y in _starts(height, size, overlap)
            for x in _starts(width, size, overlap)
        ]
        mask = _mask(settings.mask, width, height) if settings.mask else None
        wanted = tuple(
            tile
            for tile in all_tiles
            if not any(tile.lies_in(region) for region in settings.skip)
            and (mask is None or tile.of(mask).any())
        )
        if not wanted:
            raise FrameFault(
                settings.mask or "tiles", "leaves nothing to look at", "correct `tiles`"
            )
        return cls(width, height, wanted, settings.overview)

    @classmethod
    def at(cls, station: Station) -> "Tiling | None":
        """How a station's frames are cut; None: they are not. See `of`."""
        if station.tiles is None:
            return None
        return cls.of(station.tiles, station.camera.width_px, station.camera.height_px)

    def __len__(self) -> int:
        """How many pictures go through the model for one frame."""
        return len(self.tiles) + self.has_overview

    @property
    def tile_size(self) -> tuple[int, int]:
        """Height and width of every tile."""
        first = self.tiles[0]
        return first.y2 - first.y1, first.x2 - first.x1

    @property
    def pieces(self) -> tuple[Tile, ...]:
        """The tiles, then the whole frame if there is an overview."""
        whole = (Tile(0, 0, self.width, self.height),) if self.has_overview else ()
        return self.tiles + whole


def _starts(length: int, size: int, overlap: int) -> Sequence[int]:
    """Answer where tiles begin along an axis."""
    if length <= size:
        return (0,)
    count = 1 + math.ceil((length - size) / (size - overlap))
    return tuple(round(i * (length - size) / (count - 1)) for i in range(count))


def _mask(path: str, width: int, height: int) -> Pixels:
    try:
        content = np.frombuffer(Path(path).read_bytes(), np.uint8)
    except OSError as fault:
        raise FrameFault(
            path, f"cannot be read ({fault.strerror})", "correct `tiles.mask`"
        ) from fault
    import cv2  # noqa: PLC0415 - the judge looks at tiles, and at no picture

    flags = cv2.IMREAD_GRAYSCALE | cv2.IMREAD_IGNORE_ORIENTATION
    picture = cv2.imdecode(content, flags) if len(content) else None
    if picture is None or picture.shape != (height, width):
        what = (
            "is no picture" if picture is None else f"is {picture.shape[1]} x {picture.shape[0]} px"
        )
        raise FrameFault(path, what, f"give a grey picture of {width} x {height} px")
    return np.asarray(picture, np.uint8)
