"""An engine proves itself before it may judge."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from inspectd.errors import EngineRefused
from inspectd.frame import Detection
from inspectd.model.spec import ModelSpec, Nms, Normalize, Program, Resize
from inspectd.stages.infer.engine import Array, Batch
from inspectd.stages.infer.look import read_picture
from inspectd.stages.infer.selftest import (
    difference,
    prove,
    raw_difference,
    read_golden,
    write_golden,
)

FOUND = Detection("Cap", 0.9, 10, 10, 20, 20)


def spec(folder: Path) -> ModelSpec:
    """A model of 32 x 32 px with one class."""
    return ModelSpec(
        name="caps",
        arch="test",
        path=str(folder),
        config_path=str(folder / "infer_cfg.yml"),
        programs=(Program("json", "", ""),),
        labels=("Cap",),
        colour="rgb",
        ops=(
            Resize(32, 32, keep_ratio=False, interpolation=1),
            Normalize((0,) * 3, (1,) * 3, is_scale=True),
        ),
        tensor_shape=(3, 32, 32),
        inputs=("image",),
        outputs=(),
        layout="scores",
        draw_threshold=0.5,
        nms=Nms(),
        raw_bytes_max=1000,
        digest="0123456789ab",
    )


class Thresholding:
    """A real little detector: boxes the bright pixels of each frame; may be told to go wrong."""

    def __init__(self, *, shift_last: float = 0.0, score: float = 0.9) -> None:
        self._shift_last, self._score = shift_last, score

    def run(self, images: Batch, side: Mapping[str, Batch]) -> Sequence[Array]:
        """One anchor a frame, around what is brighter than half."""
        boxes = np.zeros((len(images), 1, 4), np.float32)
        scores = np.full((len(images), 1, 1), self._score, np.float32)
        for at, image in enumerate(images):
            rows, columns = np.nonzero(image[0] > 0.5)
            if len(rows):
                boxes[at, 0] = columns.min(), rows.min(), columns.max() + 1, rows.max() + 1
        if len(images) > 1:
            boxes[-1] += self._shift_last
        return boxes, scores

    def describe(self) -> Mapping[str, str]:
        """Nothing much."""
        return {"backend": "test"}


@pytest.fixture
def model(tmp_path: Path) -> ModelSpec:
    """A model with a golden picture and stored outputs."""
    picture = np.zeros((32, 32, 3), np.uint8)
    picture[8:20, 4:16] = 255
    cv2.imwrite(str(tmp_path / "golden.png"), picture)
    made = spec(tmp_path)
    write_golden(made, Thresholding(), tmp_path / "golden.png")
    return made


def test_the_same_engine_proves_itself(model: ModelSpec) -> None:
    """Alone and at each place of a batch."""
    assert prove(model, Thresholding(), 4)


def test_an_engine_that_is_wrong_only_at_the_last_place_is_refused(model: ModelSpec) -> None:
    """Seen in the field with FP16: all frames right but the last of the batch."""
    with pytest.raises(EngineRefused, match="at place 4 of 4"):
        prove(model, Thresholding(shift_last=2), 4)


def test_another_score_is_refused(model: ModelSpec) -> None:
    """Boxes alone do not prove a detector."""
    with pytest.raises(EngineRefused, match="missing"):
        prove(model, Thresholding(score=0.7), 1)


def test_golden_outputs_of_another_model_are_refused(model: ModelSpec) -> None:
    """The remedy is the command that stores them again."""
    with pytest.raises(EngineRefused, match="inspectd model golden"):
        read_golden(replace(model, digest="ffffffffffff"))


def test_without_golden_outputs_the_backends_are_compared(tmp_path: Path) -> None:
    """Nothing is stored, so the answer is False; a difference is refused all the same."""
    bare = spec(tmp_path)
    assert not prove(bare, Thresholding(), 4, Thresholding())
    with pytest.raises(EngineRefused):
        prove(bare, Thresholding(score=0.7), 4, Thresholding())


def test_an_empty_golden_picture_proves_nothing(tmp_path: Path, model: ModelSpec) -> None:
    """A picture in which nothing is found may not be stored."""
    with pytest.raises(EngineRefused, match="nothing is found"):
        write_golden(model, Thresholding(score=0.1), tmp_path / "golden.png")


@pytest.mark.parametrize(
    ("found", "word"),
    [
        ([], "missing"),
        ([FOUND, Detection("Cap", 0.8, 0, 0, 5, 5)], "too many"),
        ([replace(FOUND, x1=10.6)], "missing"),
        ([replace(FOUND, label="Bottle")], "missing"),
    ],
)
def test_a_difference_is_said_in_words(found: list[Detection], word: str) -> None:
    """What is missing, and what is too many."""
    assert difference([FOUND], found, 0.5).startswith(word)


def test_rounding_is_no_difference() -> None:
    """Half a pixel, a thousandth of score, and what is under the threshold."""
    near = replace(FOUND, x1=10.4, score=0.9009)
    faint = Detection("Cap", 0.2, 1, 1, 2, 2)
    assert difference([FOUND], [near, faint], 0.5) == ""


def test_a_picture_that_is_none_is_named(tmp_path: Path) -> None:
    """The file is in the message."""
    with pytest.raises(Exception, match=r"gone\.png"):
        read_picture(tmp_path / "gone.png")


def test_backends_that_find_nothing_are_compared_all_the_same(tmp_path: Path) -> None:
    """Finding nothing twice proves nothing: scores below every limit must agree as well."""
    bare = spec(tmp_path)
    assert not prove(bare, Thresholding(score=0.1), 2, Thresholding(score=0.1))
    with pytest.raises(EngineRefused, match="`scores` differ"):
        prove(bare, Thresholding(score=0.1), 2, Thresholding(score=0.2))


def test_values_that_are_not_finite_are_refused(model: ModelSpec) -> None:
    """Some graphs give NaN with one backend and numbers with another."""
    with pytest.raises(EngineRefused, match="not finite"):
        prove(model, Thresholding(score=float("nan")), 1)


def test_boxes_of_another_place_are_told_by_how_much() -> None:
    """The largest difference is in the message."""
    boxes = np.zeros((2, 4), np.float32)
    raw = {"boxes": boxes, "scores": np.zeros((1, 2), np.float32)}
    moved = {**raw, "boxes": boxes + np.float32(3)}
    assert raw_difference(raw, raw) == ""
    assert raw_difference(raw, moved) == "8 of 8 values in `boxes` differ, by 3"
