"""Another look at the same picture, drawn from a seeded generator.

Two roads: `crop` cuts a window out of a picture-and-template pair at full resolution, `warp` bends
a colour picture. Both answer the labels that are still true afterwards; objects that are mostly cut
off become "ignored", which teaches neither object nor background.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from inspectd.train.dataset import Picture
from inspectd.train.recipe import Augment, Recipe

__all__ = ["Sample", "crop", "warp"]

_HALF = 0.5
_RANDOM_CROPS = 0.1
"""Share of windows that need not hold a defect: clean board is learnt too."""
_RECOLOURED = 0.9
"""Share of pictures whose colours change at all."""
_KEEP_VISIBLE = 0.75
_DROP_VISIBLE = 0.25
"""A box seen for more than the first share is kept, for less than the second forgotten."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One training input."""

    pixels: NDArray[np.uint8]
    """(S, S, 3)."""
    boxes: NDArray[np.float32]
    """(N, 4), x1 y1 x2 y2."""
    labels: NDArray[np.int64]
    ignored: NDArray[np.bool_]


def crop(
    picture: Picture, target: int, side: int, recipe: Recipe, rng: np.random.Generator
) -> Sample:
    """Cut a window that holds box number `target`, `side` px wide, in three planes."""
    how = recipe.augment
    height, width = picture.pixels.shape[:2]
    zoom = 1 + how.scale * rng.uniform(-1, 1)
    window = min(round(side / zoom), height, width)
    top = int(rng.integers(0, height - window + 1))
    left = int(rng.integers(0, width - window + 1))
    if len(picture.boxes) and rng.random() >= _RANDOM_CROPS:
        x1, y1, x2, y2 = picture.boxes[target]
        left = _around(float(x1), float(x2), window, width, rng)
        top = _around(float(y1), float(y2), window, height, rng)
    shift = how.template_shift_px
    down, right = (int(v) for v in rng.integers(-shift, shift + 1, 2))
    template_top = min(max(top + down, 0), height - window)
    template_left = min(max(left + right, 0), width - window)
    image = _cut(picture.pixels[..., 0], top, left, window, side)
    template = _cut(picture.pixels[..., 1], template_top, template_left, window, side)
    boxes = (picture.boxes - np.array([left, top, left, top], np.float32)) * (side / window)
    boxes = boxes.astype(np.float32)
    pixels = np.dstack([image, template, cv2.absdiff(image, template)])
    boxes, labels, ignored = _still_visible(boxes, picture.labels, side)
    if how.flip and rng.random() < _HALF:
        pixels, boxes = _mirror(pixels, boxes)
    if how.quarter_turns:
        pixels, boxes = _turn(pixels, boxes, int(rng.integers(0, 4)))
    return Sample(np.ascontiguousarray(pixels, np.uint8), boxes, labels, ignored)


def warp(picture: Picture, side: int, recipe: Recipe, rng: np.random.Generator) -> Sample:
    """Flip, zoom, shift, recolour, blur a colour picture; take parts away as the recipe says."""
    how = recipe.augment
    pixels, boxes, labels = _remove(picture, recipe, rng)
    size = pixels.shape[1]
    zoom = side / size * (1 + how.scale * rng.uniform(-1, 1))
    aspect = 1 + how.stretch * rng.uniform(-1, 1)
    across = zoom * aspect * (-1 if how.flip and rng.random() < _HALF else 1)
    down = zoom / aspect
    move = rng.uniform(-how.move, how.move, 2) * side
    matrix = np.array(
        [
            [across, 0, side / 2 - across * size / 2 + move[0]],
            [0, down, side / 2 - down * size / 2 + move[1]],
        ]
    )
    grey = tuple(int(v) for v in rng.integers(0, 256, 3))
    bent = cv2.warpAffine(pixels, matrix, (side, side), flags=cv2.INTER_LINEAR, borderValue=grey)
    x = boxes[:, 0::2] * across + matrix[0, 2]
    y = boxes[:, 1::2] * down + matrix[1, 2]
    boxes = np.stack([x.min(1), y.min(1), x.max(1), y.max(1)], 1).astype(np.float32)
    boxes, labels, ignored = _still_visible(boxes, labels, side)
    return Sample(_recolour(np.asarray(bent, np.uint8), how, rng), boxes, labels, ignored)


def _cut(
    plane: NDArray[np.uint8], top: int, left: int, window: int, side: int
) -> NDArray[np.uint8]:
    """Cut a square window and bring it to `side` pixels."""
    piece = plane[top : top + window, left : left + window]
    if window == side:
        return piece
    how = cv2.INTER_AREA if window > side else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(piece, (side, side), interpolation=how), np.uint8)


def _around(low: float, high: float, side: int, limit: int, rng: np.random.Generator) -> int:
    """Draw a window start so that low..high lies in start..start+side if it fits."""
    first, last = int(np.ceil(high)) - side, int(low)
    if first > last:
        first = last = int((low + high - side) / 2)
    return min(max(int(rng.integers(first, last + 1)), 0), limit - side)


def _still_visible(
    boxes: NDArray[np.float32], labels: NDArray[np.int64], side: int
) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.bool_]]:
    clipped = boxes.clip(0, side)
    area = (boxes[:, 2:] - boxes[:, :2]).prod(1)
    visible = (clipped[:, 2:] - clipped[:, :2]).prod(1) / np.maximum(area, 1e-6)
    kept = visible > _DROP_VISIBLE
    return clipped[kept], labels[kept], visible[kept] < _KEEP_VISIBLE


def _mirror(
    pixels: NDArray[np.uint8], boxes: NDArray[np.float32]
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    width = pixels.shape[1]
    turned = boxes.copy()
    turned[:, 0], turned[:, 2] = width - boxes[:, 2], width - boxes[:, 0]
    return pixels[:, ::-1], turned


def _turn(
    pixels: NDArray[np.uint8], boxes: NDArray[np.float32], quarters: int
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Turn counter-clockwise by quarters of a square picture."""
    side = pixels.shape[0]
    for _ in range(quarters):
        x1, y1, x2, y2 = boxes.T
        boxes = np.stack([y1, side - x2, y2, side - x1], 1)
    return np.rot90(pixels, quarters), boxes


def _remove(
    picture: Picture, recipe: Recipe, rng: np.random.Generator
) -> tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.int64]]:
    """Paint out some objects of one class, so that "part present, piece missing" is learnt."""
    how = recipe.augment
    everything = picture.pixels, picture.boxes, picture.labels
    if not how.remove_class or rng.random() >= how.remove:
        return everything
    candidates = np.flatnonzero(picture.labels == recipe.classes.index(how.remove_class))
    gone = candidates[rng.random(len(candidates)) < rng.choice([0.5, 1.0])]
    if not len(gone):
        return everything
    height, width = picture.pixels.shape[:2]
    mask = np.zeros((height, width), np.uint8)
    for x1, y1, x2, y2 in picture.boxes[gone]:
        grow_x, grow_y = rng.uniform(0, 0.12, 2) * (x2 - x1, y2 - y1)
        left, top = max(int(x1 - grow_x), 0), max(int(y1 - grow_y), 0)
        mask[top : int(np.ceil(y2 + grow_y)), left : int(np.ceil(x2 + grow_x))] = 255
    method = cv2.INPAINT_TELEA if rng.random() < _HALF else cv2.INPAINT_NS
    painted = cv2.inpaint(picture.pixels, mask, float(rng.integers(2, 6)), method)
    stays = np.ones(len(picture.labels), bool)
    stays[gone] = False
    return np.asarray(painted, np.uint8), picture.boxes[stays], picture.labels[stays]


def _recolour(
    pixels: NDArray[np.uint8], how: Augment, rng: np.random.Generator
) -> NDArray[np.uint8]:
    strength = how.colour
    if strength and rng.random() < _RECOLOURED:
        if rng.random() < _HALF:
            hsv = cv2.cvtColor(pixels, cv2.COLOR_RGB2HSV)
            hue = round(rng.uniform(-18, 18) * strength) % 180
            hsv[..., 0] = (hsv[..., 0].astype(np.int16) + hue) % 180
            hsv[..., 1] = cv2.convertScaleAbs(
                hsv[..., 1], alpha=1 + rng.uniform(-0.5, 0.5) * strength
            )
            pixels = np.asarray(cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB), np.uint8)
        ramp = np.arange(256, dtype=np.float64)
        gain, offset = 1 + rng.uniform(-0.4, 0.4) * strength, rng.uniform(-40, 40) * strength
        tables = [
            ((ramp - 128) * gain * tint + 128 + offset).clip(0, 255)
            for tint in 1 + rng.uniform(-0.1, 0.1, 3) * strength
        ]
        pixels = np.asarray(cv2.LUT(pixels, np.stack(tables, -1).astype(np.uint8)[None]), np.uint8)
    if rng.random() < how.blur:
        pixels = np.asarray(cv2.GaussianBlur(pixels, (0, 0), rng.uniform(0.3, 1.5)), np.uint8)
    if rng.random() < how.noise:
        grain = rng.normal(0, rng.uniform(1, 8), pixels.shape)
        pixels = (pixels + grain).clip(0, 255).astype(np.uint8)
    return pixels
