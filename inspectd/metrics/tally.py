"""What the events of a record add up to, since this began to count. Pure."""

import bisect
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from inspectd.config.schema import Station
from inspectd.frame import Reason, Verdict
from inspectd.metrics.catalog import bounds_of
from inspectd.record.reading import STAGE_NAMES, Part
from inspectd.review.judgement import Judgement

__all__ = ["Heap", "Tally", "budgets_s"]

_VERDICT_OF_HUNDREDS = MappingProxyType(
    {2: Verdict.NG, 3: Verdict.UNFIT, 4: Verdict.LATE, 5: Verdict.FAULT}
)


def budgets_s(station: Station) -> dict[str, float]:
    """What each of `STAGE_NAMES` may take, seconds."""
    budget = station.budget
    stages = {name: getattr(budget, f"{name}_ms") for name in STAGE_NAMES if name != "total"}
    return {name: ms / 1e3 for name, ms in {**stages, "total": station.deadline_ms}.items()}


class Heap:
    """Values counted into buckets."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        """Begin empty; `bounds` are the upper ones of the buckets, a value on one is inside."""
        self._bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        """Per bucket, not summed up; the last has no upper bound."""
        self.sum = 0.0

    def add(self, value: float) -> None:
        """Count one value."""
        self.counts[bisect.bisect_left(self._bounds, value)] += 1
        self.sum += value


def _times() -> Heap:
    return Heap(bounds_of("inspectd_stage_duration_seconds"))


@dataclass(slots=True)
class _StationTally:
    """Of one station."""

    budgets_s: Mapping[str, float]
    parts: "Counter[tuple[str, str]]" = field(default_factory=Counter)
    strays: int = 0
    late_unmarked: int = 0
    over_budget: "Counter[str]" = field(default_factory=Counter)
    durations: dict[str, Heap] = field(
        default_factory=lambda: {name: _times() for name in STAGE_NAMES}
    )
    confirms: Heap = field(default_factory=_times)
    batches: Heap = field(default_factory=lambda: Heap(bounds_of("inspectd_batch_size")))
    measures: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Of the last picture, by name: value and limit."""
    reviews: "Counter[str]" = field(
        default_factory=lambda: Counter({one.value: 0 for one in Judgement})
    )
    """Sayings of people, by judgement."""
    decided_ns: int = 0
    """Of the last part, monotonic."""


class Tally:
    """Of all stations of a line. Every verdict and reason is there from the start, as 0."""

    def __init__(self, stations: Iterable[Station]) -> None:
        """Begin with nothing."""
        self.stations = {one.name: _StationTally(budgets_s(one)) for one in stations}
        for tally in self.stations.values():
            tally.parts.update(dict.fromkeys(_outcomes(), 0))

    def add(self, part: Part) -> None:
        """Count one event; one of a station that the file does not have is left out."""
        tally = self.stations.get(part.station)
        if tally is None:
            return
        if part.is_stray:
            tally.strays += 1
            return
        tally.parts[part.verdict, part.reason] += 1
        tally.late_unmarked += part.is_late_unmarked
        tally.decided_ns = max(tally.decided_ns, part.decided_ns)
        _add_times(tally, part)
        if part.batch > 0:
            tally.batches.add(part.batch)
        tally.measures.update(_measures(part.detail))

    def add_review(self, station: str, judgement: str) -> None:
        """Count what a person said of a verdict."""
        tally = self.stations.get(station)
        if tally is not None:
            tally.reviews[judgement] += 1


def _add_times(tally: _StationTally, part: Part) -> None:
    for name, ms in zip(STAGE_NAMES, part.times_ms, strict=True):
        if ms is not None:
            tally.durations[name].add(ms / 1e3)
            tally.over_budget[name] += ms / 1e3 > tally.budgets_s[name]
    if 0 < part.sink_queued_ns <= part.sent_ns:
        tally.confirms.add((part.sent_ns - part.sink_queued_ns) / 1e9)


def _outcomes() -> list[tuple[str, str]]:
    """Every verdict with every reason it may have."""
    reasons = [reason for reason in Reason if reason is not Reason.NONE]
    pairs = [(_VERDICT_OF_HUNDREDS[reason // 100].name, reason.name) for reason in reasons]
    return [(Verdict.OK.name, Reason.NONE.name), *pairs]


def _measures(detail: str) -> dict[str, tuple[float, float]]:
    """Value and limit by name; nothing of what is written otherwise."""
    try:
        found: Any = json.loads(detail or "{}")
        return {
            str(one["name"]): (float(one["value"]), float(one["limit"]))
            for one in found.get("measures", ())
        }
    except (ValueError, TypeError, KeyError, AttributeError):
        return {}
