"""Detections of overlapping tiles as one list: no object twice, none merged with its neighbour.

Two boxes of different tiles are the same object when they agree where both tiles look: their parts
inside the shared zone overlap by IoU, or one of them is a fragment (it ends at an inner edge of its
tile, where the picture was cut) and lies in the other. The best agreements are taken first, and an
object has at most one box of each tile, so two objects beside each other stay two. Of the boxes of
an object a whole one counts, the best by score; of fragments alone the box around all of them.
Nothing is ever dropped without another box that stands for it. Pure.
"""

import functools
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from inspectd.frame import Detection
from inspectd.model.nms import suppress
from inspectd.model.spec import Nms
from inspectd.model.tiles import Tile, Tiling

__all__ = ["merge"]

_AGREES = 0.4
"""IoU in the shared zone from which two boxes are one object: the same network sees the same pixels
there, shifted; a box of 10 px that is 2 px off has 0.47."""
_LIES_IN = 0.5
"""Share of a fragment's area inside another tile's box."""
_EDGE_PX = 2.0
"""A box that ends so near to a tile's inner edge was cut there."""

_Array = npt.NDArray[np.float64]


def merge(
    tiling: Tiling,
    found: Sequence[Sequence[Detection]],
    *,
    iou_threshold: float = 0.6,
    is_agnostic: bool = False,
) -> list[Detection]:
    """Answer the objects of the frame, best score first.

    Args:
        tiling: How the frame was cut.
        found: Detections of each of `tiling.pieces`, in its order, in frame pixels.
        iou_threshold: Objects of one class that overlap by more are one, as within a tile (the
            model's own limit).
        is_agnostic: Boxes of different classes may be one object (its best class stays).
    """
    pieces = tiling.pieces
    every = [(one, at) for at, of_piece in enumerate(found) for one in of_piece]
    if not every:
        return []
    boxes = np.array([(d.x1, d.y1, d.x2, d.y2) for d, _ in every], np.float64)
    owner = np.array([at for _, at in every])
    cut = _is_cut(boxes, np.array(pieces, np.float64)[owner], tiling)
    label = _numbers([d for d, _ in every], is_agnostic=is_agnostic)
    pairs = _pairs(tiling, boxes, owner, cut, label)
    merged = [
        _one([every[i][0] for i in group], [_rank(pieces[owner[i]], bool(cut[i])) for i in group])
        for group in _groups(pairs, owner)
    ]
    return _apart(merged, iou_threshold, is_agnostic=is_agnostic)


def _numbers(found: Sequence[Detection], *, is_agnostic: bool) -> npt.NDArray[np.int_]:
    """A number for each class; the same for all when classes are not to be told apart."""
    _, numbers = np.unique([one.label for one in found], return_inverse=True)
    return np.zeros_like(numbers) if is_agnostic else numbers


def _apart(
    objects: Sequence[Detection], iou_threshold: float, *, is_agnostic: bool
) -> list[Detection]:
    """The objects, best score first, without those that cover a better one."""
    boxes = np.array([(d.x1, d.y1, d.x2, d.y2) for d in objects], np.float32)
    numbers = _numbers(objects, is_agnostic=is_agnostic)
    scores = np.full((int(numbers.max()) + 1, len(objects)), -1, np.float32)
    scores[numbers, np.arange(len(objects))] = [d.score for d in objects]
    limits = Nms(iou_threshold=iou_threshold, score_threshold=-0.5, top_k=-1, keep_top_k=-1)
    return [objects[at] for at in suppress(boxes, scores, limits)[0]]


def _is_cut(boxes: _Array, views: _Array, tiling: Tiling) -> npt.NDArray[np.bool_]:
    """Which boxes (N, 4) end at an edge of their tile that is not the frame's edge."""
    frame = np.array([0, 0, tiling.width, tiling.height], np.float64)
    at_edge = np.abs(boxes - views) <= _EDGE_PX
    return np.asarray((at_edge & (views != frame)).any(axis=1))


def _pairs(
    tiling: Tiling,
    boxes: _Array,
    owner: npt.NDArray[np.int_],
    cut: npt.NDArray[np.bool_],
    label: npt.NDArray[np.int_],
) -> list[tuple[int, int]]:
    """Boxes of different tiles that are one object, the surest first."""
    pairs: list[tuple[float, int, int]] = []
    for mine, yours, zone in _zones(tiling):
        shown = _area(_shared(boxes, zone)) > 0
        ours = np.flatnonzero(shown & (owner == mine))
        theirs = np.flatnonzero(shown & (owner == yours))
        agreement = _agreement(boxes, cut, ours, theirs, zone)
        agreement[label[ours][:, None] != label[theirs][None, :]] = 0
        for row, column in zip(*np.nonzero(agreement), strict=True):
            pairs.append((-agreement[row, column], int(ours[row]), int(theirs[column])))
    return [(one, other) for _, one, other in sorted(pairs)]


@functools.lru_cache(maxsize=16)
def _zones(tiling: Tiling) -> list[tuple[int, int, _Array]]:
    """Which tiles see something of each other, and what: (one, another, the shared zone)."""
    views = np.array(tiling.pieces, np.float64)
    zones = _shared(views[:, None], views[None, :])
    ones, others = np.nonzero(np.triu(_area(zones) > 0, 1))
    return [(int(i), int(j), zones[i, j]) for i, j in zip(ones, others, strict=True)]


def _agreement(
    boxes: _Array,
    cut: npt.NDArray[np.bool_],
    ours: npt.NDArray[np.intp],
    theirs: npt.NDArray[np.intp],
    zone: _Array,
) -> _Array:
    """How surely each pair is one object, (ours, theirs): above 0 yes, the higher the surer."""
    one, other = boxes[ours][:, None], boxes[theirs][None, :]
    here, there = _shared(one, zone), _shared(other, zone)
    both = _area(_shared(here, there))
    iou = _share(both, _area(here) + _area(there) - both)
    inside = _area(_shared(one, other))
    lies_in = np.maximum(
        np.where(cut[ours][:, None], _share(inside, _area(one)), 0.0),
        np.where(cut[theirs][None, :], _share(inside, _area(other)), 0.0),
    )
    agrees = np.where(iou >= _AGREES, iou, 0.0)
    return np.asarray(np.maximum(agrees, np.where(lies_in >= _LIES_IN, lies_in / 2, 0.0)))


def _share(part: _Array, whole: _Array) -> _Array:
    """Part by whole; nothing of nothing is 0."""
    part, whole = np.broadcast_arrays(part, whole)
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)


def _shared(a: _Array, b: _Array) -> _Array:
    """What two rectangles have in common; empty ones have no area."""
    low = np.maximum(a[..., :2], b[..., :2])
    high = np.minimum(a[..., 2:], b[..., 2:])
    return np.concatenate([low, high], axis=-1)


def _area(boxes: _Array) -> _Array:
    sides = np.clip(boxes[..., 2:] - boxes[..., :2], 0, None)
    return np.asarray(sides[..., 0] * sides[..., 1])


def _groups(pairs: Sequence[tuple[int, int]], owner: npt.NDArray[np.int_]) -> list[list[int]]:
    """Join pairs, in this order; an object keeps at most one box of each tile."""
    group_of = {i: [i] for i in range(len(owner))}
    for one, other in pairs:
        mine, yours = group_of[one], group_of[other]
        if mine is yours or {owner[i] for i in mine} & {owner[i] for i in yours}:
            continue
        mine.extend(yours)
        for i in yours:
            group_of[i] = mine
    return [sorted(group) for i, group in group_of.items() if i == min(group)]


def _rank(piece: Tile, is_cut: bool) -> float:
    """How far to trust a box: the smaller the surer; infinite when it was cut.

    An overview sees less sharply than a tile.
    """
    return math.inf if is_cut else (piece.x2 - piece.x1) * (piece.y2 - piece.y1)


def _one(boxes: Sequence[Detection], ranks: Sequence[float]) -> Detection:
    """The object that these boxes are."""
    best = min(boxes, key=_by_score)
    surest = min(range(len(boxes)), key=lambda i: (ranks[i], -boxes[i].score))
    trusted = boxes if math.isinf(ranks[surest]) else boxes[surest : surest + 1]
    return Detection(
        best.label,
        best.score,
        min(one.x1 for one in trusted),
        min(one.y1 for one in trusted),
        max(one.x2 for one in trusted),
        max(one.y2 for one in trusted),
    )


def _by_score(one: Detection) -> float:
    return -one.score
