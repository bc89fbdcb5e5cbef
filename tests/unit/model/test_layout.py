"""A batch's outputs are taken apart so that each frame gets its own, or not at all."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.errors import ModelFault
from inspectd.model.layout import FOUND_ROWS_MAX, layout_of, raw_bytes_max, split

Arrays = list[npt.NDArray[Any]]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6), st.integers(0, 3))
def test_rows_of_a_batch_are_split_by_their_counts(counts: list[int], filled: int) -> None:
    """Each frame gets its own rows, in order, none twice; rows of class -1 behind are filling."""
    total = sum(counts)
    rows = np.arange(total * 6, dtype=np.float32).reshape(total, 6)
    filling = np.full((filled, 6), -1, np.float32)
    outputs = [np.vstack([rows, filling]), np.array(counts, np.int32)]
    frames = split("found", outputs, len(counts))
    assert [len(frame["found"]) for frame in frames] == counts
    np.testing.assert_array_equal(np.concatenate([frame["found"] for frame in frames]), rows)


@pytest.mark.parametrize(
    "outputs",
    [
        [np.zeros((3, 6)), np.array([1, 3])],
        [np.zeros((3, 6)), np.array([1, 1])],
        [np.zeros((3, 6)), np.array([3])],
        [np.zeros((3, 6)), np.array([4, -1])],
        [np.zeros((2, 5)), np.array([1, 1])],
        [np.full((1, 1), -1.0), np.array([0, 1])],
        [np.zeros(6), np.array([1, 0])],
        [np.zeros((FOUND_ROWS_MAX + 1, 6)), np.array([0, FOUND_ROWS_MAX + 1])],
    ],
    ids=["too many", "too few", "counts", "negative", "columns", "old filling", "flat", "flood"],
)
def test_counts_that_do_not_fit_are_refused(outputs: Arrays) -> None:
    """Rows would go to the wrong part, or to none: a defect would be lost."""
    with pytest.raises(ValueError, match="rows"):
        split("found", outputs, 2)


@given(st.integers(1, 4), st.integers(0, 5), st.integers(1, 3))
def test_scores_of_a_batch_are_split_by_frame(batch: int, anchors: int, classes: int) -> None:
    """Frame i is row i of both outputs, without a copy."""
    boxes = np.random.default_rng(1).random((batch, anchors, 4))
    scores = np.random.default_rng(2).random((batch, classes, anchors))
    frames = split("scores", [boxes, scores], batch)
    assert len(frames) == batch
    for at, frame in enumerate(frames):
        np.testing.assert_array_equal(frame["boxes"], boxes[at])
        np.testing.assert_array_equal(frame["scores"], scores[at])
        assert frame["boxes"].base is not None


@pytest.mark.parametrize(
    "outputs",
    [
        [np.zeros((2, 5, 4)), np.zeros((2, 1, 5))],
        [np.zeros((3, 5, 4)), np.zeros((2, 1, 5))],
        [np.zeros((3, 5, 4)), np.zeros((3, 5, 1))],
        [np.zeros((3, 5, 5)), np.zeros((3, 1, 5))],
        [np.zeros((3, 5)), np.zeros((3, 1, 5))],
        [np.zeros((3, 5, 4)), np.zeros((3, 5))],
        [np.zeros(()), np.zeros(())],
    ],
)
def test_outputs_of_another_batch_are_refused(outputs: Arrays) -> None:
    """A batch of two cannot answer three parts; other shapes are no answer at all."""
    with pytest.raises(ValueError, match="batch of 3"):
        split("scores", outputs, 3)


@pytest.mark.parametrize("layout", ["scores", "found"])
def test_a_missing_output_is_refused(layout: Any) -> None:
    """In the one way that the inference process turns into a fault of the batch."""
    with pytest.raises(ValueError, match="expected 2"):
        split(layout, [np.zeros((0, 6))], 1)


@pytest.mark.parametrize(
    ("outputs", "layout"),
    [
        ([("a", (-1, 6)), ("b", (-1,))], "found"),
        ([("a", (-1, 8400, 4)), ("b", (-1, 80, 8400))], "scores"),
        ([("a", (-1, -1, 4)), ("b", (-1, -1, -1))], "scores"),
        ([("a", (-1, 6)), ("b", (-1,)), ("masks", (-1, 640, 640))], "found"),
    ],
)
def test_the_layout_is_told_by_the_shapes(
    outputs: list[tuple[str, tuple[int, ...]]], layout: str
) -> None:
    """Names differ between exporters; what comes after the pair is passed over."""
    assert layout_of("f", outputs) == layout
    assert raw_bytes_max(layout_of("f", outputs), outputs) > 0


def test_one_output_is_no_detector() -> None:
    """The file and what it answers are in the message."""
    with pytest.raises(ModelFault, match=r"f: answers a \[-1, 6\]"):
        layout_of("f", [("a", (-1, 6))])
