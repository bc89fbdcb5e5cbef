"""Detections of overlapping tiles as one list: no object twice, none merged with its neighbour.

Two boxes of different tiles are the same object when they agree where both tiles look: their parts
inside the shared zone overlap by IoU, or one of them is a fragment (it ends at an inner edge of its
tile, where the picture was cut) and lies in the other. The best agreements are taken first, and an
object has at most one box of each tile, so two objects beside each other stay two. Of the boxes of
an object a whole one counts, the best by score; of fragments alone the box around all of them.
Nothing is ever dropped without another box that stands for it. Pure.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from inspectd.frame import Detection
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
    tiling: Tiling, found: Sequence[Sequence[Detection]], *, is_agnostic: bool = False
) -> list[Detection]:
    """Answer the objects of the frame, best score first.

    Args:
        tiling: How the frame was cut.
        found: Detections of each of `tiling.pieces`, in its order, in frame pixels.
        is_agnostic: Boxes of different classes may be one object (its best class stays).
    """
    pieces = tiling.pieces
    if len(pieces) == 1:
        return sorted(found[0], key=_by_score)
    every = [(one, at) for at, of_piece in enumerate(found) for one in of_piece]
    if not every:
        return []
    boxes = np.array([(d.x1, d.y1, d.x2, d.y2) for d, _ in every], np.float64)
    owner = np.array([at for _, at in every])
    views = np.array(pieces, np.float64)[owner]
    cut = _is_cut(boxes, views, tiling)
    agreement = _agreement(boxes, views, cut)
    agreement[owner[:, None] == owner[None, :]] = 0
    if not is_agnostic:
        labels = np.array([d.label for d, _ in every])
        agreement[labels[:, None] != labels[None, :]] = 0
    merged = [
        _one([every[i][0] for i in group], [_rank(pieces[owner[i]], cut[i]) for i in group])
        for group in _groups(agreement, owner)
    ]
    return sorted(merged, key=_by_score)


def _is_cut(boxes: _Array, views: _Array, tiling: Tiling) -> npt.NDArray[np.bool_]:
    """Which boxes (N, 4) end at an edge of their tile that is not the frame's edge."""
    frame = np.array([0, 0, tiling.width, tiling.height], np.float64)
    at_edge = np.abs(boxes - views) <= _EDGE_PX
    return np.asarray((at_edge & (views != frame)).any(axis=1))


def _agreement(boxes: _Array, views: _Array, cut: npt.NDArray[np.bool_]) -> _Array:
    """How surely each pair is one object, (N, N): above 0 yes, the higher the surer."""
    zone = _shared(views[:, None], views[None, :])
    mine = _shared(np.broadcast_to(boxes[:, None], zone.shape), zone)
    yours = _shared(np.broadcast_to(boxes[None, :], zone.shape), zone)
    both = _area(_shared(mine, yours))
    either = _area(mine) + _area(yours) - both
    iou = np.divide(both, either, out=np.zeros_like(both), where=either > 0)
    area = _area(boxes)
    inside = _area(_shared(boxes[:, None], boxes[None, :]))
    share = np.divide(inside, area[:, None], out=np.zeros_like(inside), where=area[:, None] > 0)
    share[~cut] = 0
    share = np.maximum(share, share.T)
    agrees = np.where(iou >= _AGREES, iou, 0.0)
    return np.asarray(np.maximum(agrees, np.where(share >= _LIES_IN, share / 2, 0.0)))


def _shared(a: _Array, b: _Array) -> _Array:
    """What two rectangles have in common; empty ones have no area."""
    low = np.maximum(a[..., :2], b[..., :2])
    high = np.minimum(a[..., 2:], b[..., 2:])
    return np.concatenate([low, high], axis=-1)


def _area(boxes: _Array) -> _Array:
    sides = np.clip(boxes[..., 2:] - boxes[..., :2], 0, None)
    return np.asarray(sides[..., 0] * sides[..., 1])


def _groups(agreement: _Array, owner: npt.NDArray[np.int_]) -> list[list[int]]:
    """Join pairs, the surest first; an object keeps at most one box of each tile."""
    group_of = {i: [i] for i in range(len(owner))}
    rows, columns = np.nonzero(np.triu(agreement))
    for at in np.argsort(-agreement[rows, columns], kind="stable"):
        mine, yours = group_of[int(rows[at])], group_of[int(columns[at])]
        tiles = {int(owner[i]) for i in mine} & {int(owner[i]) for i in yours}
        if mine is yours or tiles:
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
