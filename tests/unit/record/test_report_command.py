"""`inspectd report`: from a station file, a folder or a database to the same report."""

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from inspectd.cli.report import add_arguments, run
from inspectd.config.load import load
from inspectd.errors import UsageFault

STATION_FILE = """
line: line-1
engine: {kind: scripted}
models: [{name: bottles, path: model}]
record: {folder: record, min_free_mb: 0}
stations:
  - name: cam-1
    cycle_ms: 100
    deadline_ms: 50
    budget: {camera_ms: 10, gate_ms: 10, infer_ms: 10, judge_ms: 10, sink_ms: 10}
    trigger: {kind: timer, rate_hz: 10}
    camera: {kind: replay, path: pictures, width_px: 64, height_px: 48}
    model: bottles
    rules: [{kind: forbid, name: none, labels: [Scratch], min_score: 0.5}]
    plc: {kind: none}
"""


def called(*arguments: str) -> int:
    """Run the command as the command line would."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args(arguments))


@pytest.fixture
def station_file(tmp_path: Path) -> Path:
    """A station file whose record is the desk's folder."""
    path = tmp_path / "line.yaml"
    path.write_text(STATION_FILE)
    return path


def test_station_file_folder_and_database_lead_to_the_same_report(
    desk: Any, station_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The station file is found again by the run, if it is as it was."""
    digest = load(station_file, must_exist=False).digest
    desk.file, desk.digest = str(station_file), digest
    database = desk.recorded(desk.ticket(1), desk.ticket(2))
    told = []
    for place in (station_file, desk.folder, database):
        assert called(str(place), "--json") == 0
        told.append(json.loads(capsys.readouterr().out))
    assert told[0] == told[1] == told[2]
    assert told[0]["stations"]["cam-1"]["times_ms"]["infer"]["budget"] == 10


def test_a_station_file_that_has_changed_since_is_not_believed(
    desk: Any, station_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its budgets and rules are not those of the run."""
    desk.file, desk.digest = str(station_file), "another"
    database = desk.recorded(desk.ticket(1))
    assert called(str(database), "--json", "--run", "run-1") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["stations"]["cam-1"]["times_ms"]["infer"]["budget"] is None


def test_a_person_gets_text(desk: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """One block for each station."""
    assert called(str(desk.recorded(desk.ticket(1)))) == 0
    text = capsys.readouterr().out
    assert "line line-1, run run-1" in text
    assert "station cam-1: 1 parts: NG 1" in text


def test_a_record_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    """Names the file, and what to do."""
    with pytest.raises(UsageFault, match=r"events\.sqlite.*run the line first"):
        called(str(tmp_path))
