"""Which anchor answers for which labelled box."""

import numpy as np
from numpy.typing import NDArray

from inspectd.train.assign import Assigned, assign
from inspectd.train.network import anchor_centres

_SIDE = 64
_CENTRES = np.array(anchor_centres(_SIDE, _SIDE, [8])[0], np.float32)


def _assign(
    labelled: list[list[float]],
    boxes: NDArray[np.float32] | None = None,
    ignored: list[bool] | None = None,
    top: int = 9,
) -> Assigned:
    around = np.concatenate([_CENTRES - 10, _CENTRES + 10], 1).astype(np.float32)
    scores = np.full((2, len(_CENTRES)), 0.5, np.float32)
    return assign(
        scores,
        around if boxes is None else boxes,
        _CENTRES,
        labelled=np.array(labelled, np.float32).reshape(-1, 4),
        labels=np.zeros(len(labelled), np.int64),
        ignored=np.array(ignored or [False] * len(labelled), bool),
        top=top,
    )


def test_no_label_makes_everything_background() -> None:
    """An empty picture is a lesson too."""
    answer = _assign([])
    assert (answer.box_of == -1).all()
    assert not answer.quality.any()
    assert answer.counted.all()


def test_only_anchors_inside_a_box_answer_for_it() -> None:
    """The centre must lie in the box."""
    answer = _assign([[16, 16, 40, 40]])
    taken = _CENTRES[answer.box_of == 0]
    assert len(taken) == 9
    assert ((taken > 16) & (taken < 40)).all()


def test_the_best_aligned_anchor_gets_its_overlap_as_quality() -> None:
    """The target score of the best anchor is the IoU it reaches, so scores rank by location."""
    boxes = np.concatenate([_CENTRES - 4, _CENTRES + 4], 1).astype(np.float32)
    best = int(((_CENTRES - 28) ** 2).sum(1).argmin())
    boxes[best] = [16, 16, 40, 38]
    answer = _assign([[16, 16, 40, 40]], boxes)
    assert answer.quality.argmax() == best
    assert np.isclose(answer.quality[best], 22 / 24, atol=1e-5)


def test_a_box_gets_at_most_top_anchors() -> None:
    """A large box does not drown a small one."""
    assert (_assign([[0, 0, 64, 64]], top=5).box_of == 0).sum() == 5


def test_a_thin_box_without_a_centre_gets_its_nearest_anchor() -> None:
    """A defect thinner than the stride is learnt as well."""
    answer = _assign([[16.5, 17, 19.5, 40]])
    assert (answer.box_of == 0).sum() == 1


def test_an_anchor_in_two_boxes_answers_for_the_one_it_overlaps_more() -> None:
    """One anchor, one box."""
    answer = _assign([[0, 0, 64, 64], [18, 18, 38, 38]])
    inner = int(((_CENTRES - 28) ** 2).sum(1).argmin())
    assert answer.box_of[inner] == 1


def test_an_ignored_box_is_neither_object_nor_background() -> None:
    """Objects cut by the crop teach nothing."""
    answer = _assign([[16, 16, 40, 40]], ignored=[True])
    inside = ((_CENTRES > 16) & (_CENTRES < 40)).all(1)
    assert (answer.box_of == -1).all()
    assert (answer.counted == ~inside).all()
