"""Golden pictures of parts, read once and kept while there is room."""

from collections import OrderedDict
from pathlib import Path

import cv2
import numpy as np

from inspectd.config.schema import Template
from inspectd.errors import FrameFault
from inspectd.ports import Pixels

__all__ = ["Templates", "template_name"]

_CACHE_BYTES = 64 << 20
"""Of decoded pictures: 150 of 640 x 640. A line mostly has a handful of part types."""
_REMEDY = "put the part's golden picture there, or correct `template` of the station"


def template_name(settings: Template, part_id: str) -> str:
    """Answer the file name of a part's golden picture, relative to the folder.

    Raises:
        FrameFault: The part's name would lead out of the folder (it comes from outside).
    """
    name = part_id.removesuffix(settings.strip_suffix) if settings.strip_suffix else part_id
    if "{part_id}" not in settings.pattern:
        return settings.pattern
    if "/" in name or "\0" in name or name in ("", ".", ".."):
        raise FrameFault(
            settings.folder, f"{part_id!r} cannot name a golden picture", "name parts plainly"
        )
    return settings.pattern.replace("{part_id}", name)


class Templates:
    """Golden pictures in grey, in the size of the frames; changed files need a restart."""

    def __init__(
        self, settings: Template, height: int, width: int, room_bytes: int = _CACHE_BYTES
    ) -> None:
        """Every picture must be `height` x `width` pixels; `room_bytes` of them are kept."""
        self._settings, self._shape = settings, (height, width)
        self._kept: OrderedDict[str, Pixels] = OrderedDict()
        self._room = max(room_bytes // (height * width), 1)

    def of(self, part_id: str) -> Pixels:
        """Answer the golden picture, uint8 (height, width), not to be written to.

        Raises:
            FrameFault: There is none, it cannot be read, or has another size.
        """
        name = template_name(self._settings, part_id)
        picture = self._kept.get(name)
        if picture is None:
            picture = self._read(Path(self._settings.folder) / name)
            if len(self._kept) >= self._room:
                self._kept.popitem(last=False)
            self._kept[name] = picture
        self._kept.move_to_end(name)
        return picture

    def _read(self, path: Path) -> Pixels:
        try:
            content = np.frombuffer(path.read_bytes(), np.uint8)
        except (OSError, ValueError) as fault:
            why = fault.strerror if isinstance(fault, OSError) else "no file can have this name"
            what = f"the golden picture cannot be read ({why})"
            raise FrameFault(str(path), what, _REMEDY) from fault
        flags = cv2.IMREAD_GRAYSCALE | cv2.IMREAD_IGNORE_ORIENTATION
        picture = cv2.imdecode(content, flags) if len(content) else None
        if picture is None:
            raise FrameFault(str(path), "the golden picture is no picture", _REMEDY)
        if picture.shape != self._shape:
            have, want = picture.shape[::-1], self._shape[::-1]
            raise FrameFault(str(path), f"the golden picture is {have}, frames are {want}", _REMEDY)
        grey = np.asarray(picture, np.uint8)
        grey.setflags(write=False)
        return grey
