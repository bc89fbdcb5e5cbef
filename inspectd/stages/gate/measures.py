"""Is the picture good enough to be judged? One number for each way in which it may not be.

Pure: grey pixels in, a `Measure` out. All measures of a frame share its grey picture. A region of
more than `FULL_PX` pixels is halved (each pixel the mean of four) until it has no more: the number
then speaks of the halved picture, blobs are still told in pixels of the frame, and limits learnt
with the same camera and region hold (docs/gate.md has the times).
"""

import zlib
from typing import NamedTuple, TypeAlias

import cv2
import numpy as np
import numpy.typing as npt

from inspectd.config.schema import (
    Exposure,
    Frozen,
    Glare,
    Presence,
    Region,
    Saturation,
    Sharpness,
)
from inspectd.frame import Measure, Reason
from inspectd.ports import Pixels

__all__ = [
    "FULL_PX",
    "LIKENESS_PX",
    "Shape64",
    "View",
    "blob_px",
    "burnt_share",
    "exposure",
    "fingerprint",
    "frozen",
    "glare",
    "grey_of",
    "laplacian_variance",
    "likeness",
    "mean_grey",
    "presence",
    "saturation",
    "shape_of",
    "sharpness",
    "view_of",
]

FULL_PX = 1 << 21
"""Pixels of a region that are all looked at: 2 megapixels. A 4K frame is halved once."""
LIKENESS_PX = 64
"""Longer side of the picture in which likeness is measured."""
_GREY_AXES = 2
_CONNECTIVITY = 8

Shape64: TypeAlias = npt.NDArray[np.float32]
"""A picture of at most 64 x 64 px, flattened, of mean 0 and length 1; all 0 for a flat picture."""


class View(NamedTuple):
    """What is looked at for one measure."""

    grey: Pixels
    """(height, width)."""
    area: int
    """Pixels of the frame in one pixel of `grey`: 1, or 4, 16, ... when it was halved."""


def grey_of(frame: Pixels, into: Pixels) -> Pixels:
    """Answer the grey picture of a frame: itself when it is grey, else `into`, filled.

    Args:
        frame: (height, width), or (height, width, 3) blue, green, red.
        into: (height, width); overwritten for colours (weights of ITU-R BT.601, as OpenCV has).
    """
    if frame.ndim == _GREY_AXES:
        return frame
    cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY, into)
    return into


def view_of(grey: Pixels, region: Region | None) -> View:
    """Answer the region of a grey picture without a copy, or halved when it is too large."""
    if region is not None:
        x1, y1, x2, y2 = region
        grey = grey[y1:y2, x1:x2]
    area = 1
    while grey.size > FULL_PX:
        grey, area = _halved(grey), 4 * area
    return View(grey, area)


# ---------------------------------------------------------------- numbers


def laplacian_variance(view: View) -> float:
    """Variance of the Laplacian (4 neighbours): the more fine structure, the larger."""
    _, deviation = cv2.meanStdDev(cv2.Laplacian(view.grey, cv2.CV_16S))
    return float(deviation.item()) ** 2


def mean_grey(view: View) -> float:
    """Mean grey value, 0 to 255."""
    return float(cv2.mean(view.grey)[0])


def burnt_share(view: View, level: int) -> float:
    """Share of pixels whose grey value is at least `level`, 0 to 1."""
    return cv2.countNonZero(_burnt(view.grey, level)) / view.grey.size


def blob_px(view: View, level: int) -> int:
    """Pixels of the frame in the largest blob of grey values from `level` on (8 neighbours)."""
    burnt = _burnt(view.grey, level)
    x, y, width, height = cv2.boundingRect(burnt)
    if width == 0:
        return 0
    around = burnt[y : y + height, x : x + width]
    _, _, stats, _ = cv2.connectedComponentsWithStats(around, connectivity=_CONNECTIVITY)
    return int(stats[1:, cv2.CC_STAT_AREA].max()) * view.area


def shape_of(view: View) -> Shape64:
    """Answer the coarse shape of a picture, freed of brightness and contrast."""
    grey = view.grey
    while max(grey.shape) >= 2 * LIKENESS_PX and min(grey.shape) > 1:
        grey = _halved(grey)
    scale = min(1.0, LIKENESS_PX / max(grey.shape))
    height, width = (max(1, round(side * scale)) for side in grey.shape)
    small = cv2.resize(grey, (width, height), interpolation=cv2.INTER_AREA).astype(np.float32)
    small -= small.mean()
    length = float(np.linalg.norm(small))
    return (small / length if length > 0 else np.zeros_like(small)).ravel()


def likeness(one: Shape64, other: Shape64) -> float:
    """Normalised correlation, -1 to 1; 0 when either is flat. Both are of the same region."""
    return float(np.clip(np.dot(one, other), -1.0, 1.0))


def fingerprint(frame: Pixels) -> int:
    """CRC-32 of all bytes: different pictures share one with a chance of 1 in 2**32.

    Args:
        frame: contiguous, as frames in their slots are.
    """
    return zlib.crc32(frame.data)


# ---------------------------------------------------------------- held against limits


def sharpness(view: View, check: Sharpness) -> Measure:
    """Too little fine structure: BLURRED."""
    value = laplacian_variance(view)
    return _at_least("sharpness", value, check.min, Reason.BLURRED)


def exposure(view: View, check: Exposure) -> Measure:
    """The mean grey value outside its limits: DARK or BRIGHT; else the nearer limit is told."""
    value = mean_grey(view)
    if value - check.min_mean <= check.max_mean - value:
        return _at_least("exposure", value, check.min_mean, Reason.DARK)
    return _at_most("exposure", value, check.max_mean, Reason.BRIGHT)


def saturation(view: View, check: Saturation) -> Measure:
    """Too many pixels at the end of the scale: SATURATED."""
    value = burnt_share(view, check.level)
    return _at_most("saturation", value, check.max_share, Reason.SATURATED)


def glare(view: View, check: Glare) -> Measure:
    """Too large a patch at the end of the scale: GLARE."""
    return _at_most("glare", blob_px(view, check.level), check.max_blob_px, Reason.GLARE)


def presence(view: View, check: Presence, reference: Shape64) -> Measure:
    """Too little likeness to the reference: OCCLUDED or PART_MISSING, as the station means it."""
    reason = Reason.OCCLUDED if check.meaning == "occluded" else Reason.PART_MISSING
    value = likeness(shape_of(view), reference)
    return _at_least("presence", value, check.min_likeness, reason)


def frozen(repeats: int, check: Frozen) -> Measure:
    """The same picture once more too often: FROZEN."""
    return _at_most("frozen", repeats, check.max_repeats, Reason.FROZEN)


def _at_least(name: str, value: float, limit: float, reason: Reason) -> Measure:
    return Measure(name, value, limit, Reason.NONE if value >= limit else reason)


def _at_most(name: str, value: float, limit: float, reason: Reason) -> Measure:
    return Measure(name, value, limit, Reason.NONE if value <= limit else reason)


def _burnt(grey: Pixels, level: int) -> Pixels:
    """255 where the grey value is at least `level`, else 0."""
    return np.asarray(cv2.threshold(grey, level - 1, 255, cv2.THRESH_BINARY)[1], np.uint8)


def _halved(grey: Pixels) -> Pixels:
    """Means of 2 x 2 pixels; a last odd row or column is left out (OpenCV is fast for even)."""
    height, width = grey.shape[0] // 2, grey.shape[1] // 2
    even = grey[: 2 * height, : 2 * width]
    return np.asarray(cv2.resize(even, (width, height), interpolation=cv2.INTER_AREA), np.uint8)
