"""EDGE: pictures on disk become pixels of the size and kind that a station says."""

from pathlib import Path
from typing import Literal

import cv2
import numpy as np

from inspectd.errors import FrameFault
from inspectd.ports import Pixels

__all__ = ["read_picture", "read_reference"]


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
