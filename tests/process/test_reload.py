"""SIGHUP: a changed file is tried beside the running line, and only a good one replaces it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.paddle,
    pytest.mark.timeout(240),
]


class _Line:
    """The demo line with a station file of the test, without an end."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "line.yaml"
        self.folder = folder
        self.write()
        self.log = folder / "log"
        with self.log.open("w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "inspectd", "run", str(self.file), "--log-level", "info"],
                stdout=subprocess.DEVNULL,
                stderr=log,
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )

    def write(self, *changes: tuple[str, str]) -> None:
        """Write the station file, with changes."""
        text = (ROOT / "stations" / "demo.yaml").read_text(encoding="utf-8")
        text = text.replace("demo_frames/", f"{ROOT}/stations/demo_frames/")
        text = text.replace("../inspectd/models", f"{ROOT}/inspectd/models")
        text = text.replace("../var/demo", str(self.folder / "record"))
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        self.file.write_text(text, encoding="utf-8")

    def events(self, name: str) -> list[dict[str, Any]]:
        """Log lines of one event."""
        lines = self.log.read_text(encoding="utf-8").splitlines()
        found = [json.loads(line) for line in lines if line.startswith("{")]
        return [line for line in found if line["event"] == name]

    def wait_for(self, is_so: Callable[[], bool], seconds: float = 100) -> None:
        """Wait until something is so, while the line lives."""
        until = time.monotonic() + seconds
        while not is_so():
            assert self.process.poll() is None, self.log.read_text(encoding="utf-8")[-3000:]
            assert time.monotonic() < until, self.log.read_text(encoding="utf-8")[-3000:]
            time.sleep(0.1)

    def reload(self) -> None:
        """Ask the supervisor to read its file again."""
        self.process.send_signal(signal.SIGHUP)


@pytest.fixture
def line(tmp_path: Path) -> Iterator[_Line]:
    """A line that is ready."""
    made = _Line(tmp_path)
    made.wait_for(lambda: len(made.events("line_ready")) == 1)
    yield made
    made.process.send_signal(signal.SIGTERM)
    try:
        made.process.wait(30)
    finally:
        made.process.kill()


def test_a_wrong_file_is_refused_and_the_line_goes_on(line: _Line) -> None:
    """The log names the place of the fault; nobody was stopped."""
    line.write(("min_score: 0.5, min: 1", "min_score: 5, min: 1"))
    line.reload()
    line.wait_for(lambda: bool(line.events("reload_refused")))
    assert "min_score" in line.events("reload_refused")[0]["error"]
    assert not line.events("line_stopping")


def test_a_good_file_replaces_the_old_one(line: _Line) -> None:
    """A new run with the new recipe, by the same supervisor; then a third for a second change."""
    first = line.events("line_starting")[0]["recipe"]
    line.write(("min_score: 0.5, min: 1", "min_score: 0.55, min: 1"))
    line.reload()
    line.wait_for(lambda: len(line.events("line_ready")) == 2)
    starts = line.events("line_starting")
    assert starts[1]["recipe"] != first
    assert starts[1]["run"] != starts[0]["run"]


def test_a_line_that_does_not_get_ready_is_rolled_back(line: _Line) -> None:
    """A model that was spoilt after it had been tried: the old line runs again."""
    model = line.folder / "model"
    shutil.copytree(ROOT / "inspectd" / "models" / "bottle_cap", model)
    line.write((f"{ROOT}/inspectd/models/bottle_cap", str(model)))
    line.reload()
    line.wait_for(lambda: bool(line.events("line_stopping")))
    golden = model / "golden.json"
    golden.write_text(golden.read_text(encoding="utf-8").replace("0.9", "0.1"), encoding="utf-8")
    line.wait_for(lambda: bool(line.events("reload_rolled_back")))
    line.wait_for(lambda: len(line.events("line_ready")) == 2)
    starts = line.events("line_starting")
    assert len(starts) == 3
    assert starts[2]["recipe"] == starts[0]["recipe"] != starts[1]["recipe"]
