"""Parts a second through all real processes, held against the limit of an engine that only sleeps.

Whatever is missing to the engine's own limit is what the pipeline costs. More parts are offered
than the engine can take; those without a free slot are FAULT and do not count, as in a line that
is too fast. With one, two and four stations on the one engine.
"""

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from inspectd.bench.finding import Finding
from inspectd.bench.lines import ENGINE, SIDE_PX, bench_line, limit_hz
from inspectd.bench.window import watched_run
from inspectd.frame import Role
from inspectd.ports import Counter
from inspectd.stages.infer.scripted import Scripted

__all__ = ["Throughput", "find", "measure"]

_SHARE_MIN = 0.95
"""Aim: so much of the engine's own limit."""
_OFFERED = 1.3
"""Times the engine's limit."""
_ALONE_NS = 1_500_000_000


@dataclass(frozen=True, slots=True)
class Throughput:
    """What was measured."""

    stations: int
    parts: int
    """Judged within the window."""
    seconds: float
    batches: int
    """Runs of the engine within the window."""
    limit_hz: float
    """The engine alone, with full batches: measured before and after, in this very run."""

    @property
    def rate_hz(self) -> float:
        """Parts judged a second."""
        return self.parts / self.seconds

    @property
    def share(self) -> float:
        """Of the engine's limit."""
        return self.rate_hz / self.limit_hz


def find(seconds: float, batch_max: int, stations: tuple[int, ...] = (1, 2, 4)) -> Finding:
    """Measure lines of so many stations."""
    each = [measure(number, seconds, batch_max) for number in stations]
    alone = next((one for one in each if one.stations == 1), each[0])
    return Finding(
        title=f"throughput, engine of {ENGINE.base_ms:g} ms + {ENGINE.per_frame_ms:g} ms a frame, "
        f"batches of at most {batch_max}",
        lines=[
            (
                f"{one.stations} station{'s' if one.stations > 1 else ''}",
                (
                    f"{one.rate_hz:7.1f} of {one.limit_hz:.1f} parts/s, share {one.share:.3f}, "
                    f"mean batch {one.parts / max(1, one.batches):.1f}"
                ),
            )
            for one in each
        ],
        numbers={
            "batch_max": batch_max,
            "script_hz": round(limit_hz(batch_max), 1),
            "stations": [
                {
                    "stations": one.stations,
                    "rate_hz": round(one.rate_hz, 1),
                    "limit_hz": round(one.limit_hz, 1),
                    "share": round(one.share, 4),
                    "batch_mean": round(one.parts / max(1, one.batches), 2),
                    "parts": one.parts,
                }
                for one in each
            ],
        },
        aim=f"share at least {_SHARE_MIN} with one station",
        is_met=alone.share >= _SHARE_MIN,
    )


def measure(stations: int, seconds: float, batch_max: int) -> Throughput:
    """Run a line of so many stations, offered more than it can take.

    Raises:
        UsageFault: the line ended before the window was over.
    """
    rate_hz = _OFFERED * limit_hz(batch_max) / stations
    before_hz = _alone_hz(batch_max)
    with tempfile.TemporaryDirectory(prefix="inspectd-bench-") as folder:
        line = bench_line(Path(folder), [rate_hz] * stations, batch_max)
        seen = watched_run(line, seconds)
    return Throughput(
        stations=stations,
        parts=seen.gained(Role.JUDGE, Counter.FRAMES),
        seconds=seen.seconds,
        batches=seen.gained(Role.INFER, Counter.BATCHES),
        limit_hz=(before_hz + _alone_hz(batch_max)) / 2,
    )


def _alone_hz(batch_max: int) -> float:
    """Frames a second of the engine with nothing around it."""
    engine = Scripted(ENGINE, "scores")
    frames = np.zeros((batch_max, 3, SIDE_PX, SIDE_PX), np.float32)
    begin_ns, runs = time.monotonic_ns(), 0
    while time.monotonic_ns() - begin_ns < _ALONE_NS:
        engine.run(frames, {})
        runs += 1
    return batch_max * runs / ((time.monotonic_ns() - begin_ns) / 1e9)
