"""`inspectd chaos` on a small line: a short campaign, an interrupted one, and one with a rogue."""

import json
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import cv2
import numpy as np
import psutil
import pytest
from pymodbus.client import ModbusTcpClient

from inspectd.chaos.campaign import Campaign
from inspectd.chaos.world import Settings, World
from inspectd.config.load import load
from inspectd.frame import Reason, Verdict
from inspectd.plc.registers import VERDICT, VerdictBlock, encode_verdict

pytestmark = [pytest.mark.long, pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(400)]

_ROOT = Path(__file__).parents[2]
_FILE = """
line: trial
engine: {{kind: scripted, base_ms: 4, per_frame_ms: 2}}
models:
  - {{name: none, path: {model}}}
record: {{folder: record, min_free_mb: 0}}
stations:
  - name: one
    cycle_ms: 100
    slots: 32
    deadline_ms: 1500
    budget: {{camera_ms: 200, gate_ms: 200, infer_ms: 200, judge_ms: 200, sink_ms: 200}}
    trigger: {{kind: plc, poll_ms: 2}}
    camera: {{kind: replay, path: pictures, width_px: 64, height_px: 64}}
    model: none
    rules:
      - {{kind: forbid, name: none_there, labels: [Cap], min_score: 0.5}}
    plc: {{kind: modbus, port: 0, simulator: {{rate_hz: 8}}}}
"""
_KINDS = (
    "kill-camera,kill-gate,kill-judge,kill-sink,kill-record,kill-supervisor,wire-half-open,"
    "wire-garble,plc-freeze-long,inject-forged,engine-error,flood"
)


@pytest.fixture
def station_file(tmp_path: Path) -> Path:
    """A line with generated pictures and an engine that finds nothing: all parts are OK."""
    (tmp_path / "pictures").mkdir()
    noise = np.random.default_rng(3)
    for i in range(5):
        picture = noise.integers(0, 256, (64, 64, 3), np.uint8)
        cv2.imwrite(str(tmp_path / "pictures" / f"{i}.png"), picture)
    file = tmp_path / "line.yaml"
    model = _ROOT / "inspectd" / "models" / "bottle_cap"
    file.write_text(_FILE.format(model=model), encoding="utf-8")
    return file


def _chaos(file: Path, *options: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "inspectd", "chaos", str(file), *options],
        cwd=_ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_a_short_campaign_breaks_no_promise(station_file: Path, tmp_path: Path) -> None:
    """Twelve faults of twelve kinds: one verdict per trigger, recorded, nothing leaked; exit 0."""
    report = tmp_path / "chaos.json"
    options = ("--faults", "12", "--seed", "1", "--kinds", _KINDS, "--report", str(report))
    campaign = _chaos(station_file, *options)
    said, _ = campaign.communicate(timeout=380)
    assert campaign.returncode == 0, said
    found = json.loads(report.read_text(encoding="utf-8"))
    assert found["breaches"] == []
    assert len(found["faults"]) == 12
    assert {row["kind"] for row in found["table"]} == set(_KINDS.split(","))
    assert found["parts"] > 50
    assert all(row["p50_s"] is not None for row in found["table"])


def test_an_interrupted_campaign_audits_what_was_done_and_leaves_nothing(
    station_file: Path, tmp_path: Path
) -> None:
    """Ctrl-C: a table, no process of the line or the PLC, no mount."""
    kept = tmp_path / "kept"
    campaign = _chaos(station_file, "--kinds", "stop", "--seed", "2", "--keep", str(kept))
    log = campaign.stdout
    assert log is not None
    while "#1 " not in log.readline():
        assert campaign.poll() is None
    ours = psutil.Process(campaign.pid).children(recursive=True)
    assert len(ours) > 6
    campaign.send_signal(signal.SIGINT)
    said, _ = campaign.communicate(timeout=120)
    assert "interrupted" in said
    assert "breaches" in said
    until = time.monotonic() + 5
    while any(process.is_running() for process in ours) and time.monotonic() < until:
        time.sleep(0.05)
    assert [process for process in ours if process.is_running()] == []
    assert str(kept) not in Path("/proc/mounts").read_text(encoding="utf-8")


def test_a_verdict_that_the_line_did_not_send_is_found(station_file: Path) -> None:
    """A rogue writes verdicts into the PLC: the audit is not blind."""
    with ExitStack() as rest:
        world = World(load(station_file), Settings(has_small_disk=False), rest)
        campaign = Campaign(world, lambda _text: None)
        campaign.begin()
        book = world.plcs[0].book
        client = ModbusTcpClient("127.0.0.1", port=world.plcs[0].port, timeout=5)
        assert client.connect()  # type: ignore[no-untyped-call]
        for sequence, trigger_id in ((60001, next(iter(book.parts))), (60003, 7_000_000)):
            block = VerdictBlock(trigger_id, Verdict.OK, Reason.NONE, sequence)
            client.write_registers(VERDICT.offset, encode_verdict(block, "high_first"), device_id=1)
            world.wait(0.02)
        client.close()  # type: ignore[no-untyped-call]
        world.wait(1)
        outcome = campaign.end()
    assert {breach.rule for breach in outcome.breaches} >= {"answered_twice", "unknown_trigger"}


def test_a_plan_is_printed_without_striking(station_file: Path) -> None:
    """The same seed, the same lines."""
    plans = [_chaos(station_file, "--plan", "--seed", "9", "--faults", "5") for _ in range(2)]
    first, second = (plan.communicate(timeout=120)[0] for plan in plans)
    assert first == second
    assert len(first.splitlines()) == 5


def test_a_kind_that_nobody_has_is_refused(station_file: Path) -> None:
    """With the list of those that there are."""
    campaign = _chaos(station_file, "--kinds", "kill-nobody")
    said, _ = campaign.communicate(timeout=60)
    assert campaign.returncode == 2
    assert "kill-gate" in said
