"""A line whose engine must be built: visible, waited for, never half used, built once."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from inspectd.stages.infer.cache import Condition
from tests.process.slow_builder import NOW, cache_of

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(120)]

_ROOT = Path(__file__).parents[2]


class _Line:
    """A running line, with the ear of systemd."""

    def __init__(self, folder: Path, parts: int) -> None:
        self.folder = folder
        self.heard: list[str] = []
        address = str(folder / "notify")
        self.ear = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.ear.bind(address)
        self.ear.settimeout(0.05)
        self.log_path = folder / "log.jsonl"
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.process.slow_builder", str(folder), str(parts)],
                cwd=_ROOT,
                stderr=log,
                env={**os.environ, "NOTIFY_SOCKET": address},
            )

    def listen(self) -> None:
        """Take what systemd would have heard."""
        try:
            while True:
                self.heard.append(self.ear.recv(4096).decode())
        except TimeoutError:
            return

    def wait_for(self, what: Callable[[], bool], seconds: float = 60) -> None:
        until = time.monotonic() + seconds
        while not what():
            self.listen()
            assert time.monotonic() < until, "\n".join(map(str, self.log()))
            assert self.process.poll() is None, "\n".join(map(str, self.log()))

    def end(self) -> int:
        """Wait for its end."""
        until = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < until:
            self.listen()
        self.listen()
        return self.process.wait(1)

    def log(self) -> list[dict[str, Any]]:
        lines = self.log_path.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def events(self) -> list[str]:
        """Names of what was logged, with the role where one is meant."""
        return [" ".join(filter(None, (one["event"], one.get("role")))) for one in self.log()]

    def infer(self) -> psutil.Process:
        children = psutil.Process(self.process.pid).children(recursive=True)
        return next(one for one in children if "--role infer " in " ".join(one.cmdline()) + " ")

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.ear.close()
        (self.folder / "notify").unlink()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], _Line]]:
    """Start a line of five parts; whatever still runs is ended."""
    lines: list[_Line] = []

    def begin() -> _Line:
        for line in lines:
            line.close()
        lines[:] = [_Line(tmp_path, 5)]
        return lines[0]

    yield begin
    for line in lines:
        line.close()


def test_building_is_told_and_waited_for(start: Callable[[], _Line], tmp_path: Path) -> None:
    """Before READY systemd is asked for time, and no camera starts; start 2 builds nothing."""
    line = start()
    assert line.end() == 0
    ready = next(at for at, text in enumerate(line.heard) if text.startswith("READY=1"))
    before = line.heard[:ready]
    asked = [text for text in before if "EXTEND_TIMEOUT_USEC=60000000" in text]
    assert asked
    assert "STATUS=building: builds the TensorRT engine of caps" in asked[0]
    assert not any("EXTEND_TIMEOUT_USEC" in text for text in line.heard[ready:])
    events = line.events()
    order = [
        "engine_building",
        "engine_built",
        "process_ready infer",
        "process_starting camera",
        "line_ready",
    ]
    assert [each for each in events if each in order] == order
    assert cache_of(str(tmp_path)).examine(NOW).condition is Condition.FRESH

    again = start()
    assert again.end() == 0
    assert not any("EXTEND_TIMEOUT_USEC" in text for text in again.heard)
    assert again.events().count("engine_building") == 1  # that of the first start
    assert again.events().count("line_ready") == 2


def test_a_builder_that_is_killed_leaves_nothing_that_is_used(
    start: Callable[[], _Line], tmp_path: Path
) -> None:
    """Its restart recognises the half, builds anew, and the line gets ready."""
    line = start()
    line.wait_for(lambda: "engine_building" in line.events())
    cache = cache_of(str(tmp_path))
    line.wait_for((cache.folder / "trt_serialized_1").exists)
    os.kill(line.infer().pid, signal.SIGKILL)
    line.wait_for(lambda: line.events().count("engine_building") == 2)
    building = [one for one in line.log() if one["event"] == "engine_building"]
    assert building[0]["why"] == "absent"
    assert building[1]["why"].startswith("half-written")
    assert line.end() == 0
    assert cache.examine(NOW).condition is Condition.FRESH


def test_a_line_that_is_stopped_while_it_builds_ends(start: Callable[[], _Line]) -> None:
    """Nobody waits for the engine; nothing half-built is vouched for."""
    line = start()
    line.wait_for(lambda: "engine_building" in line.events())
    line.process.send_signal(signal.SIGTERM)
    assert line.end() == 0
    assert "engine_built" not in line.events()
