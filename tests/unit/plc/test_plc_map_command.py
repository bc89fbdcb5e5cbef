"""`inspectd plc-map FILE`."""

import csv
import io
from pathlib import Path

import pytest

from inspectd.__main__ import main

DEMO = Path(__file__).parents[3] / "stations" / "demo.yaml"


def test_the_map_of_a_station_file_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """Markdown for people."""
    assert main(["plc-map", str(DEMO)]) == 0
    assert "holding registers 0 to 63" in capsys.readouterr().out


def test_the_map_comes_as_csv_too(capsys: pytest.CaptureFixture[str]) -> None:
    """For the import of tags."""
    assert main(["plc-map", str(DEMO), "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["type"] for row in rows} == {"UINT", "UDINT"}


def test_a_wrong_station_file_is_exit_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same faults as from `inspectd check`, no traceback."""
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("line: 5\n")
    assert main(["plc-map", str(wrong)]) == 2
    assert str(wrong) in capsys.readouterr().err
