"""How wrong the network is on a batch.

Class scores are pulled towards the IoU-aware quality by the varifocal loss (arXiv:2008.13367,
equation 2); boxes by the generalised IoU loss (arXiv:1902.09630) with a small relative distance
term, which still pulls when a box is nearly right.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import paddle
from numpy.typing import NDArray
from paddle.nn import functional as fn

from inspectd.train.assign import assign
from inspectd.train.boxes import decode

__all__ = ["Targets", "detection_loss", "giou", "make_targets"]

_larger: Any = paddle.maximum
_smaller: Any = paddle.minimum
_NEGATIVE_WEIGHT = 0.75
_FOCUS = 2.0
"""Alpha and gamma of the varifocal loss: paper, section 3.2."""
_BOX_WEIGHT = 2.5
_DISTANCE_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Targets:
    """What a batch should have answered."""

    quality: NDArray[np.float32]
    """(B, C, A), 0..1."""
    counted: NDArray[np.float32]
    """(B, 1, A), 0 where the class score is not judged."""
    anchors: NDArray[np.int64]
    """(P,), positives as flat index into B * A."""
    boxes: NDArray[np.float32]
    """(P, 4), labelled boxes of the positives, input pixels."""
    weights: NDArray[np.float32]
    """(P,), quality of the positives."""


def make_targets(
    logits: NDArray[np.float32],
    distances: NDArray[np.float32],
    centres: NDArray[np.float32],
    strides: NDArray[np.float32],
    labelled: list[tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.bool_]]],
) -> Targets:
    """Assign every picture; `labelled` has boxes, classes and ignore flags of each."""
    batch, classes, anchors = logits.shape
    scores = 1.0 / (1.0 + np.exp(-logits))
    boxes = decode(distances, centres, strides)
    quality = np.zeros((batch, classes, anchors), np.float32)
    counted = np.ones((batch, 1, anchors), np.float32)
    where, wanted, weights = [], [], []
    for row, (truth, labels, ignored) in enumerate(labelled):
        answer = assign(
            scores[row], boxes[row], centres, labelled=truth, labels=labels, ignored=ignored
        )
        taken = np.flatnonzero(answer.box_of >= 0)
        owner = answer.box_of[taken]
        quality[row, labels[owner], taken] = answer.quality[taken]
        counted[row, 0] = answer.counted
        where.append(row * anchors + taken)
        wanted.append(truth[owner].reshape(-1, 4))
        weights.append(answer.quality[taken])
    return Targets(
        quality,
        counted,
        np.concatenate(where),
        np.concatenate(wanted).astype(np.float32),
        np.concatenate(weights),
    )


def giou(a: Any, b: Any) -> Any:
    """Answer the generalised IoU (P,) of paired boxes (P, 4), x1 y1 x2 y2."""
    low, high = _larger(a[:, :2], b[:, :2]), _smaller(a[:, 2:], b[:, 2:])
    inter = paddle.prod(fn.relu(high - low), -1)
    area = paddle.prod(a[:, 2:] - a[:, :2], -1) + paddle.prod(b[:, 2:] - b[:, :2], -1) - inter
    around = _larger(a[:, 2:], b[:, 2:]) - _smaller(a[:, :2], b[:, :2])
    hull = paddle.prod(around, -1) + 1e-6
    return inter / (area + 1e-6) - (hull - area) / hull


def detection_loss(
    logits: Any,
    distances: Any,
    centres: NDArray[np.float32],
    strides: NDArray[np.float32],
    *,
    targets: Targets,
) -> Any:
    """Answer the loss summed over a batch, a scalar.

    The caller divides by the summed quality of the whole effective batch, so that accumulated small
    batches give the gradient of a large one.
    """
    quality = paddle.to_tensor(targets.quality)
    score = fn.sigmoid(logits.detach())
    weight = paddle.where(quality > 0, quality, _NEGATIVE_WEIGHT * score**_FOCUS)
    weight = weight * paddle.to_tensor(targets.counted)
    loss = (fn.binary_cross_entropy_with_logits(logits, quality, reduction="none") * weight).sum()
    if len(targets.anchors):
        anchors = centres.shape[0]
        index = paddle.to_tensor(targets.anchors)
        flat = paddle.transpose(distances, [0, 2, 1]).reshape([-1, 4])
        sides = paddle.gather(flat, index)
        point = paddle.to_tensor(centres[targets.anchors % anchors])
        reach = paddle.to_tensor(strides[targets.anchors % anchors][:, None])
        boxes = paddle.concat([point - sides[:, :2] * reach, point + sides[:, 2:] * reach], -1)
        truth = paddle.to_tensor(targets.boxes)
        size = (targets.boxes[:, 2:] - targets.boxes[:, :2]).clip(1)
        relative = paddle.abs(boxes - truth) / paddle.to_tensor(np.concatenate([size, size], 1))
        part = _BOX_WEIGHT * (1 - giou(boxes, truth)) + _DISTANCE_WEIGHT * relative.sum(-1)
        loss = loss + (part * paddle.to_tensor(targets.weights)).sum()
    return loss
