"""What a line costs: start to ready, processor time and memory of each process, idle and busy."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from inspectd.bench.finding import Finding
from inspectd.bench.lines import bench_line, limit_hz
from inspectd.bench.window import Watched, watched_run

__all__ = ["find"]

_IDLE_HZ = 0.5
_BUSY = 0.8


def find(seconds: float, batch_max: int) -> Finding:
    """Watch a line of one station with hardly a part, and at `_BUSY` of the engine's limit."""
    with tempfile.TemporaryDirectory(prefix="inspectd-bench-") as folder:
        idle = watched_run(bench_line(Path(folder), [_IDLE_HZ], batch_max), seconds)
    rate_hz = _BUSY * limit_hz(batch_max)
    with tempfile.TemporaryDirectory(prefix="inspectd-bench-") as folder:
        busy = watched_run(bench_line(Path(folder), [rate_hz], batch_max), seconds)
    idle_of, busy_of = dict(_processes(idle)), dict(_processes(busy))
    return Finding(
        title=f"a line of one station, no model: idle, and at {rate_hz:.0f} parts/s",
        lines=[
            ("start to ready", f"{idle.ready_s:.2f} s, {busy.ready_s:.2f} s"),
            *(
                (
                    role,
                    (
                        f"CPU {idle_of[role][0]:6.1%} {busy_of[role][0]:6.1%}   "
                        f"memory {idle_of[role][1]:5.0f} {busy_of[role][1]:5.0f} MB"
                    ),
                )
                for role in busy_of
            ),
        ],
        numbers={
            "busy_hz": round(rate_hz, 1),
            "ready_s": [round(idle.ready_s, 3), round(busy.ready_s, 3)],
            "processes": {
                role: {
                    "cpu_share": [round(idle_of[role][0], 4), round(busy_of[role][0], 4)],
                    "memory_mb": [round(idle_of[role][1], 1), round(busy_of[role][1], 1)],
                }
                for role in busy_of
            },
        },
    )


def _processes(seen: Watched) -> Iterator[tuple[str, tuple[float, float]]]:
    """Share of one core, and MB, of each process within the window."""
    for state in seen.last.states:
        used = seen.last.cpu_s.get(state.pid, 0.0) - seen.first.cpu_s.get(state.pid, 0.0)
        yield (
            state.role.name.lower(),
            (used / seen.seconds, seen.last.memory_mb.get(state.pid, 0.0)),
        )
