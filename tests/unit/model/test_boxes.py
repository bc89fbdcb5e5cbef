"""Raw outputs become detections; suppression equals the plain algorithm on every input."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from inspectd.config.schema import Tiles
from inspectd.errors import ModelFault
from inspectd.model.boxes import decode, decode_tiles
from inspectd.model.nms import suppress, suppress_batch
from inspectd.model.spec import LetterBox, ModelSpec, Nms, Resize
from inspectd.model.tiles import Tiling

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


@given(st.data(), st.integers(1, 4), st.integers(0, 7), st.integers(1, 3), LIMITS)
def test_a_batch_is_suppressed_as_its_pictures_one_by_one(
    data: st.DataObject, pictures: int, anchors: int, classes: int, nms: Nms
) -> None:
    """Pictures of a batch know nothing of each other."""
    boxes = data.draw(arrays(np.float32, (pictures, anchors, 4), elements=SIDES))
    scores = data.draw(arrays(np.float32, (pictures, classes, anchors), elements=SCORES))
    chosen = suppress_batch(boxes, scores, nms)
    assert len(chosen) == pictures
    for at, (these, numbers) in enumerate(chosen):
        found = list(zip(these.tolist(), numbers.tolist(), strict=True))
        assert found == plainly(boxes[at], scores[at], nms)


def test_a_frame_in_tiles_is_decoded_in_frame_pixels() -> None:
    """Each tile's boxes move to where the tile lies; the seam's double is one object."""
    spec = detector(layout="scores")
    tiling = Tiling.of(Tiles(size_px=64, overlap_px=16), 112, 64)
    boxes = np.zeros((2, 2, 4), np.float32)
    scores = np.zeros((2, 2, 2), np.float32)
    boxes[0, 0], scores[0, 0, 0] = (50, 8, 60, 16), 0.9  # seen by the left tile
    boxes[1, 0], scores[1, 0, 0] = (2, 8, 12, 16), 0.8  # the same object in the right tile
    boxes[1, 1], scores[1, 1, 1] = (20, 0, 40, 8), 0.7
    found = decode_tiles(spec, {"boxes": boxes, "scores": scores}, tiling)
    assert [(d.label, d.score > 0.85, d.x1, d.y1, d.x2, d.y2) for d in found] == [
        ("Bottle", True, 50, 16, 60, 32),
        ("Cap", False, 68, 0, 88, 16),
    ]


def test_broken_outputs_of_one_tile_are_a_fault_of_the_frame() -> None:
    """A tile that cannot be read must not pass as empty."""
    spec = detector(layout="scores")
    tiling = Tiling.of(Tiles(size_px=64, overlap_px=16), 112, 64)
    boxes = np.zeros((2, 2, 4), np.float32)
    boxes[1, 0, 0] = np.nan
    with pytest.raises(ModelFault, match="not finite"):
        decode_tiles(spec, {"boxes": boxes, "scores": np.zeros((2, 2, 2), np.float32)}, tiling)


def detector(**values: Any) -> ModelSpec:
    """Two classes, stretched to 32 x 64 pixels."""
    spec = model(Resize(32, 64, keep_ratio=False, interpolation=1), size=(32, 64))
    return replace(spec, labels=("Bottle", "Cap"), **values)


@pytest.mark.parametrize(
    "boxes",
    [
        [[0, 0, 8, 8]] * 4,
        [[0, 0, 8, 8], [1, 1, 7, 7], [2, 2, 6, 6], [3, 3, 5, 5]],
        [[3, 3, 3, 3], [3, 3, 3, 3], [0, 0, 8, 8], [5, 5, 1, 1]],
        [[0, 0, 8, 8], [4, 0, 12, 8], [8, 0, 16, 8], [12, 0, 20, 8]],
    ],
    ids=["identical", "nested", "no area", "chain"],
)
@pytest.mark.parametrize("is_agnostic", [False, True])
def test_adversarial_boxes_are_suppressed_as_by_the_plain_algorithm(
    boxes: list[list[float]], *, is_agnostic: bool
) -> None:
    """Equal scores everywhere, at every limit: the box's place in the output decides."""
    wide = np.array(boxes, np.float32)
    scores = np.full((2, len(boxes)), 0.5, np.float32)
    for share_ in (0.0, 1 / 3, 0.5, 1.0):
        nms = Nms(iou_threshold=share_, class_agnostic=is_agnostic)
        chosen, numbers = suppress(wide, scores, nms)
        found = list(zip(chosen.tolist(), numbers.tolist(), strict=True))
        assert found == plainly(wide, scores, nms)


@given(st.data(), st.integers(0, 9), LIMITS, st.integers(4, 200), st.integers(4, 200))
def test_decoding_equals_the_plain_algorithm(
    data: st.DataObject, anchors: int, nms: Nms, width: int, height: int
) -> None:
    """Suppression, then back to the frame, cut at its edges, what lies outside left out."""
    boxes = data.draw(arrays(np.float32, (anchors, 4), elements=st.floats(-40, 90, width=32)))
    scores = data.draw(arrays(np.float32, (2, anchors), elements=SCORES))
    wanted = []
    for anchor, number in plainly(boxes, scores, nms):
        across, down = width / 64, height / 32
        x1, y1, x2, y2 = boxes[anchor].astype(np.float64) * [across, down, across, down]
        if x1 < width and y1 < height and x2 > 0 and y2 > 0:
            sides = (max(x1, 0), max(y1, 0), min(x2, width), min(y2, height))
            wanted.append((number, scores[number, anchor], *sides))
    found = decode(detector(nms=nms), {"boxes": boxes, "scores": scores}, width, height)
    rows = [
        (("Bottle", "Cap").index(one.label), one.score, one.x1, one.y1, one.x2, one.y2)
        for one in found
    ]
    near_edge = [side for row in wanted for side in row[2:]]
    assume(all(side == 0 or abs(side) > 1e-3 for side in near_edge))
    assert len(rows) == len(wanted)
    np.testing.assert_allclose(
        np.array(rows).reshape(-1, 6), np.array(wanted).reshape(-1, 6), rtol=1e-5, atol=1e-3
    )


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
