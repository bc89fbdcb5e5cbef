"""Which anchor answers for which labelled box.

Task-aligned assignment (TOOD, arXiv:2108.07755, section 3.2): among the anchors whose centre lies
in a box, the ones that already score and locate it best learn it, so ranking and location agree.
Done in numpy without gradients: a handful of boxes against a few thousand anchors.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspectd.train.boxes import pairwise_iou

__all__ = ["Assigned", "assign"]

_SCORE_POWER = 1.0
_IOU_POWER = 6.0
"""Powers of score and IoU in the alignment: TOOD, section 4.3 (alpha 1, beta 6)."""
_EPSILON = 1e-9


@dataclass(frozen=True, slots=True)
class Assigned:
    """Targets of one picture."""

    box_of: NDArray[np.int64]
    """(A,): index into the labelled boxes, -1 for background."""
    quality: NDArray[np.float32]
    """(A,): target score 0..1 of the assigned class, 0 for background."""
    counted: NDArray[np.bool_]
    """(A,): False where background must not be learnt (centre in an ignored box)."""


def assign(
    scores: NDArray[np.float32],
    boxes: NDArray[np.float32],
    centres: NDArray[np.float32],
    *,
    labelled: NDArray[np.float32],
    labels: NDArray[np.int64],
    ignored: NDArray[np.bool_],
    top: int = 9,
) -> Assigned:
    """Assign the anchors of one picture.

    Args:
        scores: (C, A), 0..1.
        boxes: (A, 4), x1 y1 x2 y2 as predicted now, in input pixels.
        centres: (A, 2), x y in input pixels.
        labelled: (N, 4), x1 y1 x2 y2; may be empty.
        labels: (N,), class of each labelled box.
        ignored: (N,), True for boxes that teach neither object nor background.
        top: Anchors a box gets at most.
    """
    anchors = len(centres)
    box_of = np.full(anchors, -1, np.int64)
    quality = np.zeros(anchors, np.float32)
    inside = _inside(centres, labelled)
    counted = np.asarray(~inside[ignored].any(axis=0), bool)
    real = np.flatnonzero(~ignored)
    if not len(real):
        return Assigned(box_of, quality, counted)
    inside = _with_nearest(inside[real], centres, labelled[real])
    iou = pairwise_iou(labelled[real], boxes) * inside
    alignment = scores[labels[real]] ** _SCORE_POWER * iou**_IOU_POWER
    chosen = _best(np.where(inside, alignment + _EPSILON, 0.0), top)
    rows = np.where(chosen, iou + _EPSILON, 0.0).argmax(axis=0)
    taken = chosen.any(axis=0)
    mine = chosen & taken & (np.arange(len(real))[:, None] == rows)
    aligned = np.where(mine, alignment, 0.0)
    peak = aligned.max(axis=1, keepdims=True)
    best_iou = np.where(mine, iou, 0.0).max(axis=1, keepdims=True)
    box_of[taken] = real[rows[taken]]
    quality[taken] = (aligned / (peak + _EPSILON**2) * best_iou)[rows[taken], np.flatnonzero(taken)]
    return Assigned(box_of, quality, counted | taken)


def _inside(centres: NDArray[np.float32], boxes: NDArray[np.float32]) -> NDArray[np.bool_]:
    x, y = centres[None, :, 0], centres[None, :, 1]
    edges = boxes[:, None, :]
    answer: NDArray[np.bool_] = (
        (x > edges[..., 0]) & (x < edges[..., 2]) & (y > edges[..., 1]) & (y < edges[..., 3])
    )
    return answer


def _with_nearest(
    inside: NDArray[np.bool_], centres: NDArray[np.float32], boxes: NDArray[np.float32]
) -> NDArray[np.bool_]:
    """Give a box that holds no centre (thinner than the stride) its nearest anchor."""
    for row in np.flatnonzero(~inside.any(axis=1)):
        middle = (boxes[row, :2] + boxes[row, 2:]) / 2
        inside[row, ((centres - middle) ** 2).sum(axis=1).argmin()] = True
    return inside


def _best(alignment: NDArray[np.float64], top: int) -> NDArray[np.bool_]:
    chosen = np.zeros(alignment.shape, bool)
    top = min(top, alignment.shape[1])
    columns = np.argpartition(-alignment, top - 1, axis=1)[:, :top]
    np.put_along_axis(chosen, columns, values=True, axis=1)
    return chosen & (alignment > 0)
