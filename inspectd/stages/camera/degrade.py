"""Make a picture worse on purpose, so that a line can be tried without breaking one.

Pure: a picture goes in, a picture comes out, the same picture always gives the same. Strength 1 is
clearly visible on a picture of any size.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import cv2
import numpy as np

from inspectd.config.schema import Degrade
from inspectd.frame import Detection
from inspectd.ports import Pixels

__all__ = ["Picturesque", "degrade", "due"]

Picturesque: TypeAlias = Literal["blur", "glare", "dark", "occlude", "erase"]
"""What is done to pixels; freeze and drop are done to the stream, by the source."""

_GROWN = 0.08
"""An erased box is grown by this share of its size, so that no rim of the object stays."""
_INPAINT_RADIUS_PX = 3
_INPAINT_WIDTH_PX = 96
"""Erased regions are painted at about this width and scaled up: inpainting is slow by the pixel."""


def due(switches: Sequence[Degrade], index: int) -> Degrade | None:
    """Answer the first switch that applies to frame number `index` (from 0), or None."""
    for switch in switches:
        if index >= switch.offset and (index - switch.offset) % switch.every == 0:
            return switch
    return None


def degrade(
    picture: Pixels, how: Picturesque, strength: float, boxes: Sequence[Detection] = ()
) -> Pixels:
    """Answer a worse copy of `picture`.

    Args:
        picture: (H, W) grey or (H, W, 3) blue, green, red.
        how: what to do.
        strength: 1 is clearly visible; smaller is milder.
        boxes: for erase: what to paint over, in frame pixels.
    """
    if how == "blur":
        return _blurred(picture, strength)
    if how == "glare":
        return _glaring(picture, strength)
    if how == "dark":
        return _darkened(picture, strength)
    if how == "occlude":
        return _occluded(picture, strength)
    return _erased(picture, boxes)


def _blurred(picture: Pixels, strength: float) -> Pixels:
    """Out of focus or moved: a Gaussian of 1 % of the picture's width."""
    sigma = max(0.3, 0.01 * picture.shape[1] * strength)
    return np.asarray(cv2.GaussianBlur(picture, (0, 0), sigma), np.uint8)


def _glaring(picture: Pixels, strength: float) -> Pixels:
    """Burn a disc of an eighth of the width into the picture, with a soft rim."""
    height, width = picture.shape[:2]
    radius = max(2, round(width * strength / 8))
    disc = np.zeros((height, width), np.float32)
    cv2.circle(disc, (width // 2, height // 3), radius, 1.6, -1)
    light = np.asarray(cv2.GaussianBlur(disc, (0, 0), max(1.0, radius / 8)), np.float32)
    shaped = light.reshape(height, width, *(1,) * (picture.ndim - 2))
    return np.clip(picture + shaped * 255.0, 0, 255).astype(np.uint8)


def _darkened(picture: Pixels, strength: float) -> Pixels:
    """Light failed: an eighth of the brightness at strength 1."""
    return np.asarray(picture * (0.125 ** min(strength, 4.0)), np.uint8)


def _occluded(picture: Pixels, strength: float) -> Pixels:
    """Hold a grey card before the middle: 60 % of each side at strength 1."""
    worse = picture.copy()
    height, width = picture.shape[:2]
    half_h = round(height * min(0.5, 0.3 * strength))
    half_w = round(width * min(0.5, 0.3 * strength))
    middle_y, middle_x = height // 2, width // 2
    worse[middle_y - half_h : middle_y + half_h, middle_x - half_w : middle_x + half_w] = 96
    return worse


def _erased(picture: Pixels, boxes: Sequence[Detection]) -> Pixels:
    """Paint over each box with its surroundings (Telea's method, `cv2.inpaint`)."""
    worse = picture.copy()
    for box in boxes:
        _paint_over(worse, box)
    return worse


def _paint_over(picture: Pixels, box: Detection) -> None:
    height, width = picture.shape[:2]
    grow_x, grow_y = _GROWN * box.width_px + 2, _GROWN * box.height_px + 2
    x1, y1 = max(0, int(box.x1 - grow_x)), max(0, int(box.y1 - grow_y))
    x2, y2 = min(width, int(box.x2 + grow_x) + 1), min(height, int(box.y2 + grow_y) + 1)
    if x2 <= x1 or y2 <= y1:
        return
    rim_x, rim_y = max(4, (x2 - x1) // 4), max(4, (y2 - y1) // 4)
    left, top = max(0, x1 - rim_x), max(0, y1 - rim_y)
    right, bottom = min(width, x2 + rim_x), min(height, y2 + rim_y)
    around = picture[top:bottom, left:right]
    scale = min(1.0, _INPAINT_WIDTH_PX / around.shape[1])
    small = cv2.resize(around, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    mask = np.zeros(small.shape[:2], np.uint8)
    rows = slice(int((y1 - top) * scale), int(np.ceil((y2 - top) * scale)))
    columns = slice(int((x1 - left) * scale), int(np.ceil((x2 - left) * scale)))
    mask[rows, columns] = 255
    if mask.all():
        picture[y1:y2, x1:x2] = 96
        return
    painted = cv2.inpaint(small, mask, _INPAINT_RADIUS_PX, cv2.INPAINT_TELEA)
    full = cv2.resize(painted, (around.shape[1], around.shape[0]), interpolation=cv2.INTER_LINEAR)
    picture[y1:y2, x1:x2] = full[y1 - top : y2 - top, x1 - left : x2 - left]
