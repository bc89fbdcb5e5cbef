"""EDGE (cv2 reading): frames from files, so that everybody can run a line without a camera.

A picture is decoded and then copied into the slot once. OpenCV could decode into the slot itself
(`imread(file, dst)`), but answers the memory as it was when the file is no picture (OpenCV 4.14):
the part before would have been judged again. Video frames go straight in, for there OpenCV says
whether it worked. EXIF orientation is ignored: a picture has the size its pixels have.
"""

import random
from pathlib import Path
from typing import Protocol

import cv2
import numpy as np

from inspectd.coco import Labels
from inspectd.config.schema import Degrade, ReplayCamera
from inspectd.errors import FrameFault
from inspectd.frame import Detection
from inspectd.ports import Pixels
from inspectd.stages.camera.degrade import degrade, due
from inspectd.stages.camera.source import (
    Answer,
    Captured,
    FrameIds,
    Nothing,
    Unusable,
    Why,
)

__all__ = ["PICTURE_SUFFIXES", "VIDEO_SUFFIXES", "FolderReel", "Reel", "Replay", "VideoReel"]

PICTURE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp"})
VIDEO_SUFFIXES = frozenset({".mp4", ".avi", ".mkv", ".mov", ".m4v", ".webm"})

_JPEG_START = b"\xff\xd8"
_JPEG_END = b"\xff\xd9"
_TAIL_BYTES = 512
"""Some writers pad a JPEG after its end marker."""


class Reel(Protocol):
    """Pictures in an order."""

    def name(self, index: int) -> str | None:
        """File (or file and frame) of picture `index`; None: there are no more."""

    def read(self, index: int, into: Pixels) -> int | str:
        """Decode it; answer how often the picture was copied, or what is wrong with it."""

    def close(self) -> None:
        """Let go of files."""


class FolderReel:
    """The pictures of a folder, by name or in the order of its labels."""

    def __init__(self, camera: ReplayCamera, labels: Labels | None) -> None:
        folder = Path(camera.path)
        names = (
            list(labels.image_ids)
            if labels is not None
            else sorted(p.name for p in folder.iterdir() if p.suffix.lower() in PICTURE_SUFFIXES)
        )
        if not names:
            raise FrameFault(str(folder), "holds no picture", "give a folder of pictures")
        if camera.shuffle_seed:
            random.Random(camera.shuffle_seed).shuffle(names)  # noqa: S311 - an order, no secret
        self._files = [folder / name for name in names]
        self._loops = camera.loop
        self._flags = (
            cv2.IMREAD_GRAYSCALE if camera.channels == 1 else cv2.IMREAD_COLOR
        ) | cv2.IMREAD_IGNORE_ORIENTATION

    def name(self, index: int) -> str | None:
        """File name of picture `index`."""
        if not self._loops and index >= len(self._files):
            return None
        return self._file(index).name

    def read(self, index: int, into: Pixels) -> int | str:
        """Decode the file into `into`, or say what is wrong with it."""
        file = self._file(index)
        try:
            data = file.read_bytes()
        except OSError as error:
            return f"{file}: cannot be read ({error.strerror})"
        wrong = _wrong_with(data)
        if wrong:
            return f"{file}: {wrong}"
        try:
            picture = cv2.imdecode(np.frombuffer(data, np.uint8), self._flags)
        except cv2.error as error:
            return f"{file}: cannot be decoded ({error.err})"
        return _settled(picture, into, str(file))

    def close(self) -> None:
        """Nothing is open."""

    def _file(self, index: int) -> Path:
        return self._files[index % len(self._files)]


class VideoReel:
    """The frames of a video file, in order."""

    def __init__(self, camera: ReplayCamera) -> None:
        self._file = Path(camera.path)
        self._loops = camera.loop
        self._is_grey = camera.channels == 1
        self._video = cv2.VideoCapture(str(self._file))
        self._next = 0
        if not self._video.isOpened():
            raise FrameFault(str(self._file), "cannot be read as a video", "convert it to MP4")

    def name(self, index: int) -> str | None:  # noqa: ARG002 - a video only goes on
        """File and number of the frame; the video is read ahead to know whether there is one."""
        if not self._video.grab():
            if not self._loops:
                return None
            self._video.set(cv2.CAP_PROP_POS_FRAMES, 0)
            self._next = 0
            if not self._video.grab():
                return None
        self._next += 1
        return f"{self._file.stem}-{self._next - 1:06d}"

    def read(self, index: int, into: Pixels) -> int | str:  # noqa: ARG002 - the same
        """Decode the frame that `name` moved to."""
        got, picture = self._video.retrieve() if self._is_grey else self._video.retrieve(into)
        if not got:
            return f"{self._file}: frame {self._next - 1} cannot be decoded"
        if self._is_grey:
            picture = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
        return _settled(picture, into, str(self._file))

    def close(self) -> None:
        """Let go of the file."""
        self._video.release()


class Replay:
    """A camera that plays files; implements `Source`."""

    frame_ids = FrameIds()

    def __init__(self, camera: ReplayCamera) -> None:
        self._camera = camera
        self._labels: Labels | None = None
        self._reel: Reel | None = None
        self._index = 0
        self._last: Pixels | None = None
        """The picture delivered last, kept only for a camera that shall freeze."""
        self._keeps_last = any(switch.how == "freeze" for switch in camera.degrade)

    def open(self) -> None:
        """Find the pictures.

        Raises:
            FrameFault: there are none.
            UsageFault: the labels cannot be read.
        """
        if self._camera.labels:
            self._labels = Labels.read(Path(self._camera.labels))
        self._reel = self._opened()

    def take(self, into: Pixels, timeout_ms: float) -> Answer:  # noqa: ARG002 - files do not wait
        """Decode the next picture into `into`."""
        if self._reel is None:
            return Nothing(Why.LOST)
        index, self._index = self._index, self._index + 1
        name = self._reel.name(index)
        if name is None:
            return Nothing(Why.ENDED)
        switch = due(self._camera.degrade, index)
        if switch is not None and switch.how == "drop":
            return Nothing(Why.DROPPED, name, "drop")
        if switch is not None and switch.how == "freeze" and self._last is not None:
            into[...] = self._last
            return Captured(index, Path(name).stem, 1, name, "freeze")
        read = self._reel.read(index, into)
        if isinstance(read, str):
            return Unusable(read)
        degraded, copies = self._degraded(into, name, switch)
        if self._keeps_last:
            self._last = into.copy()
            copies += 1
        return Captured(index, Path(name).stem, read + copies, name, degraded)

    def skip(self) -> None:
        """Leave the next picture out: its part went by."""
        if self._reel is not None:
            self._reel.name(self._index)
            self._index += 1

    def close(self) -> None:
        """Let go of the files."""
        reel, self._reel = self._reel, None
        if reel is not None:
            reel.close()

    def _opened(self) -> Reel:
        path = Path(self._camera.path)
        if path.is_dir():
            return FolderReel(self._camera, self._labels)
        if path.suffix.lower() in VIDEO_SUFFIXES:
            return VideoReel(self._camera)
        raise FrameFault(str(path), "is neither a folder nor a video", "give one of them")

    def _degraded(self, into: Pixels, name: str, switch: Degrade | None) -> tuple[str, int]:
        """Make the picture worse in place; answer how, and the copies made."""
        if switch is None or switch.how in {"freeze", "drop"}:
            return "", 0
        boxes = self._boxes(name, switch.label)
        if switch.how == "erase" and not boxes:
            return "", 0
        into[...] = degrade(into, switch.how, switch.strength, boxes)  # type: ignore[arg-type]
        return f"erase:{switch.label}" if switch.how == "erase" else switch.how, 2

    def _boxes(self, name: str, label: str) -> tuple[Detection, ...]:
        found = () if self._labels is None else self._labels.boxes_of(name)
        return tuple(box for box in found if box.label == label)


def _wrong_with(data: bytes) -> str:
    """What can be seen of a file without decoding it; empty: nothing.

    A JPEG that was cut off decodes to a picture with a grey rest and no error: it is refused here.
    """
    if not data:
        return "is empty"
    if data.startswith(_JPEG_START) and _JPEG_END not in data[-_TAIL_BYTES:]:
        return "is cut off (a JPEG without its end)"
    return ""


def _settled(picture: object, into: Pixels, where: str) -> int | str:
    """See to it that the picture lies in `into`; answer the copies made or what is wrong."""
    if not isinstance(picture, np.ndarray):
        return f"{where}: cannot be decoded as a picture"
    if picture.shape != into.shape or picture.dtype != np.uint8:
        return f"{where}: is {_size(picture)}, the station file says {_size(into)}"
    if np.shares_memory(picture, into):
        return 0
    into[...] = picture
    return 1


def _size(picture: Pixels) -> str:
    height, width = picture.shape[:2]
    return f"{width}x{height}"
