"""The demo line, end to end: real frames, real model, a real Modbus server as the PLC."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("INSPECTD_SHARED", ROOT.parent / "shared"))
PARTS = 60

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.paddle,
    pytest.mark.timeout(240),
    pytest.mark.skipif(
        importlib.util.find_spec("paddle") is None, reason="paddle is not installed"
    ),
]


def station_file(name: str, folder: Path, **replaced: str) -> Path:
    """A shipped station file whose record lies in `folder`, with absolute paths."""
    text = (ROOT / "stations" / name).read_text(encoding="utf-8")
    text = text.replace("../var/", f"{folder}/")
    text = text.replace("../../shared", str(SHARED)).replace("../inspectd", f"{ROOT}/inspectd")
    text = text.replace("../models", f"{ROOT}/models")
    text = text.replace(": demo_frames/", f": {ROOT}/stations/demo_frames/")
    for old, new in replaced.items():
        assert old in text
        text = text.replace(old, new)
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def run(file: Path, parts: int, folder: Path) -> dict[str, Any]:
    """Run the line for so many parts; answer its report."""
    out = folder / "out.json"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "inspectd", "run", str(file), "--quiet"),
            *("--parts", str(parts), "--report", str(out)),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return report


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The report of one run of the demo line, with more time than the demo allows itself.

    A test machine may be busy: what is tested here is what the line decides, not how fast.
    """
    folder = tmp_path_factory.mktemp("demo")
    slow = {
        "deadline_ms: 300": "deadline_ms: 3000",
        "slots: 8": "slots: 24",
    }
    return run(station_file("demo.yaml", folder, **slow), PARTS, folder)


def test_each_trigger_has_one_verdict_in_order(demo: dict[str, Any]) -> None:
    """The record and the PLC's own book agree on it."""
    order = demo["stations"]["capper"]["order"]
    assert order["is_complete"]
    assert demo["simulators"]["capper"]["agrees"]
    assert sum(demo["stations"]["capper"]["verdicts"].values()) == PARTS


def test_no_verdict_is_late_without_saying_so(demo: dict[str, Any]) -> None:
    """After its deadline a part is LATE, never OK."""
    assert demo["stations"]["capper"]["late"]["unmarked"] == 0


def test_every_kind_of_verdict_is_right(demo: dict[str, Any]) -> None:
    """Good frames OK, painted-out caps NG, blur, glare and dark UNFIT, a dropped frame FAULT."""
    labels = demo["stations"]["capper"]["labels"]
    assert labels["wrong_parts"] == []
    assert labels["checked"] == PARTS
    assert {"OK", "NG", "UNFIT", "FAULT"} <= set(labels["confusion"])


def test_pixels_are_copied_once_after_capture(demo: dict[str, Any]) -> None:
    """Into the tensor, and only for pictures that are fit."""
    copies = demo["pixel_copies"]
    assert 0 < copies["after_capture"] <= 1
    assert copies["infer"] == copies["judge"] == copies["sink"] == copies["record"] == 0


@pytest.mark.skipif(
    not (SHARED / "data" / "deeppcb").is_dir(), reason="the DeepPCB set is not here"
)
def test_boards_are_judged_against_their_golden_templates(tmp_path: Path) -> None:
    """Twelve boards of DeepPCB: the defects are found where the labels say."""
    slow = {"cycle_ms: 400": "cycle_ms: 2000", "deadline_ms: 1000": "deadline_ms: 8000"}
    slow |= {"rate_hz: 2.5": "rate_hz: 0.5"} | {"slots: 8": "slots: 12"}
    report = run(station_file("deeppcb.yaml", tmp_path, **slow), 12, tmp_path)
    board = report["stations"]["board"]
    assert board["order"]["is_complete"]
    assert board["scores"]["ap50"] > 0.9
