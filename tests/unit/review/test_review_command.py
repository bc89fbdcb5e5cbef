"""`inspectd review`: a false call on its way from the record to the labels of the next training."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from inspectd.__main__ import main
from inspectd.coco import Labels

_DETAIL = {
    "image": "a.png",
    "detections": [["short", 0.9, 10.0, 5.0, 30.0, 15.0], ["pin", 0.8, -4.0, 0.0, 20.0, 70.0]],
    "broken": [["no_short", "1 short", 1]],
}
_LINE = """
line: line-1
engine: {kind: scripted}
models: [{name: boards, path: models/none}]
record: {folder: record}
stations:
  - name: cam-1
    cycle_ms: 100
    deadline_ms: 60
    budget: {camera_ms: 10, gate_ms: 10, infer_ms: 10, judge_ms: 10, sink_ms: 10}
    trigger: {kind: timer, rate_hz: 10}
    camera: {kind: replay, path: pictures, width_px: 64, height_px: 48}
    model: boards
    rules: [{kind: forbid, name: no_short, labels: [short], min_score: 0.5}]
    plc: {kind: none}
"""


@pytest.fixture
def line(tmp_path: Path, record: Callable[..., Path], part: Callable[..., Any]) -> Path:
    """A station file with a record of four parts, two of them with pictures."""
    detail = json.dumps(_DETAIL)
    folder = record(
        part(1, archive="archive/2026-12-01/14/one.jpg", detail=detail),
        part(2, archive="archive/2026-12-01/14/two.jpg", detail=detail),
        part(3, "OK", detail='{"image":"c.png"}'),
        part(4, archive="archive/2026-12-01/14/cut.jpg", detail=detail),
    )
    archive = folder / "archive/2026-12-01/14"
    archive.mkdir(parents=True)
    for name in ("one.jpg", "two.jpg"):
        assert cv2.imwrite(str(archive / name), np.full((48, 64), 99, np.uint8))
    (archive / "cut.jpg").write_bytes((archive / "one.jpg").read_bytes()[:20])
    file = tmp_path / "line.yaml"
    file.write_text(_LINE, encoding="utf-8")
    return file


def _mark(line: Path, sequence: int, judgement: str) -> int:
    return main(["review", str(line), "mark", str(sequence), judgement, "--by", "Li"])


def test_a_false_call_trains_as_a_good_part(
    line: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The boxes that were wrong are kept at the picture, and are no labels."""
    assert [_mark(line, 1, "false-call"), _mark(line, 2, "confirmed")] == [0, 0]
    out = tmp_path / "labels"
    assert main(["review", str(line), "export", "--out", str(out)]) == 0
    labels = Labels.read(out / "annotations.json")
    wrong, right = (labels.boxes[number] for number in (1, 2))
    assert [box.label for box in wrong] == ["pin"]
    assert [box.label for box in right] == ["short", "pin"]
    assert (right[1].x1, right[1].x2, right[1].y2) == (0.0, 20.0, 48.0)
    first, second = json.loads((out / "annotations.json").read_text(encoding="utf-8"))["images"]
    assert first["inspectd"]["doubted"] == [["short", 0.9, 10.0, 5.0, 30.0, 15.0]]
    assert (first["inspectd"]["judgement"], first["inspectd"]["reviewer"]) == ("false_call", "Li")
    assert [(one["width"], one["height"]) for one in (first, second)] == [(64, 48)] * 2
    for one in (first, second):
        assert cv2.imread(str(out / one["file_name"])) is not None
    assert sorted(labels.category_ids) == ["pin", "short"]


def test_what_cannot_be_exported_is_named(
    line: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No picture, or a broken one; and when nothing is left, that is a fault."""
    assert [_mark(line, 3, "escape"), _mark(line, 4, "confirmed")] == [0, 0]
    assert main(["review", str(line), "export", "--out", str(tmp_path / "out")]) == 1
    told = capsys.readouterr().out
    assert "event 3: no picture was kept" in told
    assert "event 4: archive/2026-12-01/14/cut.jpg is no whole picture" in told


def test_an_export_is_never_mixed_with_another(
    line: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder in use is refused."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    assert main(["review", str(line), "export", "--out", str(tmp_path / "out")]) == 2
    assert "name a new folder" in capsys.readouterr().err


def test_the_list_shows_what_waits(line: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rejects first of all; with those that have a review when asked for all."""
    assert _mark(line, 4, "false-call") == 0
    capsys.readouterr()
    assert main(["review", str(line), "list", "--unreviewed"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in rows[:-1]] == ["2", "1"]
    assert rows[-1] == "1 reviewed: 1 false calls of 1 rejects, 0 escapes of 0 passed"
    assert main(["review", str(line), "list", "--all"]) == 0
    assert "false_call (Li)" in capsys.readouterr().out.splitlines()[0]
    assert main(["review", str(line), "history", "4"]) == 0
    assert "Li false_call" in capsys.readouterr().out


@pytest.mark.parametrize(("sequence", "words"), [(99, "no event 99"), (3, "no false call")])
def test_a_wrong_mark_is_one_sentence(
    line: Path, sequence: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """And exit code 2."""
    assert _mark(line, sequence, "false-call") == 2
    assert words in capsys.readouterr().err
