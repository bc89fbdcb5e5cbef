"""A line whose ejector inspectd drives, end to end: the belt's own book against the verdicts."""

import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import psutil
import pytest

from inspectd.config.schema import ClockEncoder, ModbusIo, OutputReject
from inspectd.frame import Verdict
from tests.contract.io_peer import playing
from tests.process.reject_run import verdict_of

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(240)]

MS = 1_000_000
_ROOT = Path(__file__).parents[2]
_REJECT = OutputReject(
    kind="output",
    distance_mm=500,
    belt_speed_mm_s=400,
    pulse_ms=100,
    lead_ms=20,
    io=ModbusIo(kind="modbus", host="127.0.0.1", port=0, coil=3, watchdog_ms=150, simulated=True),
    encoder=ClockEncoder(kind="time"),
)
_FILE = """
line: trial
engine: {{kind: scripted, base_ms: 4, per_frame_ms: 2}}
models:
  - {{name: none, path: {model}}}
record: {{folder: {folder}/record, min_free_mb: 0}}
stations:
  - name: one
    cycle_ms: 400
    slots: 8
    deadline_ms: 700
    budget: {{camera_ms: 140, gate_ms: 140, infer_ms: 140, judge_ms: 140, sink_ms: 140}}
    camera: {{kind: replay, path: {folder}/pictures, width_px: 64, height_px: 64}}
    model: none
    rules:
      - {{kind: forbid, name: none_there, labels: [Cap], min_score: 0.5}}
"""
_WITH_A_PLC = """
    trigger: {{kind: plc, poll_ms: 2}}
    plc: {{kind: modbus, port: 0, simulator: {{rate_hz: 2.5, scan_ms: 2}}}}
    reject:
      kind: output
      distance_mm: 500
      belt_speed_mm_s: 400
      pulse_ms: 200
      lead_ms: 20
      io:
        kind: modbus
        host: 127.0.0.1
        port: 0
        coil: 3
        timeout_ms: 100
        reconnect_ms: 100
        watchdog_ms: 200
        watchdog_register: 100
        simulated: true
      encoder: {{kind: modbus, register: 10, bits: 16, counts_per_mm: 20}}
      eye: {{input: 0, distance_mm: 390, window_mm: 40}}
      confirm: {{input: 1, window_ms: 600}}
"""
_WITHOUT_A_PLC = """
    trigger: {{kind: timer, rate_hz: 2.5}}
    plc: {{kind: none}}
    reject:
      kind: output
      distance_mm: 500
      belt_speed_mm_s: 400
      pulse_ms: 100
      lead_ms: 20
      io: {{kind: modbus, host: 127.0.0.1, port: {port}, coil: 3, watchdog_ms: 150}}
      encoder: {{kind: time}}
"""


class _Line:
    """A running line, seen from outside."""

    def __init__(self, folder: Path, parts: int, wiring: str = _WITH_A_PLC, port: int = 0) -> None:
        self.folder = folder
        self.log_path = folder / "log.jsonl"
        with self.log_path.open("wb") as log:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "tests.process.reject_run"),
                    *(str(_station_file(folder, wiring, port)), str(parts)),
                ],
                cwd=_ROOT,
                stderr=log,
            )

    def log(self) -> list[dict[str, Any]]:
        lines = self.log_path.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def logged(self, event: str, **fields: object) -> int:
        return sum(
            one["event"] == event and all(one.get(key) == fields[key] for key in fields)
            for one in self.log()
        )

    def child(self, role: str) -> psutil.Process:
        children = psutil.Process(self.process.pid).children(recursive=True)
        return next(child for child in children if f"--role {role} " in " ".join(child.cmdline()))

    def wait_for(self, what: Callable[[], bool], seconds: float = 60) -> None:
        until = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < until, "\n".join(map(str, self.log()))
            assert self.process.poll() is None, "\n".join(map(str, self.log()))
            time.sleep(0.05)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(90) == 0, "\n".join(map(str, self.log()))

    def account(self) -> dict[str, Any]:
        """The PLC simulator's report."""
        path = self.folder / "record" / "plc-sim-one.json"
        report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return report


def _station_file(folder: Path, wiring: str, port: int) -> Path:
    pictures = folder / "pictures"
    pictures.mkdir()
    noise = np.random.default_rng(3)
    for i in range(5):
        cv2.imwrite(str(pictures / f"{i}.png"), noise.integers(0, 256, (64, 64, 3), np.uint8))
    file = folder / "line.yaml"
    model = _ROOT / "inspectd" / "models" / "bottle_cap"
    file.write_text(
        (_FILE + wiring).format(folder=folder, model=model, port=port), encoding="utf-8"
    )
    return file


@pytest.fixture
def line(tmp_path: Path) -> Iterator[_Line]:
    """A line without an end."""
    made = _Line(tmp_path, 0)
    yield made
    made.process.kill()
    made.process.wait()


def test_every_bad_part_is_ejected_and_no_good_one(tmp_path: Path) -> None:
    """NG, UNFIT, LATE and FAULT in the bin, OK not, and each rejection was seen there."""
    made = _Line(tmp_path, 45)
    assert made.process.wait(150) == 0, "\n".join(map(str, made.log()))
    account = made.account()
    belt = account["belt"]
    errors = np.array(belt["edge_errors_ms"])
    p50, p99, worst = np.percentile(np.abs(errors), (50, 99, 100))
    print(f"leading edges: {len(errors)}, p50 {p50:.2f}, p99 {p99:.2f}, worst {worst:.2f} ms")  # noqa: T201
    assert belt["passed_without_ok"] == []
    assert set(account["counts"]) == {"OK", "NG", "UNFIT", "LATE", "FAULT"}
    expected = {one: verdict_of(one) for one in range(1, 46)}
    told = {one["trigger_id"]: one["verdict"] for one in account["verdicts"]}
    late_by_load = {one for one, verdict in told.items() if verdict != expected[one].name}
    assert {told[one] for one in late_by_load} <= {"LATE"}
    assert (belt["passed"] + belt["ejected"], belt["on_the_belt"]) == (45, 0)
    explained = [e["trigger_id"] for e in made.log() if e["event"] == "part_not_let_pass"]
    starved = belt["watchdog_bites"] + len(explained)  # by a machine with other work
    assert len(belt["ejected_with_ok"]) <= starved <= 4
    assert made.logged("reject_not_confirmed") == 0
    good = sum(verdict is Verdict.OK for verdict in expected.values())
    assert belt["passed"] >= good - len(late_by_load) - starved


def test_whoever_is_killed_no_bad_part_passes(line: _Line) -> None:
    """Sink, judge and ejector by kill -9 in mid-run: OK parts pass again, and nothing else ever."""
    line.wait_for(lambda: line.logged("ejector_reached") == 1)
    for role in ("sink", "judge", "reject", "camera", "reject"):
        time.sleep(2.5)
        lives = line.logged("process_ready", role=role)
        line.child(role).kill()
        line.wait_for(lambda: line.logged("process_ready", role=role) > lives)  # noqa: B023
    time.sleep(5)
    line.stop()
    belt = line.account()["belt"]
    print({key: belt[key] for key in belt if key != "edge_errors_ms"})  # noqa: T201
    assert belt["passed_without_ok"] == []
    assert line.logged("ejector_reached") == 3
    assert belt["passed"] >= 5


def test_an_ejector_that_hangs_is_closed_by_the_watchdog(line: _Line) -> None:
    """SIGSTOP: READY falls, the module releases, the process is killed and comes back."""
    line.wait_for(lambda: line.logged("ejector_reached") == 1)
    time.sleep(3)
    line.child("reject").suspend()
    line.wait_for(lambda: line.logged("process_stalled", role="reject") == 1)
    line.wait_for(lambda: line.logged("ejector_reached") == 2)
    time.sleep(4)
    line.stop()
    account = line.account()
    assert account["belt"]["passed_without_ok"] == []
    assert account["passed_unready"] > 0
    assert account["belt"]["passed"] > 0


def test_without_a_plc_the_camera_triggers_and_the_output_follows(tmp_path: Path) -> None:
    """A free-running camera, no encoder: on for the zone of each OK part, off between all parts."""
    way_ns = (1250 - 20) * MS
    """500 mm at 400 mm/s, less the valve."""
    with playing(_REJECT) as module:
        made = _Line(tmp_path, 25, _WITHOUT_A_PLC, module.port)
        assert made.process.wait(150) == 0, "\n".join(map(str, made.log()))
        events = _events(tmp_path)
        was_on = [module.belt.was_on(fired_ns + way_ns) for _, fired_ns in events]
        between = [module.belt.was_on(fired_ns + way_ns + 200 * MS) for _, fired_ns in events]
        assert not module.belt.is_on
    verdicts = [verdict for verdict, _ in events]
    assert len(verdicts) == 25
    assert set(verdicts) == {"OK", "NG", "UNFIT", "LATE", "FAULT"}
    assert was_on == [verdict == "OK" for verdict in verdicts]
    assert between == [False] * 25


def _events(folder: Path) -> list[tuple[str, int]]:
    """Verdict and moment of the trigger of every part in the record."""
    file = folder / "record" / "events.sqlite"
    connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    try:
        return connection.execute("SELECT verdict, fired_ns FROM events").fetchall()
    finally:
        connection.close()
