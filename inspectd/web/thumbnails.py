"""EDGE cv2: small pictures of parts on their way, for those that are not archived.

The frame memory is only read. A slot may be given to another part while it is copied; then its
generation has changed, and the copy is thrown away. So the camera never waits for a viewer, and a
viewer never sees half of one part and half of another.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import cv2
import numpy as np
import numpy.typing as npt

from inspectd.frame import Role
from inspectd.ports import Pixels

__all__ = ["LOOK_NS", "Frames", "Thumbnails"]

LOOK_NS = 500_000_000
"""Between two copies of a station."""
SIDE_PX = 640
"""The longer side is at most so long."""
QUALITY = 80
KEPT = 8
"""Of each station, until their event is read."""
_SETTLED = (Role.RECORD, Role.JUDGE, Role.INFER, Role.GATE, Role.NOBODY)
"""Owners of slots whose picture is complete."""


class Slot(Protocol):
    """A slot in use (`inspectd.bus.arena.Held`)."""

    @property
    def slot(self) -> int:
        """Its number."""

    @property
    def generation(self) -> int:
        """Use count."""

    @property
    def trigger_id(self) -> int:
        """Of its part."""


class Frames(Protocol):
    """Frame memory as it is read here (`inspectd.bus.arena.MemfdArena`)."""

    def owned(self, role: Role) -> Sequence[Slot]:
        """The slots of `role`."""

    def captured_ns(self, slot: int) -> int:
        """When the picture was taken; 0: it was not."""

    def frame(self, slot: int) -> Pixels:
        """The picture, without a copy."""


class _Found(NamedTuple):
    captured_ns: int
    slot: int
    generation: int
    trigger_id: int


class Thumbnails:
    """The small pictures of all stations."""

    def __init__(self, arenas: Mapping[int, Frames]) -> None:
        """Args: arenas: by station index."""
        self._arenas = arenas
        self._kept: dict[int, OrderedDict[int, tuple[int, bytes]]] = {
            station: OrderedDict() for station in arenas
        }
        self._looked_ns = dict.fromkeys(arenas, 0)

    def look(self, now_ns: int) -> None:
        """Copy the newest picture of every station whose turn it is."""
        for station, arena in self._arenas.items():
            if now_ns - self._looked_ns[station] < LOOK_NS:
                continue
            found = _newest(arena)
            kept = self._kept[station]
            if found is None or kept.get(found.trigger_id, (0,))[0] == found.captured_ns:
                continue
            self._looked_ns[station] = now_ns
            jpeg = _copied(arena, found)
            if jpeg is not None:
                kept.pop(found.trigger_id, None)
                kept[found.trigger_id] = (found.captured_ns, jpeg)
                while len(kept) > KEPT:
                    kept.popitem(last=False)

    def of(self, station: int, trigger_id: int, fired_ns: int) -> bytes | None:
        """The JPEG of a part, if it was copied; ids come again, so it must be after the trigger."""
        kept = self._kept.get(station)
        found = None if kept is None else kept.get(trigger_id)
        return found[1] if found is not None and found[0] >= fired_ns else None


def _newest(arena: Frames) -> _Found | None:
    """The picture taken last, of those that are complete."""
    found = [
        _Found(captured_ns, held.slot, held.generation, held.trigger_id)
        for role in _SETTLED
        for held in arena.owned(role)
        if (captured_ns := arena.captured_ns(held.slot))
    ]
    return max(found, default=None)


def _copied(arena: Frames, found: _Found) -> bytes | None:
    """The picture as a small JPEG; None when its slot was given away meanwhile."""
    frame = arena.frame(found.slot)
    step = -(-max(frame.shape[:2]) // SIDE_PX)
    small = np.ascontiguousarray(frame[::step, ::step])
    if _generation_of(arena, found.slot) != found.generation:
        return None
    return _jpeg(small)


def _generation_of(arena: Frames, slot: int) -> int | None:
    held = (one for role in _SETTLED for one in arena.owned(role) if one.slot == slot)
    return next((one.generation for one in held), None)


def _jpeg(pixels: npt.NDArray[np.uint8]) -> bytes | None:
    try:
        done, encoded = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    except cv2.error:
        return None
    return encoded.tobytes() if done else None
