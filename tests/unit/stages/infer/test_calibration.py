"""Calibration pictures are laid out as the station does it, in full batches."""

import shutil
from pathlib import Path

import cv2
import numpy as np
import pytest

from inspectd.config.schema import Tiles
from inspectd.errors import EngineRefused
from inspectd.model import directory
from inspectd.stages.infer.calibration import Pictures
from inspectd.stages.infer.look import Look, read_picture

ROOT = Path(__file__).parents[4]
SPEC = directory.read(str(ROOT / "inspectd" / "models" / "bottle_cap"))
GOLDEN = ROOT / "inspectd" / "models" / "bottle_cap" / "golden.jpg"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Five pictures, and something else."""
    for number in range(5):
        shutil.copy(GOLDEN, tmp_path / f"{number}.jpg")
    (tmp_path / "notes.txt").write_text("no picture", encoding="utf-8")
    return tmp_path


def test_batches_are_full_and_every_picture_is_in_one(folder: Path) -> None:
    """An engine is calibrated with the batch it will run; the last one is filled up."""
    batches = list(Pictures(SPEC, str(folder)).batches(4))
    assert [len(one["image"]) for one in batches] == [4, 4]
    assert set(batches[0]) >= {"image", "scale_factor"}


def test_the_tensors_are_those_of_the_gate(folder: Path) -> None:
    """Another layout would calibrate another network."""
    (batch, *_) = Pictures(SPEC, str(folder)).batches(1)
    look = Look.at(SPEC, read_picture(GOLDEN))
    np.testing.assert_array_equal(batch["image"][0], look.tensor)


def test_a_station_with_tiles_is_calibrated_with_tiles(folder: Path) -> None:
    """One picture for each of them, with the side inputs of its size."""
    tiles = Tiles(size_px=320, overlap_px=32)
    picture = read_picture(GOLDEN)
    assert picture.shape[0] > 320
    batches = list(Pictures(SPEC, str(folder), tiles=tiles).batches(1))
    assert len(batches) > 5
    assert len(batches) % 5 == 0
    np.testing.assert_array_equal(batches[0]["scale_factor"], [[1.0, 1.0]])


def test_the_digest_knows_names_and_contents(folder: Path) -> None:
    """One picture more, or another, is another calibration."""
    before = Pictures(SPEC, str(folder)).digest()
    assert Pictures(SPEC, str(folder)).digest() == before
    (folder / "0.jpg").rename(folder / "00.jpg")
    renamed = Pictures(SPEC, str(folder)).digest()
    (folder / "4.jpg").write_bytes(b"other")
    assert len({before, renamed, Pictures(SPEC, str(folder)).digest()}) == 3


def test_a_picture_that_is_none_is_named(folder: Path) -> None:
    """It must be taken out: calibration without it is another one."""
    (folder / "5.png").write_bytes(b"no picture")
    with pytest.raises(EngineRefused, match=r"5\.png"):
        list(Pictures(SPEC, str(folder)).batches(4))


def test_a_picture_that_the_model_cannot_take_is_named(folder: Path) -> None:
    """A line of pixels."""
    spec = directory.read(str(ROOT / "models" / "deeppcb"))
    cv2.imwrite(str(folder / "0.jpg"), np.zeros((8, 8), np.uint8))
    with pytest.raises(EngineRefused, match="calibrated"):
        list(Pictures(spec, str(folder)).batches(1))
