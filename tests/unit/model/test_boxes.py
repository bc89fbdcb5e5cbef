"""Raw outputs become detections; suppression equals the plain algorithm on every input."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from inspectd.errors import ModelFault
from inspectd.model.boxes import decode, suppress
from inspectd.model.layout import FOUND_ROWS_MAX, split
from inspectd.model.spec import LetterBox, ModelSpec, Nms, Resize

from .test_geometry import model

Floats = npt.NDArray[np.float32]


def share(one: npt.NDArray[Any], two: npt.NDArray[Any]) -> float:
    """Intersection over union of two boxes; 0 when they have no area."""
    width = max(min(one[2], two[2]) - max(one[0], two[0]), 0.0)
    height = max(min(one[3], two[3]) - max(one[1], two[1]), 0.0)
    areas = sum(max(b[2] - b[0], 0.0) * max(b[3] - b[1], 0.0) for b in (one, two))
    union = areas - width * height
    return float(width * height / union) if union > 0 else 0.0


def plainly(boxes: Floats, scores: Floats, nms: Nms) -> list[tuple[int, int]]:
    """Greedy suppression as textbooks write it: (anchor, class), best first."""
    wide = boxes.astype(np.float64)
    candidates = []
    for number, row in enumerate(scores):
        for anchor, score in enumerate(row):
            is_best = number == int(np.argmax(scores[:, anchor]))
            if score > nms.score_threshold and (is_best or not nms.class_agnostic):
                candidates.append((-float(score), number, anchor))
    kept: list[tuple[int, int]] = []
    met: dict[int, int] = {}
    for _, number, anchor in sorted(candidates):
        group = 0 if nms.class_agnostic else number
        met[group] = met.get(group, 0) + 1
        if 0 <= nms.top_k < met[group]:
            continue
        rivals = [a for a, c in kept if nms.class_agnostic or c == number]
        if all(share(wide[anchor], wide[rival]) <= nms.iou_threshold for rival in rivals):
            kept.append((anchor, number))
    return kept if nms.keep_top_k < 0 else kept[: nms.keep_top_k]


# Few distinct values: ties, identical boxes, boxes without area and turned inside out are common.
SIDES = st.sampled_from([np.float32(side) for side in (0, 1, 2, 3, 5, 8)])
SCORES = st.sampled_from([np.float32(score) for score in (0, 0.1, 0.5, 0.5, 0.9)])
LIMITS = st.builds(
    Nms,
    iou_threshold=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    score_threshold=st.sampled_from([0.0, 0.1, 0.6]),
    top_k=st.sampled_from([-1, 1, 3]),
    keep_top_k=st.sampled_from([-1, 0, 2, 100]),
    class_agnostic=st.booleans(),
)


@given(st.data(), st.integers(0, 9), st.integers(1, 3), LIMITS)
def test_suppression_equals_the_plain_algorithm(
    data: st.DataObject, anchors: int, classes: int, nms: Nms
) -> None:
    """Boxes, order and ties."""
    boxes = data.draw(arrays(np.float32, (anchors, 4), elements=SIDES))
    scores = data.draw(arrays(np.float32, (classes, anchors), elements=SCORES))
    chosen, numbers = suppress(boxes, scores, nms)
    assert list(zip(chosen.tolist(), numbers.tolist(), strict=True)) == plainly(boxes, scores, nms)


def test_suppression_equals_the_plain_algorithm_on_many_boxes() -> None:
    """Random boxes as a network gives them: hundreds, in clusters."""
    random = np.random.default_rng(11)
    corners = random.uniform(0, 100, (400, 2)).round(1)
    boxes = np.hstack([corners, corners + random.uniform(5, 40, (400, 2))]).astype(np.float32)
    scores = random.uniform(0, 1, (3, 400)).astype(np.float32)
    for nms in (Nms(score_threshold=0.5), Nms(score_threshold=0.3, class_agnostic=True, top_k=50)):
        chosen, numbers = suppress(boxes, scores, nms)
        found = list(zip(chosen.tolist(), numbers.tolist(), strict=True))
        assert found == plainly(boxes, scores, nms)


def detector(**values: Any) -> ModelSpec:
    """Two classes, stretched to 32 x 64 pixels."""
    spec = model(Resize(32, 64, keep_ratio=False, interpolation=1), size=(32, 64))
    return replace(spec, labels=("Bottle", "Cap"), **values)


RAW = {
    "boxes": np.array([[8, 4, 16, 8], [9, 4, 16, 8], [-9, -9, 70, 40]], np.float32),
    "scores": np.array([[0.9, 0.8, 0.0], [0.0, 0.0, 0.7]], np.float32),
}


def test_boxes_in_tensor_pixels_are_taken_back_to_the_frame() -> None:
    """A frame of twice the size, without `scale_factor` in the program; cut at the edges."""
    found = decode(detector(), RAW, 128, 64)
    assert [(one.label, one.x1, one.y1, one.x2, one.y2) for one in found] == [
        ("Bottle", 16, 8, 32, 16),
        ("Cap", 0, 0, 128, 64),
    ]
    assert [round(one.score, 3) for one in found] == [0.9, 0.7]


def test_boxes_in_frame_pixels_stay() -> None:
    """The program divided by `scale_factor` already."""
    first = decode(detector(inputs=("image", "scale_factor")), RAW, 128, 64)[0]
    assert (first.x1, first.y1, first.x2, first.y2) == (8, 4, 16, 8)


def test_boxes_in_the_border_are_left_out() -> None:
    """A letterbox's grey is no part."""
    spec = replace(model(LetterBox(64, 64, 128), size=(64, 64)), labels=("Bottle", "Cap"))
    raw = {
        "boxes": np.array([[0, 0, 60, 10], [0, 0, 60, 20]], np.float32),
        "scores": np.array([[0.9, 0.0], [0.0, 0.9]], np.float32),
    }
    (one,) = decode(spec, raw, 128, 64)
    assert (one.label, one.y1, one.y2) == ("Cap", 0, 8)


def test_rows_of_a_program_that_suppressed_are_taken_as_they_are() -> None:
    """Best first; class -1 fills up an empty answer and is nothing."""
    rows = [[1, 0.5, 1, 2, 3, 4], [0, 0.9, 5, 6, 7, 8], [-1, 0.0, 0, 0, 0, 0]]
    spec = detector(layout="found", inputs=("image", "scale_factor"))
    found = decode(spec, {"found": np.array(rows, np.float32)}, 64, 32)
    assert [(one.label, one.x1) for one in found] == [("Cap", 1), ("Bottle", 5)][::-1]


def test_nothing_found_is_an_empty_list() -> None:
    """In both layouts."""
    empty = {"boxes": np.zeros((3, 4), np.float32), "scores": np.zeros((2, 3), np.float32)}
    assert decode(detector(), empty, 64, 32) == []
    assert decode(detector(layout="found"), {"found": np.empty((0, 6), np.float32)}, 64, 32) == []


@pytest.mark.parametrize(
    ("layout", "raw", "word"),
    [
        ("scores", {**RAW, "scores": RAW["scores"] * np.float32(np.nan)}, "not finite"),
        ("scores", {**RAW, "boxes": RAW["boxes"] + np.float32(np.inf)}, "not finite"),
        ("scores", {**RAW, "scores": RAW["scores"][:1]}, "expected"),
        ("scores", {}, "expected"),
        ("found", RAW, "expected"),
        ("found", {"found": np.array([[7, 0.9, 0, 0, 1, 1]], np.float32)}, "class 7"),
    ],
)
def test_outputs_that_cannot_be_the_models_are_faults(
    layout: str, raw: dict[str, Floats], word: str
) -> None:
    """Never an empty list: a part must not pass because its outputs were nonsense."""
    with pytest.raises(ModelFault, match=word):
        decode(detector(layout=layout), raw, 64, 32)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6))
def test_rows_of_a_batch_are_split_by_their_counts(counts: list[int]) -> None:
    """Each frame gets its own rows, in order, none twice."""
    total = sum(counts)
    rows = np.arange(total * 6, dtype=np.float32).reshape(total, 6)
    frames = split("found", [rows, np.array(counts, np.int32)], len(counts))
    assert [len(frame["found"]) for frame in frames] == counts
    np.testing.assert_array_equal(np.concatenate([frame["found"] for frame in frames]), rows)


@pytest.mark.parametrize(
    "outputs",
    [
        [np.zeros((3, 6)), np.array([1, 3])],
        [np.zeros((3, 6)), np.array([3])],
        [np.zeros((3, 6)), np.array([4, -1])],
        [np.zeros((FOUND_ROWS_MAX + 1, 6)), np.array([0, FOUND_ROWS_MAX + 1])],
    ],
)
def test_counts_that_do_not_fit_are_refused(outputs: list[npt.NDArray[Any]]) -> None:
    """Rows would go to the wrong part."""
    with pytest.raises(ValueError, match="rows"):
        split("found", outputs, 2)


def test_outputs_of_another_batch_are_refused() -> None:
    """A batch of two cannot answer three parts."""
    outputs = [np.zeros((2, 5, 4)), np.zeros((2, 1, 5))]
    assert len(split("scores", outputs, 2)) == 2
    with pytest.raises(ValueError, match="batch of 3"):
        split("scores", outputs, 3)
