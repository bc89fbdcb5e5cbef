"""Box arithmetic of training and evaluation, in numpy.

The daemon has its own, faster one in `inspectd.stages.infer.boxes`; neither imports the other.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["decode", "pairwise_iou", "select"]


def decode(
    distances: NDArray[np.float32], centres: NDArray[np.float32], strides: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Turn distances (..., 4, A) in strides into boxes (..., A, 4), x1 y1 x2 y2 in input pixels."""
    sides = np.swapaxes(distances, -1, -2) * strides[:, None]
    return np.concatenate([centres - sides[..., :2], centres + sides[..., 2:]], -1).astype(
        np.float32
    )


def pairwise_iou(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    """Answer the overlap (N, M) of boxes `a` (N, 4) with `b` (M, 4), intersection over union."""
    low = np.maximum(a[:, None, :2], b[None, :, :2])
    high = np.minimum(a[:, None, 2:], b[None, :, 2:])
    inter = np.clip(high - low, 0, None).prod(-1)
    area_a = np.clip(a[:, 2:] - a[:, :2], 0, None).prod(-1)
    area_b = np.clip(b[:, 2:] - b[:, :2], 0, None).prod(-1)
    iou: NDArray[np.float32] = inter / np.maximum(area_a[:, None] + area_b[None] - inter, 1e-9)
    return iou


def select(
    boxes: NDArray[np.float32],
    scores: NDArray[np.float32],
    nms_iou: float,
    min_score: float,
    keep: int = 100,
) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.float32]]:
    """Suppress doubles class by class.

    Args:
        boxes: (A, 4), x1 y1 x2 y2.
        scores: (C, A).
        nms_iou: A box that overlaps a better one of its class by more is dropped.
        min_score: Boxes below are dropped first.
        keep: At most this many answers, best first.

    Returns:
        Boxes (N, 4), classes (N,) and scores (N,), best score first.
    """
    found: list[tuple[float, int, int]] = []
    for label, row in enumerate(scores):
        index = np.flatnonzero(row >= min_score)
        index = index[np.argsort(-row[index], kind="stable")][:400]
        overlap = pairwise_iou(boxes[index], boxes[index])
        alive = np.ones(len(index), bool)
        for rank in range(len(index)):
            if alive[rank]:
                alive[rank + 1 :] &= overlap[rank, rank + 1 :] <= nms_iou
        found += [(float(row[i]), label, int(i)) for i in index[alive]]
    found.sort(key=lambda item: -item[0])
    found = found[:keep]
    index = np.array([i for _, _, i in found], np.int64)
    labels = np.array([label for _, label, _ in found], np.int64)
    return boxes[index].reshape(-1, 4), labels, np.array([s for s, _, _ in found], np.float32)
