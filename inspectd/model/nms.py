"""Of boxes that overlap, the best: for whole batches at once, without a loop over boxes.

Boxes compete within their group: a class of a picture, or the whole picture when classes are not to
be told apart. In each round the best box left of *every* group survives and strikes out what it
covers, so a batch costs as many rounds as its fullest group has survivors, and what is struck out
costs nothing any more. Ties are settled by the box's place in the output: equal inputs
give equal answers on every machine.
"""

import numpy as np
import numpy.typing as npt

from inspectd.model.spec import Nms

__all__ = ["suppress", "suppress_batch"]

_Floats = npt.NDArray[np.float32]
_Index = npt.NDArray[np.intp]
_Chosen = tuple[_Index, _Index]


def suppress(boxes: _Floats, scores: _Floats, nms: Nms) -> _Chosen:
    """Choose the boxes of one picture; see `suppress_batch`.

    Args:
        boxes: float32 (A, 4).
        scores: float32 (C, A).
        nms: Limits.
    """
    return suppress_batch(boxes[None], scores[None], nms)[0]


def suppress_batch(boxes: _Floats, scores: _Floats, nms: Nms) -> list[_Chosen]:
    """Choose boxes by score, dropping those that overlap a better one of their picture.

    Boxes without area overlap nothing, as in Paddle's `multiclass_nms3`.

    Args:
        boxes: float32 (B, A, 4), x1 y1 x2 y2, finite.
        scores: float32 (B, C, A), finite.
        nms: Limits; `class_agnostic` gives each anchor its best class only.

    Returns:
        For each picture the numbers of the chosen anchors and of their classes, best score first;
        equal scores in the order of class, then anchor.
    """
    pictures, classes, anchors = _candidates(scores, nms)
    groups = pictures if nms.class_agnostic else pictures * scores.shape[1] + classes
    if nms.top_k >= 0:
        within = _rank_within(groups) < nms.top_k
        pictures, classes, anchors = pictures[within], classes[within], anchors[within]
        groups = groups[within]
    limit = len(anchors) if nms.keep_top_k < 0 else nms.keep_top_k
    wide = boxes[pictures, anchors].astype(np.float64)
    keep = _survivors(wide, groups, pictures, nms.iou_threshold, limit)
    pictures, classes, anchors = pictures[keep], classes[keep], anchors[keep]
    chosen = [np.flatnonzero(pictures == at)[:limit] for at in range(len(boxes))]
    return [(anchors[which], classes[which]) for which in chosen]


def _candidates(scores: _Floats, nms: Nms) -> tuple[_Index, _Index, _Index]:
    """Answer (picture, class, anchor) above the score limit, best first."""
    eligible = scores > nms.score_threshold
    if nms.class_agnostic:
        best = np.argmax(scores, axis=1)
        eligible &= np.arange(scores.shape[1])[None, :, None] == best[:, None, :]
    places = np.flatnonzero(eligible)  # many times faster than `nonzero` in three dimensions
    order = np.argsort(-scores.reshape(-1)[places], kind="stable")
    pictures, classes, anchors = np.unravel_index(places[order], scores.shape)
    return pictures, classes, anchors


def _rank_within(groups: _Index) -> _Index:
    """Answer for each entry how many of its group stand before it."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return ranks


def _survivors(
    boxes: npt.NDArray[np.float64],
    groups: _Index,
    pictures: _Index,
    iou_threshold: float,
    limit: int,
) -> _Index:
    """Answer the numbers of the boxes that no better survivor of their group covers, in order.

    `boxes` (N, 4) come best first. No more than is needed for `limit` of each picture.
    """
    is_kept = np.zeros(len(boxes), np.bool_)
    _, group = np.unique(groups, return_inverse=True)
    alive = np.arange(len(boxes))
    area = _area(boxes)
    best_of = np.empty(len(boxes), np.intp)
    for _ in range(limit):
        if not len(alive):
            break
        best_of[group[alive[::-1]]] = alive[::-1]  # the first of each group is written last
        best = best_of[group[alive]]
        is_kept[best] = True
        low = np.maximum(boxes[alive, :2], boxes[best, :2])
        high = np.minimum(boxes[alive, 2:], boxes[best, 2:])
        shared = np.clip(high - low, 0, None).prod(axis=1)
        is_covered = shared > iou_threshold * (area[alive] + area[best] - shared)
        alive = alive[~is_covered & (alive != best)]
        alive = _still_wanted(alive, pictures, np.flatnonzero(is_kept), limit)
    return np.flatnonzero(is_kept)


def _still_wanted(alive: _Index, pictures: _Index, kept: _Index, limit: int) -> _Index:
    """Leave out boxes of pictures that have `limit` better survivors already."""
    if len(kept) < limit:
        return alive
    is_limit = _rank_within(pictures[kept]) == limit - 1
    last = np.full(int(pictures.max(initial=0)) + 1, len(pictures))
    last[pictures[kept[is_limit]]] = kept[is_limit]
    return alive[alive < last[pictures[alive]]]


def _area(boxes: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(np.clip(boxes[:, 2:] - boxes[:, :2], 0, None).prod(axis=1))
