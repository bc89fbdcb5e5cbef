"""EDGE: pictures on disk become pixels of the size and kind that a station says."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import cv2
import numpy as np

from inspectd.errors import FrameFault, UsageFault
from inspectd.ports import Pixels

__all__ = [
    "median_picture",
    "pictures_in",
    "read_picture",
    "read_reference",
    "read_sized",
    "write_reference",
]

_SUFFIXES = frozenset({".bmp", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"})
_MEDIAN_PICTURES_MAX = 101
_MEDIAN_BYTES_MAX = 256 << 20
_BAND_ROWS = 64


def pictures_in(folder: Path) -> list[Path]:
    """Answer the pictures of a folder, sorted by name, as a replay camera takes them.

    Raises:
        UsageFault: It is no folder, or holds no pictures.
    """
    if not folder.is_dir():
        raise UsageFault("is no folder", str(folder), "name a folder of pictures")
    found = sorted(path for path in folder.iterdir() if path.suffix.lower() in _SUFFIXES)
    if not found:
        kinds = ", ".join(sorted(_SUFFIXES))
        raise UsageFault("holds no pictures", str(folder), f"put some there ({kinds})")
    return found


def read_picture(path: Path, channels: Literal[1, 3]) -> Pixels:
    """Answer a picture as it was stored, orientation tags ignored as the camera does.

    Raises:
        FrameFault: It cannot be read, or is no picture.
    """
    try:
        content = np.frombuffer(path.read_bytes(), np.uint8)
    except OSError as fault:
        what = f"cannot be read ({fault.strerror})"
        raise FrameFault(str(path), what, "correct the path or its permissions") from fault
    kind = cv2.IMREAD_GRAYSCALE if channels == 1 else cv2.IMREAD_COLOR
    picture = cv2.imdecode(content, kind | cv2.IMREAD_IGNORE_ORIENTATION) if content.size else None
    if picture is None:
        raise FrameFault(str(path), "is no picture", "put a PNG, JPEG, BMP or TIFF there")
    return np.asarray(picture, np.uint8)


def read_sized(path: Path, channels: Literal[1, 3], height: int, width: int) -> Pixels:
    """Answer a picture of a folder whose pictures are all of one size.

    Raises:
        FrameFault: It cannot be read, or is no picture.
        UsageFault: It has another size.
    """
    picture = read_picture(path, channels)
    if picture.shape[:2] != (height, width):
        raise UsageFault(
            f"is {picture.shape[1]} x {picture.shape[0]} px where {width} x {height} are expected",
            str(path),
            "put pictures of one size, the station's, into the folder",
        )
    return picture


def read_reference(path: str, height: int, width: int) -> Pixels:
    """Answer the reference of the presence check, grey (height, width).

    Raises:
        FrameFault: It cannot be read, or has not the size of the frames.
    """
    picture = read_picture(Path(path), 1)
    if picture.shape != (height, width):
        have = f"{picture.shape[1]} x {picture.shape[0]}"
        raise FrameFault(
            path,
            f"the reference picture is {have} px, frames are {width} x {height}",
            "write one with `inspectd gate learn` from frames of this station",
        )
    return picture


def median_picture(paths: Sequence[Path]) -> Pixels:
    """Answer the median of pictures of one size, grey: what stands still stays, the rest fades.

    At most 101 are taken, evenly spread, and fewer where they would fill 256 MB.

    Raises:
        FrameFault: One cannot be read, or is no picture.
        UsageFault: One has another size than the first.
    """
    first = read_picture(paths[0], 1)
    most = max(1, min(_MEDIAN_PICTURES_MAX, _MEDIAN_BYTES_MAX // first.size))
    chosen = sorted({len(paths) * i // most for i in range(most)})
    stack = np.stack([read_sized(paths[i], 1, *first.shape) for i in chosen])
    answer = np.empty_like(first)
    for row in range(0, len(first), _BAND_ROWS):
        answer[row : row + _BAND_ROWS] = np.median(stack[:, row : row + _BAND_ROWS], axis=0)
    return answer


def write_reference(path: Path, picture: Pixels) -> None:
    """Write a picture without loss.

    Raises:
        UsageFault: The name does not end with .png, or the file cannot be written.
    """
    if path.suffix.lower() != ".png":
        raise UsageFault("is no name for a reference", str(path), "let it end with .png")
    try:
        path.write_bytes(cv2.imencode(".png", picture)[1].tobytes())
    except OSError as fault:
        what = f"cannot be written ({fault.strerror})"
        raise UsageFault(what, str(path), "choose another place") from fault
