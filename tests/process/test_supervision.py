"""Supervision, seen from a PLC: whatever hangs or ends, parts are told and outputs are safe."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import cv2
import numpy as np
import pytest
from pymodbus.client import ModbusTcpClient

from inspectd.chaos.books import Tracked
from inspectd.chaos.page import Word
from inspectd.chaos.world import Settings, World
from inspectd.config.load import load
from inspectd.frame import Role
from inspectd.plc.registers import HEAD, VERDICT, decode_head, decode_verdict

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(240)]

_ROOT = Path(__file__).parents[2]
_FOREVER_NS = 1 << 62
_FILE = """
line: trial
engine: {{kind: scripted, base_ms: 4, per_frame_ms: 2}}
models:
  - {{name: none, path: {model}}}
record: {{folder: record, min_free_mb: 0}}
stations:
  - name: one
    cycle_ms: 200
    slots: 80
    deadline_ms: 12000
    budget: {{camera_ms: 800, gate_ms: 800, infer_ms: 800, judge_ms: 800, sink_ms: 800}}
    trigger: {{kind: plc, poll_ms: 2}}
    camera: {{kind: replay, path: pictures, width_px: 64, height_px: 64}}
    model: none
    rules:
      - {{kind: forbid, name: none_there, labels: [Cap], min_score: 0.5}}
    plc: {{kind: modbus, port: 0, simulator: {{rate_hz: 5}}}}
"""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A line with generated pictures and an engine that finds nothing: all parts are OK."""
    (tmp_path / "pictures").mkdir()
    noise = np.random.default_rng(3)
    for i in range(5):
        picture = noise.integers(0, 256, (64, 64, 3), np.uint8)
        cv2.imwrite(str(tmp_path / "pictures" / f"{i}.png"), picture)
    file = tmp_path / "line.yaml"
    model = _ROOT / "inspectd" / "models" / "bottle_cap"
    file.write_text(_FILE.format(model=model), encoding="utf-8")
    with ExitStack() as rest:
        settings = Settings(has_small_disk=False, folder=tmp_path / "trial")
        made = World(load(file), settings, rest)
        assert made.wait_for(lambda: len(made.plcs[0].book.order) > 3, 120), _log(made)
        yield made


def _log(world: World) -> str:
    return (world.folder / "line.log").read_text(encoding="utf-8")


def _fired_after(world: World, moment_ns: int) -> list[Tracked]:
    return [part for part in world.plcs[0].book.parts.values() if part.fired_ns > moment_ns]


def _is_safe(world: World) -> bool:
    """Whether the PLC's registers say: not ready, and no verdict to take."""
    client = ModbusTcpClient("127.0.0.1", port=world.plcs[0].port, timeout=5)
    assert client.connect()  # type: ignore[no-untyped-call]
    try:
        head = client.read_holding_registers(HEAD.offset, count=HEAD.words, device_id=1)
        block = client.read_holding_registers(VERDICT.offset, count=VERDICT.words, device_id=1)
    finally:
        client.close()  # type: ignore[no-untyped-call]
    status = decode_head(head.registers, "high_first").status
    return not status and not decode_verdict(block.registers, "high_first").sequence


def _ended(world: World, seconds: float) -> int:
    """Wait for the line's end without starting it again; answer its exit code."""
    process = world.house._process
    assert process is not None
    until = time.monotonic() + seconds
    while process.poll() is None:
        assert time.monotonic() < until, _log(world)
        time.sleep(0.02)
        world.plcs[0].read()
    return int(process.returncode)


def test_a_driver_call_that_never_returns_is_ended_and_its_part_is_fault(world: World) -> None:
    """The watchdog needs no help of the driver; READY falls, the part is told, OK comes back."""
    begin_ns = time.monotonic_ns()
    stuck = world.house.target(Role.CAMERA, 0)
    world.page.set(Word.CAMERA_HANGS_UNTIL_NS, _FOREVER_NS)
    assert world.wait_for(lambda: world.house.target(Role.CAMERA, 0) not in (0, stuck), 60)
    world.page.set(Word.CAMERA_HANGS_UNTIL_NS, 0)
    book = world.plcs[0].book
    assert world.wait_for(lambda: book.first_ok_after(time.monotonic_ns() - 10**9) is not None, 60)
    assert "process_stalled" in _log(world)
    assert book.fell_between(begin_ns, time.monotonic_ns())
    first = _fired_after(world, begin_ns)[0]
    assert (first.taken[0].verdict, first.taken[0].reason) == ("FAULT", "PROCESS_LOST")
    assert all(len(part.taken) == 1 for part in book.order)


def test_a_budget_of_restarts_that_ends_leaves_the_outputs_safe(world: World) -> None:
    """The line ends by itself, says why, and the PLC reads: not ready, nothing to take."""
    process = world.house._process
    assert process is not None
    until = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < until:
        pid = world.house.target(Role.JUDGE, 0)
        if pid:
            _kill(pid)
        time.sleep(0.05)
    assert _ended(world, 1) == 1
    assert "judge died too often" in _log(world)
    assert _is_safe(world)


def test_a_second_sigterm_ends_at_once_with_outputs_safe(world: World) -> None:
    """Although a stage hangs and would be waited for."""
    world.wait_for(lambda: world.house.target(Role.GATE, 0) > 0, 10)
    process = world.house._process
    assert process is not None
    _stop(world.house.target(Role.GATE, 0))
    process.send_signal(signal.SIGTERM)
    time.sleep(0.5)
    begin = time.monotonic()
    process.send_signal(signal.SIGTERM)
    _ended(world, 30)
    assert time.monotonic() - begin < 10
    world.wait(0.1)
    assert not world.plcs[0].read().is_ready[-1][1]


def test_a_stage_that_hangs_cannot_hold_the_end_up(world: World) -> None:
    """One SIGTERM: everybody has his bound, whoever is over it is killed, and parts are told."""
    _stop(world.house.target(Role.JUDGE, 0))
    world.wait(0.5)
    process = world.house._process
    assert process is not None
    process.send_signal(signal.SIGTERM)
    _ended(world, 60)
    world.wait(0.5)
    assert _is_safe(world)
    assert [part.trigger_id for part in world.plcs[0].book.parts.values() if not part.taken] == []


def _kill(pid: int) -> None:
    """Kill a process of the line, which may just have ended."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _stop(pid: int) -> None:
    """Stop a process of the line."""
    os.kill(pid, signal.SIGSTOP)
