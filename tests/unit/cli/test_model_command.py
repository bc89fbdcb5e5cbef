"""`inspectd model`: what a person asks of a model directory."""

import importlib.util
import json
import shutil
from pathlib import Path

import cv2
import numpy as np
import pytest

from inspectd.__main__ import main
from inspectd.stages.infer.look import read_picture

ROOT = Path(__file__).parents[3]
MODELS = ROOT / "inspectd" / "models"
BOARDS = ROOT / "models" / "deeppcb"
with_paddle = [
    pytest.mark.paddle,
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("paddle") is None, reason="paddle is not installed"
    ),
]


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests leave nothing in the user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CACHE_DIRECTORY", raising=False)


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

    @pytest.mark.parametrize("backend", ["onednn", "openvino", "plain"])
    def test_every_backend_finds_the_golden_bottles(
        self, backend: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """As many, of the same classes, as the stored golden outputs say."""
        model = MODELS / "bottle_cap_pdmodel"
        stored = json.loads((model / "golden.json").read_text(encoding="utf-8"))
        picture = str(model / "golden.jpg")
        assert main(["model", "detect", str(model), picture, "--backend", backend]) == 0
        labels = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
        assert sorted(labels) == sorted(one["label"] for one in stored["detections"])

    def test_a_higher_score_shows_less(
        self, model: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """No score is above 1: nothing is printed, and that is no error."""
        detect = ["model", "detect", str(model), str(model / "golden.jpg")]
        assert main([*detect, "--min-score", "0.2"]) == 0
        assert capsys.readouterr().out
        assert main([*detect, "--min-score", "1"]) == 0
        assert not capsys.readouterr().out

    def test_a_picture_that_shows_nothing_proves_nothing(
        self, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Golden outputs without an object are refused."""
        empty = tmp_path / "empty.png"
        cv2.imwrite(str(empty), np.zeros((320, 320, 3), np.uint8))
        assert main(["model", "golden", str(model), "--image", str(empty)]) == 1
        assert "nothing is found" in capsys.readouterr().err

    def test_a_model_that_compares_wants_its_template(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Boards are held against a golden picture: given, defects are found; without, a remedy."""
        board = Path(shutil.copytree(BOARDS, tmp_path / "deeppcb"))
        detect = ["model", "detect", str(board), str(board / "golden.png")]
        assert main([*detect, "--template", str(board / "golden_template.png")]) == 0
        assert {line.split()[0] for line in capsys.readouterr().out.splitlines()} >= {"open"}
        assert main(detect) == 1
        assert "golden pictures" in capsys.readouterr().err

    def test_a_picture_that_is_none_is_one_sentence(
        self, model: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """And exit code 1."""
        assert main(["model", "detect", str(model), str(model / "infer_cfg.yml")]) == 1
        assert "is no picture" in capsys.readouterr().err
