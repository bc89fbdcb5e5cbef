"""How wrong the network is on a batch."""

from typing import Any

import numpy as np
import paddle
from numpy.typing import NDArray

from inspectd.train.losses import detection_loss, giou, make_targets
from inspectd.train.network import anchor_centres

_CENTRES, _STRIDES = (np.array(v, np.float32) for v in anchor_centres(64, 64, [8]))
_TRUTH = np.array([[16, 16, 40, 40]], np.float32)
_NOTHING = np.zeros(1, bool)


def _loss(logits: NDArray[np.float32], distances: NDArray[np.float32]) -> float:
    labelled = [(_TRUTH, np.zeros(1, np.int64), _NOTHING)]
    targets = make_targets(logits, distances, _CENTRES, _STRIDES, labelled)
    loss = detection_loss(
        paddle.to_tensor(logits), paddle.to_tensor(distances), _CENTRES, _STRIDES, targets=targets
    )
    return float(loss) / max(float(targets.weights.sum()), 1e-6)


def _inside() -> NDArray[np.bool_]:
    return np.asarray(((_CENTRES > 16) & (_CENTRES < 40)).all(1), bool)


def _gradient(tensor: Any) -> NDArray[np.float32]:
    return np.abs(np.asarray(tensor.grad.numpy(), np.float32))


def _perfect() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    inside = _inside()
    logits = np.full((1, 2, len(_CENTRES)), -9.0, np.float32)
    logits[0, 0, inside] = 9.0
    sides = np.concatenate([_CENTRES - _TRUTH[0, :2], _TRUTH[0, 2:] - _CENTRES], 1) / 8
    return logits, np.where(inside[:, None], sides, 1).T[None].astype(np.float32)


def test_giou_of_equal_boxes_is_one_and_of_distant_boxes_negative() -> None:
    """The loss still pulls when boxes do not touch."""
    a = paddle.to_tensor([[0.0, 0.0, 10.0, 10.0], [0.0, 0.0, 10.0, 10.0]])
    b = paddle.to_tensor([[0.0, 0.0, 10.0, 10.0], [30.0, 0.0, 40.0, 10.0]])
    assert np.allclose(giou(a, b).numpy(), [1.0, -0.5], atol=1e-4)


def test_a_right_answer_costs_nearly_nothing() -> None:
    """Right boxes with sure scores: no pull left."""
    assert _loss(*_perfect()) < 0.01


def test_a_missed_object_a_false_call_and_a_shifted_box_all_cost() -> None:
    """Each kind of fault raises the loss by itself."""
    logits, distances = _perfect()
    base = _loss(logits, distances)
    missed = np.full_like(logits, -9.0)
    false_call = logits.copy()
    false_call[0, 1, 0] = 9.0
    shifted = distances * np.array([0.5, 1, 1.5, 1], np.float32)[None, :, None]
    assert _loss(missed, distances) > base + 1
    assert _loss(false_call, distances) > base + 0.1
    assert _loss(logits, shifted) > base + 0.1


def test_gradients_reach_scores_and_distances() -> None:
    """Both heads are taught; anchors outside the box get no distance gradient."""
    logits = paddle.full([1, 2, len(_CENTRES)], -2.0)
    distances = paddle.full([1, 4, len(_CENTRES)], 1.5)
    logits.stop_gradient = distances.stop_gradient = False
    labelled = [(_TRUTH, np.zeros(1, np.int64), _NOTHING)]
    targets = make_targets(logits.numpy(), distances.numpy(), _CENTRES, _STRIDES, labelled)
    detection_loss(logits, distances, _CENTRES, _STRIDES, targets=targets).backward()
    inside = _inside()
    assert _gradient(logits).sum() > 0
    moved = _gradient(distances)[0].sum(0) > 0
    assert moved.any()
    assert not moved[~inside].any()
