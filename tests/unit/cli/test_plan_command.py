"""`inspectd plan`: the sums of a line, here and on a card."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from inspectd.__main__ import main

ROOT = Path(__file__).parents[3]
DEMO = str(ROOT / "stations" / "demo.yaml")


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests leave nothing in the user's cache; tables are wide."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "160")


def planned(tmp_path: Path, *arguments: str) -> tuple[int, Any]:
    """Exit code and figures."""
    out = tmp_path / "plan.json"
    code = main(["plan", DEMO, "--json", str(out), *arguments])
    return code, json.loads(out.read_text(encoding="utf-8"))


def test_the_demo_fits_a_t4(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the sum shown, and with what it is worth: nothing here was measured on a card."""
    code, told = planned(tmp_path, "--no-measure")
    assert code == 0
    assert told["fits"]
    assert told["here"] is None
    memory = told["memory_mb"]
    parts = sum(sum(one["memory_mb"].values()) for one in told["models"])
    assert memory["total"] == pytest.approx(memory["context"] + memory["pool"] + parts)
    said = capsys.readouterr().out
    assert "fits" in said
    assert "none was measured on a card" in said


def test_copies_take_time_and_no_memory(tmp_path: Path) -> None:
    """One engine serves all stations: the model is loaded once."""
    _, one = planned(tmp_path, "--no-measure")
    _, four = planned(tmp_path, "--no-measure", "--copies", "4")
    assert four["memory_mb"] == one["memory_mb"]
    assert four["on_card"]["busy"] == pytest.approx(4 * one["on_card"]["busy"])


def test_too_many_stations_do_not_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 1, and it says so."""
    code, told = planned(tmp_path, "--no-measure", "--copies", "200")
    assert code == 1
    assert not told["fits"]
    assert "DOES NOT FIT" in capsys.readouterr().out


@pytest.mark.parametrize("copies", ["0", "-1"])
def test_no_stations_are_a_wrong_argument(copies: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence, exit 2."""
    assert main(["plan", DEMO, "--no-measure", "--copies", copies]) == 2
    assert "--copies" in capsys.readouterr().err


@pytest.mark.paddle
@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("paddle") is None, reason="paddle is not installed")
def test_this_machine_is_measured(tmp_path: Path) -> None:
    """The smallest, a middle and the largest batch, and what they add to memory."""
    _, told = planned(tmp_path)
    (model,) = told["models"]
    assert [int(size) for size in model["here"]["runs_ms"]] == [1, 2, 4]
    assert all(took > 0 for took in model["here"]["runs_ms"].values())
    assert told["here"]["busy"] > 0
