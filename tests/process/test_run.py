"""`inspectd run` as a user starts it: real stages, generated pictures, a scripted engine."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import psutil
import pytest

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(180)]

_ROOT = Path(__file__).parents[2]
_FILE = """
line: trial
engine: {{kind: scripted, base_ms: 4, per_frame_ms: 2}}
models:
  - {{name: none, path: {model}}}
record: {{folder: {folder}/record, min_free_mb: 0}}
stations:
  - name: one
    cycle_ms: 50
    slots: 24
    deadline_ms: 1000
    budget: {{camera_ms: 200, gate_ms: 200, infer_ms: 200, judge_ms: 200, sink_ms: 200}}
    trigger: {trigger}
    camera: {{kind: replay, path: {folder}/pictures, width_px: 64, height_px: 64}}
    model: none
    rules:
      - {{kind: forbid, name: none_there, labels: [Cap], min_score: 0.5}}
    plc: {plc}
"""
_TIMER = "{kind: timer, rate_hz: 20}"
_NO_PLC = "{kind: none}"
_SIMULATED = "{kind: modbus, port: 0, simulator: {rate_hz: 10}}"


def _station_file(folder: Path, trigger: str = _TIMER, plc: str = _NO_PLC) -> Path:
    """Write pictures and a station file."""
    pictures = folder / "pictures"
    pictures.mkdir()
    noise = np.random.default_rng(3)
    for i in range(7):
        cv2.imwrite(str(pictures / f"{i}.png"), noise.integers(0, 256, (64, 64, 3), np.uint8))
    file = folder / "line.yaml"
    model = _ROOT / "inspectd" / "models" / "bottle_cap"
    text = _FILE.format(folder=folder, model=model, trigger=trigger, plc=plc)
    file.write_text(text, encoding="utf-8")
    return file


def _start(file: Path, *options: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "inspectd", "run", str(file), *options],
        cwd=_ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _events(folder: Path) -> list[tuple[int, str, str]]:
    """What the record knows: trigger, verdict, reason, in the order in which verdicts left."""
    database = folder / "record" / "events.sqlite"
    if not database.exists():
        return []
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        return connection.execute(
            "SELECT trigger_id, verdict, reason FROM events ORDER BY sequence"
        ).fetchall()
    except sqlite3.OperationalError:
        return []
    finally:
        connection.close()


def _child(process: "subprocess.Popen[str]", role: str) -> psutil.Process | None:
    """A living process of the line; None while there is none."""
    children = psutil.Process(process.pid).children(recursive=True)
    return next((child for child in children if f"--role {role} " in _command(child)), None)


def _command(process: psutil.Process) -> str:
    """Its command line; empty when it has just died."""
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return ""


def _wait(what: "Any", process: "subprocess.Popen[str]", seconds: float = 90) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until
        assert process.poll() is None
        time.sleep(0.05)


def test_fifty_parts_are_fifty_events(tmp_path: Path) -> None:
    """One trigger, one verdict, in order, and the record knows all of them; exit 0."""
    report = tmp_path / "out.json"
    line = _start(_station_file(tmp_path), "--parts", "50", "--report", str(report))
    _, errors = line.communicate(timeout=120)
    assert line.returncode == 0, errors
    events = _events(tmp_path)
    first = events[0][0]
    assert [trigger for trigger, _, _ in events] == list(range(first, first + 50))
    assert {verdict for _, verdict, _ in events} <= {"OK", "LATE"}
    written = json.loads(report.read_text(encoding="utf-8"))
    assert (written["parts"], written["exit"]) == (50, 0)


def test_the_plc_is_told_what_the_record_knows(tmp_path: Path) -> None:
    """With the simulated PLC: its own account of triggers and verdicts agrees."""
    file = _station_file(tmp_path, "{kind: plc, poll_ms: 2}", _SIMULATED)
    line = _start(file, "--parts", "30")
    _, errors = line.communicate(timeout=120)
    assert line.returncode == 0, errors
    told = json.loads((tmp_path / "record" / "plc-sim-one.json").read_text(encoding="utf-8"))
    assert len(_events(tmp_path)) == 30
    assert told["fired"] == 30


def test_every_killed_stage_costs_parts_but_no_verdict(tmp_path: Path) -> None:
    """Each is killed once: triggers go on without a gap, and OK comes back after each."""
    line = _start(_station_file(tmp_path))
    try:
        _wait(lambda: len(_events(tmp_path)) > 10, line)
        for role in ("gate", "judge", "infer", "record"):
            killed = _child(line, role)
            assert killed is not None
            killed.kill()
            _wait(lambda: (now := _child(line, role)) and now.pid != killed.pid, line)  # noqa: B023
            seen = len(_events(tmp_path))
            _wait(
                lambda: [e[1] for e in _events(tmp_path)[seen:]][-5:] == ["OK"] * 5,  # noqa: B023
                line,
            )
        line.send_signal(signal.SIGTERM)
        _, errors = line.communicate(timeout=60)
    finally:
        line.kill()
        line.communicate()
    assert line.returncode == 0, errors
    triggers = [trigger for trigger, _, _ in _events(tmp_path)]
    assert sorted(triggers) == list(range(min(triggers), min(triggers) + len(triggers)))


def test_a_wrong_file_is_refused_with_exit_2(tmp_path: Path) -> None:
    """Before anything is started, with place, key and remedy; no traceback."""
    file = _station_file(tmp_path)
    file.write_text(file.read_text(encoding="utf-8") + "\nfoo: 1\n", encoding="utf-8")
    line = _start(file)
    _, errors = line.communicate(timeout=60)
    assert line.returncode == 2
    assert "foo" in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "record").exists()


def test_a_report_without_a_folder_is_refused_before_the_start(tmp_path: Path) -> None:
    """Not after a shift of parts."""
    line = _start(_station_file(tmp_path), "--report", str(tmp_path / "no" / "out.json"))
    _, errors = line.communicate(timeout=60)
    assert line.returncode == 2
    assert "make the folder first" in errors


def test_systemd_is_told_when_everybody_is_ready(tmp_path: Path) -> None:
    """READY only after the last process, then STOPPING."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(90)
        line = subprocess.Popen(
            [sys.executable, "-m", "inspectd", "run", str(_station_file(tmp_path)), "--quiet"],
            cwd=_ROOT,
            env={**os.environ, "NOTIFY_SOCKET": str(tmp_path / "notify")},
        )
        try:
            said = ""
            while "READY=1" not in said:
                said = manager.recv(4096).decode()
            assert len(psutil.Process(line.pid).children()) == 6
            line.send_signal(signal.SIGTERM)
            while "STOPPING=1" not in said:
                said = manager.recv(4096).decode()
            assert line.wait(60) == 0
        finally:
            line.kill()
            line.wait()
