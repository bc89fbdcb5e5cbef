"""`inspectd model`: what a person asks of a model directory."""

import importlib.util
import json
import shutil
from pathlib import Path

import cv2
import pytest

from inspectd.__main__ import main
from inspectd.stages.infer.look import read_picture

MODELS = Path(__file__).parents[3] / "inspectd" / "models"
with_paddle = [
    pytest.mark.paddle,
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("paddle") is None, reason="paddle is not installed"
    ),
]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A copy of the shipped model, to be changed."""
    return Path(shutil.copytree(MODELS / "bottle_cap", tmp_path / "bottle_cap"))


def test_show_says_what_was_understood(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Labels, steps, sizes, digest; no engine is needed for it."""
    assert main(["model", "show", str(model)]) == 0
    told = "".join(capsys.readouterr().out.replace("│", "").split())
    for word in ("Bottle,Cap", "Resize", "(3,320,320)", "scale_factor", "golden.jpg"):
        assert word in told


def test_a_wrong_directory_is_one_sentence_and_exit_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Restarting cannot help."""
    assert main(["model", "show", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


class TestWithPaddle:
    """What runs the model."""

    pytestmark = with_paddle

    def test_golden_outputs_name_the_model_and_its_finds(self, model: Path) -> None:
        """The picture may lie in the directory already: it must survive."""
        golden = model / "golden.jpg"
        before = golden.read_bytes()
        assert main(["model", "golden", str(model), "--image", str(golden)]) == 0
        stored = json.loads((model / "golden.json").read_text(encoding="utf-8"))
        assert golden.read_bytes() == before
        assert {one["label"] for one in stored["detections"]} == {"Bottle", "Cap"}

    def test_a_golden_picture_of_another_format_replaces_the_old(
        self, model: Path, tmp_path: Path
    ) -> None:
        """Two golden pictures would be one too many."""
        other = tmp_path / "part.bmp"
        cv2.imwrite(str(other), read_picture(model / "golden.jpg"))
        assert main(["model", "golden", str(model), "--image", str(other)]) == 0
        assert (model / "golden.png").is_file()
        assert not (model / "golden.jpg").exists()

    def test_detect_prints_and_draws(
        self, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Label, score, box; the picture has the frame's size."""
        out = tmp_path / "out.png"
        picture = model / "golden.jpg"
        assert main(["model", "detect", str(model), str(picture), "--out", str(out)]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert all(len(line.split()) == 6 for line in lines)
        assert {line.split()[0] for line in lines} == {"Bottle", "Cap"}
        assert read_picture(out).shape == read_picture(picture).shape

    def test_a_picture_that_is_none_is_one_sentence(
        self, model: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """And exit code 1."""
        assert main(["model", "detect", str(model), str(model / "infer_cfg.yml")]) == 1
        assert "is no picture" in capsys.readouterr().err
