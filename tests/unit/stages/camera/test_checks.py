"""The first picture is looked at before a line starts."""

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from inspectd.config.load import load
from inspectd.stages.camera.checks import check

DEMO = Path(__file__).parents[4] / "stations" / "demo.yaml"


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """A folder with one picture of 64 x 48 px."""
    cv2.imwrite(str(tmp_path / "a.png"), np.zeros((48, 64, 3), np.uint8))
    return tmp_path


def found(folder: Path, width: int = 64) -> list[tuple[str, str]]:
    """What is wrong with the demo line when its pictures lie in `folder`."""
    line = load(str(DEMO))
    (station,) = line.stations
    camera = replace(
        station.camera, path=str(folder), labels="", width_px=width, height_px=48, degrade=()
    )
    return check(replace(line, stations=(replace(station, camera=camera),)))


def test_a_picture_as_the_file_says_is_right(pictures: Path) -> None:
    """Nothing is found."""
    assert found(pictures) == []


def test_another_size_is_told_with_both(pictures: Path) -> None:
    """At the key that says the size."""
    ((key, what),) = found(pictures, width=65)
    assert key == "stations[0].camera.width_px"
    assert "64x48" in what
    assert "65x48" in what


@pytest.mark.parametrize("content", [None, b"no picture"])
def test_a_folder_without_a_picture_is_told(tmp_path: Path, content: bytes | None) -> None:
    """Empty, or with a file that only looks like one."""
    if content is not None:
        (tmp_path / "a.jpg").write_bytes(content)
    ((key, what),) = found(tmp_path)
    assert key == "stations[0].camera.path"
    assert str(tmp_path) in what
