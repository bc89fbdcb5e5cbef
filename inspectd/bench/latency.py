"""From trigger to verdict at four fifths of the engine's limit, held against the stages' own times.

The sum of the stages' p99 is what a planner of budgets adds up: each stage with its own waiting in
it. If parts waited anywhere between the stages, the whole would be more than the sum.
"""

import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from inspectd.bench.finding import Finding
from inspectd.bench.lines import bench_line, limit_hz
from inspectd.bench.window import watched_run
from inspectd.record.reading import STAGE_NAMES, Reading
from inspectd.record.timing import times_ms

__all__ = ["find"]

_LOAD = 0.8
_RATIO_MAX = 1.15


def find(seconds: float, batch_max: int, stations: tuple[int, ...] = (1, 2, 4)) -> Finding:
    """Measure lines of so many stations at `_LOAD` of the engine's limit."""
    each = {number: _times(number, seconds, batch_max) for number in stations}
    ratios = {number: times["total"]["p99"] / _sum(times) for number, times in each.items()}
    return Finding(
        title=f"latency at {_LOAD:.0%} of the engine's limit, milliseconds",
        lines=[
            (
                f"{number} station{'s' if number > 1 else ''}",
                (
                    f"p50 {times['total']['p50']:6.1f}  p99 {times['total']['p99']:6.1f}  "
                    f"sum of the stages' p99 {_sum(times):6.1f}  ratio {ratios[number]:.2f}"
                ),
            )
            for number, times in each.items()
        ],
        numbers={"load": _LOAD, "stations": {str(n): times for n, times in each.items()}},
        aim=f"p99 at most {_RATIO_MAX} of that sum",
        is_met=max(ratios.values()) <= _RATIO_MAX,
    )


def _times(stations: int, seconds: float, batch_max: int) -> dict[str, Any]:
    """Times of each stage over all parts of a run."""
    rate_hz = _LOAD * limit_hz(batch_max) / stations
    with tempfile.TemporaryDirectory(prefix="inspectd-bench-") as folder:
        line = bench_line(Path(folder), [rate_hz] * stations, batch_max)
        seen = watched_run(line, seconds)
        with closing(Reading(Path(line.record.folder) / "events.sqlite")) as reading:
            parts = [
                part
                for part in reading.parts(seen.run_id)
                if seen.first.now_ns <= part.fired_ns <= seen.last.now_ns
            ]
            return times_ms(parts, dict.fromkeys(STAGE_NAMES))


def _sum(times: dict[str, Any]) -> float:
    return float(sum(times[name]["p99"] for name in STAGE_NAMES if name != "total"))
