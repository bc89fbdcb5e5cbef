"""A whole line with receivers: `inspectd run`, a scripted engine, a broker that has its moods."""

import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import psutil
import pytest

from tests.receivers.peers import Broker, Listener, free_port, until

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(180)]

_ROOT = Path(__file__).parents[2]
_FILE = """
line: trial
engine: {{kind: scripted, base_ms: 4, per_frame_ms: 2}}
models: [{{name: none, path: {model}}}]
record: {{folder: {folder}/record, min_free_mb: 0}}
stations:
  - name: one
    cycle_ms: 50
    slots: 24
    deadline_ms: 1000
    budget: {{camera_ms: 200, gate_ms: 200, infer_ms: 200, judge_ms: 200, sink_ms: 200}}
    trigger: {{kind: timer, rate_hz: 20}}
    camera: {{kind: replay, path: {folder}/pictures, width_px: 64, height_px: 64}}
    model: none
    rules: [{{kind: forbid, name: none_there, labels: [Cap], min_score: 0.5}}]
    plc: {{kind: none}}
forward:
  - {{kind: mqtt, name: broker, host: 127.0.0.1, port: {port}, topic_prefix: plant}}
"""


class _Run:
    """`inspectd run`, seen from outside."""

    def __init__(self, folder: Path, port: int, *options: str) -> None:
        (folder / "pictures").mkdir()
        noise = np.random.default_rng(3).integers(0, 256, (64, 64, 3), np.uint8)
        cv2.imwrite(str(folder / "pictures" / "0.png"), noise)
        file = folder / "line.yaml"
        model = _ROOT / "inspectd" / "models" / "bottle_cap"
        file.write_text(_FILE.format(folder=folder, model=model, port=port), encoding="utf-8")
        self._log = folder / "log.jsonl"
        self._database = folder / "record" / "events.sqlite"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "inspectd", "run", str(file), *options],
                cwd=_ROOT,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )

    def log(self, event: str) -> list[dict[str, Any]]:
        """What was logged of an event."""
        lines = self._log.read_text(encoding="utf-8").splitlines()
        entries = [json.loads(line) for line in lines if line.startswith("{")]
        return [entry for entry in entries if entry["event"] == event]

    def forwarder(self) -> psutil.Process | None:
        """Its process, when it lives."""
        for child in psutil.Process(self.process.pid).children(recursive=True):
            if "--role forward " in " ".join(child.cmdline()):
                return child
        return None

    def keys(self) -> set[tuple[str, int]]:
        """Of every event that the record has."""
        with closing(sqlite3.connect(self._database)) as database:
            return set(database.execute("SELECT run_id, trigger_id FROM events").fetchall())


@contextmanager
def running(folder: Path, port: int, *options: str) -> Iterator[_Run]:
    """A line that is gone at the end."""
    run = _Run(folder, port, *options)
    try:
        yield run
    finally:
        run.process.kill()
        run.process.wait()


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    """A mosquitto."""
    made = Broker(tmp_path)
    yield made
    made.kill()


def test_the_events_of_a_line_arrive_and_its_states_with_them(
    tmp_path: Path, broker: Broker
) -> None:
    """The forwarder comes last and goes last: at the end the broker has what the record has."""
    with (
        closing(Listener(broker.port)) as listener,
        running(tmp_path, broker.port, "--parts", "60") as run,
    ):
        assert run.process.wait(120) == 0
        until(lambda: listener.on("trial/status")[-1:] == [b"offline"])
        events = [json.loads(payload) for payload in listener.on("plant/trial/one/event")]
        assert {(event["run_id"], event["trigger_id"]) for event in events} == run.keys()
        assert len(run.keys()) == 60
        assert listener.on("trial/status")[0] == b"online"
        assert listener.on("one/state")[-1] == b"Halted"
        assert b"Operational" in listener.on("one/state")
        assert listener.on("one/state")[0] in (b"Preoperational", b"Operational")
        assert [entry["role"] for entry in run.log("process_ended")][-2:] == ["record", "forward"]


def test_a_forwarder_that_dies_again_and_again_ends_no_line(tmp_path: Path, broker: Broker) -> None:
    """More often than the budget of any other process; the verdicts go on."""
    with (
        closing(Listener(broker.port)) as listener,
        running(tmp_path, broker.port) as run,
    ):
        until(lambda: run.log("line_ready"), 60)
        for _ in range(8):
            until(lambda: run.forwarder() is not None, 30)
            time.sleep(0.3)
            victim = run.forwarder()
            assert victim is not None
            victim.kill()
            victim.wait()
        assert run.process.poll() is None
        seen = len(run.keys())
        until(lambda: len(run.keys()) > seen + 20)
        until(lambda: run.forwarder() is not None)
        until(lambda: len(listener.on("one/event")) > seen)
        run.process.send_signal(signal.SIGTERM)
        assert run.process.wait(60) == 0
        events = [json.loads(payload) for payload in listener.on("one/event")]
        assert {(event["run_id"], event["trigger_id"]) for event in events} == run.keys()


def test_a_line_starts_works_and_stops_without_its_receiver(tmp_path: Path) -> None:
    """Nobody listens at that port: one sentence in the log, everything in the record."""
    with running(tmp_path, free_port(), "--parts", "40") as run:
        assert run.process.wait(120) == 0
        assert len(run.keys()) == 40
        (trouble,) = run.log("trouble")
        assert "receiver broker (127.0.0.1:" in trouble["what"]
        assert not run.log("process_late")
