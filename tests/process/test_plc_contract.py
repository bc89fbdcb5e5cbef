"""The PLC contract as a line and a simulated PLC play it, over a real connection."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import psutil
import pytest

from inspectd.errors import PlcFault
from inspectd.plc.codes import StatusBit
from inspectd.plc.registers import NO_SEQUENCE
from inspectd.stages.sink.modbus import ModbusPeer

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(240)]

_ROOT = Path(__file__).parents[2]
_FILE = """
line: contract
engine: {engine}
models:
  - {{name: bottle_cap, path: {model}}}
record: {{folder: {folder}/record, min_free_mb: 0}}
stations:
  - name: one
    cycle_ms: 50
    slots: 24
    deadline_ms: 1000
    budget: {{camera_ms: 200, gate_ms: 200, infer_ms: 200, judge_ms: 200, sink_ms: 200}}
    trigger: {{kind: plc, poll_ms: 2}}
    camera: {{kind: replay, path: {folder}/pictures, width_px: 64, height_px: 64}}
    model: bottle_cap
    recipes:
      - number: 1
        name: anything
        rules: [{{kind: forbid, name: no_cap, labels: [Cap], min_score: 0.5}}]
      - number: 2
        name: with-cap
        rules: [{{kind: count, name: cap, label: Cap, min_score: 0.5, min: 1}}]
    plc: {{kind: modbus, port: {port}, word_order: low_first, byte_order: little,
      trigger_bits: 16, trigger_skips_zero: true{simulator}}}
"""
_SCRIPTED = "{kind: scripted, base_ms: 4, per_frame_ms: 2}"
_PADDLE = "{kind: paddle, backend: plain}"


def _station_file(folder: Path, engine: str, simulator: str = "", port: int = 0) -> Path:
    """Write pictures and a station file."""
    pictures = folder / "pictures"
    pictures.mkdir()
    noise = np.random.default_rng(3)
    for i in range(7):
        cv2.imwrite(str(pictures / f"{i}.png"), noise.integers(0, 256, (64, 64, 3), np.uint8))
    model = _ROOT / "inspectd" / "models" / "bottle_cap"
    file = folder / "line.yaml"
    file.write_text(
        _FILE.format(folder=folder, model=model, engine=engine, simulator=simulator, port=port),
        encoding="utf-8",
    )
    return file


def _run(file: Path, *options: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "inspectd", "run", str(file), *options],
        cwd=_ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _report(folder: Path) -> dict[str, Any]:
    text = (folder / "record" / "plc-sim-one.json").read_text(encoding="utf-8")
    report: dict[str, Any] = json.loads(text)
    return report


def _until(what: Callable[[], object], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.05)


def test_a_plc_chooses_recipes_and_every_part_names_its_own(tmp_path: Path) -> None:
    """Counter of 16 bits without 0, low word and low byte first; commands are all answered."""
    commands = '["recipe:1", "recipe:9@1", "recipe:2@2", "golden@3", "reset@3.5"]'
    simulator = f", simulator: {{rate_hz: 15, commands: {commands}}}"
    file = _station_file(tmp_path, _SCRIPTED, simulator)
    line = _run(file, "--parts", "90")
    _, errors = line.communicate(timeout=200)
    assert line.returncode == 0, errors
    told = _report(tmp_path)
    for key in ("missing", "duplicates", "out_of_order", "unknown"):
        assert told[key] == []
    answers = [(one["state"], one["result"]) for one in told["commands"]]
    assert answers == [
        ("COMPLETED", "NONE"),
        ("FAILED", "UNKNOWN_RECIPE"),
        ("COMPLETED", "NONE"),
        ("FAILED", "NO_GOLDEN"),  # a scripted engine proves nothing
        ("COMPLETED", "NONE"),
    ]
    recipes = [one["recipe"] for one in told["verdicts"]]
    assert recipes == sorted(recipes)
    assert set(recipes) == {1, 2}
    by_recipe = {(one["recipe"], one["verdict"]) for one in told["verdicts"]}
    assert by_recipe - {(1, "LATE"), (2, "LATE")} == {(1, "OK"), (2, "NG")}
    with closing(sqlite3.connect(tmp_path / "record" / "events.sqlite")) as database:
        rows = database.execute(
            "SELECT json_extract(detail, '$.recipe.number'), json_extract(detail, '$.recipe.name')"
            " FROM events ORDER BY sequence"
        ).fetchall()
    names = {1: "anything", 2: "with-cap"}
    assert rows == [(number, names[number]) for number in recipes]


def test_the_golden_test_runs_the_picture_through_the_engine_that_judges(tmp_path: Path) -> None:
    """A real model, a real run, and what was stored is found again."""
    file = _station_file(
        tmp_path, _PADDLE, ', simulator: {rate_hz: 5, commands: ["recipe:1", "golden@1"]}'
    )
    line = _run(file, "--parts", "25")
    _, errors = line.communicate(timeout=220)
    assert line.returncode == 0, errors
    told = _report(tmp_path)
    assert [(one["command"], one["state"]) for one in told["commands"]] == [
        (3, "COMPLETED"),
        (2, "COMPLETED"),
    ]
    assert told["missing"] == []


@pytest.fixture
def plc(tmp_path: Path) -> Iterator[ModbusPeer]:
    """A simulated PLC of its own, which outlives the line."""
    ready, said = os.pipe()
    simulator = subprocess.Popen(
        [
            *(sys.executable, "-m", "inspectd.plc.simulator", "--port", "0", "--rate-hz", "10"),
            *("--word-order", "low_first", "--byte-order", "little", "--trigger-bits", "16"),
            *("--skip-zero", "--command", "recipe:1", "--ready-fd", str(said)),
            *("--report", str(tmp_path / "plc.json")),
        ],
        cwd=_ROOT,
        pass_fds=(said,),
    )
    os.close(said)
    with os.fdopen(ready, "rb") as told:
        port = int(told.readline())
    peer = ModbusPeer(
        "127.0.0.1",
        port,
        device_id=1,
        base_register=0,
        word_order="low_first",
        byte_order="little",
        timeout_ms=1000,
    )
    (tmp_path / "port").write_text(str(port), encoding="utf-8")
    _until(lambda: _connects(peer))
    yield peer
    peer.close()
    simulator.terminate()
    simulator.wait(20)


def _connects(peer: ModbusPeer) -> bool:
    """Whether the PLC has scanned once; its own connection is left open."""
    try:
        peer.connect()
    except PlcFault:
        return False
    return True


@pytest.mark.parametrize("is_hung", [False, True])
def test_a_second_signal_leaves_the_registers_in_the_reject_state(
    tmp_path: Path, plc: ModbusPeer, *, is_hung: bool
) -> None:
    """At once, also when a stage hangs: not ready, no verdict to take, heartbeat at rest."""
    port = int((tmp_path / "port").read_text(encoding="utf-8"))
    line = _run(_station_file(tmp_path, _SCRIPTED, port=port))
    try:
        _until(lambda: StatusBit.READY in plc.read_head().status)
        _until(lambda: plc.read_verdict().sequence > 3)
        if is_hung:
            children = psutil.Process(line.pid).children(recursive=True)
            gate = next(child for child in children if "--role gate " in " ".join(child.cmdline()))
            gate.suspend()
        line.send_signal(signal.SIGTERM)
        line.send_signal(signal.SIGINT)
        line.communicate(timeout=30)
    finally:
        line.kill()
        line.communicate()
    head, block = plc.read_head(), plc.read_verdict()
    assert head.status == StatusBit(0)
    assert block.sequence == NO_SEQUENCE or plc.read_part().acknowledged != block.sequence
    time.sleep(0.5)
    assert plc.read_head().heartbeat == head.heartbeat
