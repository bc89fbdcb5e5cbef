"""Parts a second through all real processes, held against the limit of a scripted engine.

The engine sleeps a set time per run and holds no CPU, so whatever is missing to its own limit is
what the pipeline costs. More parts are offered than the engine can take; those without a free slot
are FAULT and do not count, as in a line that is too fast.
"""

import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from inspectd.config.schema import (
    AbsentPlc,
    Budget,
    ForbidRule,
    Line,
    Model,
    Record,
    ReplayCamera,
    ScriptedEngine,
    Station,
    TimerTrigger,
)
from inspectd.errors import UsageFault
from inspectd.frame import Role
from inspectd.host.board import State
from inspectd.host.log import make_log
from inspectd.host.supervisor import Plan, Supervisor
from inspectd.ports import Counter, Status
from inspectd.stages.infer.scripted import Scripted

__all__ = ["Throughput", "bench_line", "measure"]

_SIDE_PX = 64
_PICTURES = 16
_OFFERED = 1.3
"""Times the engine's limit."""
_WARM_UP_NS = 2_000_000_000
_ALONE_NS = 1_500_000_000
_ENGINE = ScriptedEngine(kind="scripted", base_ms=4.0, per_frame_ms=2.0)


@dataclass(frozen=True, slots=True)
class Throughput:
    """What was measured."""

    parts: int
    """Judged within the window."""
    seconds: float
    batches: int
    """Runs of the engine within the window."""
    limit_hz: float
    """The engine alone, with full batches: measured before and after, in this very run."""
    script_hz: float
    """The same if a sleep took exactly its time."""

    @property
    def rate_hz(self) -> float:
        """Parts judged a second."""
        return self.parts / self.seconds

    @property
    def share(self) -> float:
        """Of the engine's limit."""
        return self.rate_hz / self.limit_hz


def measure(folder: Path, seconds: float, batch_max: int) -> Throughput:
    """Run a line of one station for a while; `folder` takes its pictures and its record.

    Raises:
        UsageFault: the line ended before the window was over.
    """
    line = bench_line(folder, batch_max)
    before_hz = _alone_hz(batch_max)
    window = _Window(int(seconds * 1e9))
    plan = Plan(log_level="error")
    log = make_log("supervisor", plan.run_id, "error")
    outcome = Supervisor(line, plan, log, on_turn=window.look).run()
    if window.last is None or window.first is None:
        raise UsageFault(f"the line ended early ({outcome.why})", "throughput", "see its messages")
    (begin_ns, judged, batches), (end_ns, judged_then, batches_then) = window.first, window.last
    return Throughput(
        parts=judged_then - judged,
        seconds=(end_ns - begin_ns) / 1e9,
        batches=batches_then - batches,
        limit_hz=(before_hz + _alone_hz(batch_max)) / 2,
        script_hz=_script_hz(batch_max),
    )


def _script_hz(batch_max: int) -> float:
    return 1e3 * batch_max / (_ENGINE.base_ms + _ENGINE.per_frame_ms * batch_max)


def _alone_hz(batch_max: int) -> float:
    """Frames a second of the engine with nothing around it."""
    engine = Scripted(_ENGINE, "scores")
    frames = np.zeros((batch_max, 3, _SIDE_PX, _SIDE_PX), np.float32)
    begin_ns, runs = time.monotonic_ns(), 0
    while time.monotonic_ns() - begin_ns < _ALONE_NS:
        engine.run(frames, {})
        runs += 1
    return batch_max * runs / ((time.monotonic_ns() - begin_ns) / 1e9)


class _Window:
    """Reads the counters when the line has warmed up, and again when the time is over."""

    def __init__(self, length_ns: int) -> None:
        self._length_ns = length_ns
        self._ready_ns = 0
        self.first: tuple[int, int, int] | None = None
        self.last: tuple[int, int, int] | None = None

    def look(self, states: Sequence[State]) -> None:
        """Note time, parts judged, runs; ask the supervisor to end after the window."""
        now_ns = time.monotonic_ns()
        of = {state.role: state for state in states}
        if of[Role.CAMERA].status is not Status.READY:
            return
        self._ready_ns = self._ready_ns or now_ns
        seen = (
            now_ns,
            of[Role.JUDGE].counters[Counter.FRAMES],
            of[Role.INFER].counters[Counter.BATCHES],
        )
        if self.first is None:
            if now_ns - self._ready_ns >= _WARM_UP_NS:
                self.first = seen
        elif self.last is None and now_ns - self.first[0] >= self._length_ns:
            self.last = seen
            signal.raise_signal(signal.SIGTERM)


def bench_line(folder: Path, batch_max: int) -> Line:
    """A line of one free-running station with generated pictures; there is no model directory."""
    pictures = folder / "pictures"
    pictures.mkdir(parents=True)
    noise = np.random.default_rng(1)
    for i in range(_PICTURES):
        pixels = noise.integers(0, 256, (_SIDE_PX, _SIDE_PX, 3), np.uint8)
        cv2.imwrite(str(pictures / f"part-{i:02}.png"), pixels)
    station = Station(
        name="bench",
        cycle_ms=1,
        deadline_ms=2000,
        budget=Budget(camera_ms=400, gate_ms=400, infer_ms=400, judge_ms=400, sink_ms=400),
        slots=max(16, 4 * batch_max),
        trigger=TimerTrigger(kind="timer", rate_hz=_OFFERED * _script_hz(batch_max)),
        camera=ReplayCamera(
            kind="replay", path=str(pictures), width_px=_SIDE_PX, height_px=_SIDE_PX
        ),
        model="none",
        rules=(ForbidRule(kind="forbid", name="any", labels=("Cap",), min_score=0.5),),
        plc=AbsentPlc(kind="none"),
    )
    return Line(
        line="bench",
        engine=_ENGINE,
        models=(Model(name="none", path=str(folder / "none"), batch_max=batch_max),),
        stations=(station,),
        record=Record(folder=str(folder / "record"), archive=()),
    )
