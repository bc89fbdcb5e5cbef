"""How long parts took at each stage, held against the budget of their station.

Pure. Percentiles are values that occurred (nearest rank): the p99 of 200 parts is the third
largest, so that nothing between two parts is made up.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from inspectd.config.schema import Station
from inspectd.record.reading import STAGE_NAMES, Part

__all__ = ["budgets_ms", "percentile", "times_ms"]


def percentile(ordered: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` (0 to 1) of all values do not exceed.

    Args:
        ordered: Ascending, not empty.
        share: 0.99 for the p99.
    """
    rank = -(-len(ordered) * round(share * 10_000) // 10_000)
    return ordered[max(rank, 1) - 1]


def budgets_ms(station: Station | None) -> dict[str, float | None]:
    """What each stage may take, by name; `total` is the deadline."""
    if station is None:
        return dict.fromkeys(STAGE_NAMES)
    budget = station.budget
    return {
        "camera": budget.camera_ms,
        "gate": budget.gate_ms,
        "infer": budget.infer_ms,
        "judge": budget.judge_ms,
        "sink": budget.sink_ms,
        "total": station.deadline_ms,
    }


def times_ms(
    parts: Iterable[Part], budgets: Mapping[str, float | None]
) -> dict[str, dict[str, Any]]:
    """Summarise each stage: how many parts were there, p50, p99, the slowest, and the budget."""
    columns: list[list[float]] = [[] for _ in STAGE_NAMES]
    for part in parts:
        for column, value in zip(columns, part.times_ms, strict=True):
            if value is not None:
                column.append(value)
    return {
        name: _summary(sorted(column), budgets[name])
        for name, column in zip(STAGE_NAMES, columns, strict=True)
    }


def _summary(ordered: Sequence[float], budget_ms: float | None) -> dict[str, Any]:
    over = None if budget_ms is None else sum(value > budget_ms for value in ordered)
    return {
        "count": len(ordered),
        "p50": round(percentile(ordered, 0.50), 3) if ordered else None,
        "p99": round(percentile(ordered, 0.99), 3) if ordered else None,
        "max": round(ordered[-1], 3) if ordered else None,
        "budget": budget_ms,
        "over_budget": over,
    }
