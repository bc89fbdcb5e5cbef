"""Lines to measure with: generated pictures, no PLC, and an engine that takes a set time.

More stations share one engine, as on a real line. Nothing is archived.
"""

from collections.abc import Sequence
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

__all__ = ["ENGINE", "SIDE_PX", "bench_line", "limit_hz"]

SIDE_PX = 64
ENGINE = ScriptedEngine(kind="scripted", base_ms=4.0, per_frame_ms=2.0)
"""Sleeps, and holds no CPU: what is missing to its own rate is what the pipeline costs."""
_PICTURES = 16


def bench_line(folder: Path, rates_hz: Sequence[float], batch_max: int) -> Line:
    """A line of free-running stations, one for each rate; there is no model directory."""
    pictures = folder / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    noise = np.random.default_rng(1)
    for i in range(_PICTURES):
        pixels = noise.integers(0, 256, (SIDE_PX, SIDE_PX, 3), np.uint8)
        cv2.imwrite(str(pictures / f"part-{i:02}.png"), pixels)
    return Line(
        line="bench",
        engine=ENGINE,
        models=(Model(name="none", path=str(folder / "none"), batch_max=batch_max),),
        stations=tuple(
            _station(f"bench-{i}", pictures, rate_hz, batch_max)
            for i, rate_hz in enumerate(rates_hz)
        ),
        record=Record(folder=str(folder / "record"), archive=()),
    )


def limit_hz(batch_max: int) -> float:
    """Frames a second of the engine with full batches, if a sleep took exactly its time."""
    return 1e3 * batch_max / (ENGINE.base_ms + ENGINE.per_frame_ms * batch_max)


def _station(name: str, pictures: Path, rate_hz: float, batch_max: int) -> Station:
    return Station(
        name=name,
        cycle_ms=1,
        deadline_ms=2000,
        budget=Budget(camera_ms=400, gate_ms=400, infer_ms=400, judge_ms=400, sink_ms=400),
        slots=max(16, 4 * batch_max),
        trigger=TimerTrigger(kind="timer", rate_hz=rate_hz),
        camera=ReplayCamera(kind="replay", path=str(pictures), width_px=SIDE_PX, height_px=SIDE_PX),
        model="none",
        rules=(ForbidRule(kind="forbid", name="any", labels=("Cap",), min_score=0.5),),
        plc=AbsentPlc(kind="none"),
    )
