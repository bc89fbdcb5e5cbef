"""`inspectd check`: what it prints, and how it ends."""

from importlib import metadata
from pathlib import Path

import cv2
import numpy as np
import pytest

from inspectd.__main__ import main

WRONG = Path(__file__).parent / "wrong"
SCRIPTED = """\
line: press
engine: {kind: scripted}
models: [{name: caps, path: %s}]
record: {folder: record}
stations:
  - name: one
    cycle_ms: 100
    deadline_ms: 200
    budget: {camera_ms: 40, gate_ms: 40, infer_ms: 60, judge_ms: 20, sink_ms: 40}
    trigger: {kind: timer, rate_hz: 10}
    camera: {kind: replay, path: ., width_px: 640, height_px: 640}
    model: caps
    rules: [{kind: count, name: there, label: %s, min_score: 0.5, min: 1}]
    plc: {kind: none}
"""
MODEL = Path(__file__).parents[3] / "inspectd" / "models" / "bottle_cap"


def station_file(folder: Path, label: str) -> str:
    """Write a station file that uses the shipped model."""
    path = folder / "press.yaml"
    cv2.imwrite(str(folder / "part.png"), np.zeros((640, 640, 3), np.uint8))
    path.write_text(SCRIPTED % (MODEL, label), encoding="utf-8")
    return str(path)


def test_a_right_file_is_ok(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line that names the file, what is in it, and the recipe digest; exit code 0."""
    file = station_file(tmp_path, "Cap")
    assert main(["check", file]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"{file}: ok: 1 station, 1 model, digest ")
    assert err == ""


def test_a_wrong_file_names_all_faults(capsys: pytest.CaptureFixture[str]) -> None:
    """All faults go to stderr, a line each; exit code 2."""
    assert main(["check", str(WRONG / "five_at_once.yaml")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 5


def test_a_wrong_file_does_not_hide_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every file is checked; one that is wrong makes the exit code 2."""
    right = station_file(tmp_path, "Cap")
    assert main(["check", str(WRONG / "tab.yaml"), right, str(tmp_path / "no.yaml")]) == 2
    out, err = capsys.readouterr()
    assert right in out
    assert len(err.splitlines()) == 2


def test_what_the_model_says_is_checked_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A rule about a class that the model lacks is a fault at its place in the file."""
    file = station_file(tmp_path, "Lid")
    assert main(["check", file]) == 2
    assert f"{file}:13:47: stations[0].rules[0].label: " in capsys.readouterr().err


@pytest.fixture
def no_paddle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide Paddle's wheels from the look-up of installed distributions."""

    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)


def test_a_machine_without_paddle_may_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], no_paddle: None
) -> None:
    """The file is right all the same; a note says that it cannot run here, and what to install."""
    file = Path(station_file(tmp_path, "Cap"))
    file.write_text(file.read_text().replace("kind: scripted", "kind: paddle"))
    assert main(["check", str(file)]) == 0
    assert "pip install 'inspectd[cpu]'" in capsys.readouterr().err


def test_a_machine_without_paddle_may_not_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], no_paddle: None
) -> None:
    """It ends before anything is started, in one sentence."""
    file = Path(station_file(tmp_path, "Cap"))
    file.write_text(file.read_text().replace("kind: scripted", "kind: paddle"))
    assert main(["run", str(file)]) == 1
    assert "Paddle is not installed" in capsys.readouterr().err
