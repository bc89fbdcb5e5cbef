"""The same model and pictures through the daemon and through a plain script: the same boxes."""

import importlib.util
import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from inspectd.record.reading import Reading

ROOT = Path(__file__).parents[2]
FRAMES = ROOT / "stations" / "demo_frames" / "images"
SCRIPT = Path(__file__).parent / "plain_detector.py"
PICTURES = 24
MIN_SCORE = 0.1
NEAR_PX, NEAR_SCORE = 0.5, 1e-3

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.paddle,
    pytest.mark.timeout(240),
    pytest.mark.skipif(
        importlib.util.find_spec("paddle") is None, reason="paddle is not installed"
    ),
]


def line_file(folder: Path, model: str) -> Path:
    """The demo line on good frames, without gate limits, with time enough."""
    line: dict[str, Any] = yaml.safe_load((ROOT / "stations" / "demo.yaml").read_text("utf-8"))
    line["models"][0]["path"] = str(ROOT / "inspectd" / "models" / model)
    line["record"] = {
        "folder": str(folder / "record"),
        "detections_min_score": MIN_SCORE,
        "min_free_mb": 1,
    }
    station = line["stations"][0]
    station |= {"gate": {}, "deadline_ms": 5000, "slots": 28}
    station["camera"] = {
        "kind": "replay",
        "path": str(FRAMES),
        "width_px": 640,
        "height_px": 640,
    }
    file = folder / "line.yaml"
    file.write_text(yaml.safe_dump(line), encoding="utf-8")
    return file


def through_the_daemon(folder: Path, model: str) -> dict[str, list[Any]]:
    """Detections by picture, as the record has them."""
    file = line_file(folder, model)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "inspectd", "run", str(file)),
            *("--quiet", "--parts", str(PICTURES)),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with closing(Reading(folder / "record" / "events.sqlite")) as reading:
        run = reading.run().run_id
        details = [json.loads(part.detail) for part in reading.parts(run, with_detail=True)]
    return {Path(one["image"]).name: one["detections"] for one in details}


def through_the_script(folder: str, names: list[str]) -> dict[str, list[Any]]:
    """The same, by a process that knows nothing of inspectd."""
    files = [str(FRAMES / name) for name in names]
    done = subprocess.run(
        [
            sys.executable,
            "-P" if sys.version_info >= (3, 11) else "-B",
            str(SCRIPT),
            folder,
            *files,
        ],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, list[Any]] = {}
    for answer in done.stdout.splitlines():
        if answer.startswith("{"):
            told |= {Path(path).name: found for path, found in json.loads(answer).items()}
    return told


@pytest.mark.parametrize("model", ["bottle_cap", "bottle_cap_pdmodel"])
def test_the_daemon_finds_what_a_plain_script_finds(tmp_path: Path, model: str) -> None:
    """Boxes within half a pixel, scores within a thousandth, none more and none less.

    What lies within a thousandth of the least score may be on either side of it.
    """
    ours = through_the_daemon(tmp_path, model)
    theirs = through_the_script(str(ROOT / "inspectd" / "models" / model), list(ours))
    assert len(ours) == PICTURES
    compared = 0
    for name, found in ours.items():
        wanted = [one for one in theirs[name] if one[1] >= MIN_SCORE - NEAR_SCORE]
        compared += len(found)
        unmatched = list(wanted)
        for one in found:
            partner = next((other for other in unmatched if is_same(one, other)), None)
            assert partner is not None, (name, one, wanted)
            unmatched.remove(partner)
        assert all(other[1] <= MIN_SCORE + NEAR_SCORE for other in unmatched), (name, unmatched)
    assert compared > PICTURES  # there was something to compare


def is_same(one: list[Any], other: list[Any]) -> bool:
    """The same label, score and box."""
    return (
        one[0] == other[0]
        and abs(one[1] - other[1]) <= NEAR_SCORE
        and all(abs(a - b) <= NEAR_PX for a, b in zip(one[2:], other[2:], strict=True))
    )
