"""Box arithmetic of training and evaluation."""

import numpy as np

from inspectd.train.boxes import decode, pairwise_iou, select


def test_decode_goes_out_from_the_centre_by_strides() -> None:
    """Distances are left, top, right, bottom in strides."""
    distances = np.array([[1.0], [2.0], [3.0], [0.5]], np.float32)
    boxes = decode(distances, np.array([[20.0, 40.0]], np.float32), np.array([8.0], np.float32))
    assert boxes.tolist() == [[12.0, 24.0, 44.0, 44.0]]


def test_overlap_of_known_boxes() -> None:
    """Half of one in the other: 50 / 150."""
    a = np.array([[0, 0, 10, 10]], np.float32)
    b = np.array([[5, 0, 15, 10], [20, 20, 30, 30], [0, 0, 10, 10]], np.float32)
    assert np.allclose(pairwise_iou(a, b), [[1 / 3, 0, 1]])


def test_a_double_of_the_same_class_goes_and_of_another_stays() -> None:
    """Suppression is class by class; answers come best first."""
    boxes = np.array([[0, 0, 10, 10], [1, 0, 11, 10], [50, 50, 60, 60]], np.float32)
    scores = np.array([[0.6, 0.9, 0.3], [0.8, 0.0, 0.0]], np.float32)
    kept, labels, values = select(boxes, scores, 0.5, 0.1)
    assert labels.tolist() == [0, 1, 0]
    assert np.allclose(values, [0.9, 0.8, 0.3])
    assert kept.tolist() == boxes[[1, 0, 2]].tolist()


def test_nothing_above_the_score_is_an_empty_answer() -> None:
    """Shapes stay when there is nothing."""
    kept, labels, values = select(
        np.zeros((3, 4), np.float32), np.zeros((2, 3), np.float32), 0.5, 0.1
    )
    assert kept.shape == (0, 4)
    assert labels.shape == values.shape == (0,)
