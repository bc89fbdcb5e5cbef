"""What the line page shows, from the parts that were recorded. Pure: parts and the time go in.

Bounded: totals, and the latest `RECENT` parts of each station, whatever the line does.
"""

import json
import statistics
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from inspectd.config.schema import Line, Station
from inspectd.record.paging import Total
from inspectd.record.reading import STAGE_NAMES, Part
from inspectd.record.timing import budgets_ms, percentile

__all__ = ["KINDS", "RECENT", "REJECTS_SHOWN", "Panel", "boxes_of", "why_of"]

KINDS: tuple[str, ...] = ("OK", "NG", "UNFIT", "LATE", "FAULT")
"""Verdicts, in the order in which they are shown."""
RECENT = 200
"""Parts that bars and intervals speak of."""
REJECTS_SHOWN = 24
"""In the strip."""
INTERVALS_SHOWN = 120
_MEASURES = {
    "DARK": "exposure",
    "BRIGHT": "exposure",
    "BLURRED": "sharpness",
    "SATURATED": "saturation",
    "GLARE": "glare",
    "OCCLUDED": "presence",
    "PART_MISSING": "presence",
    "FROZEN": "frozen",
}
"""The gate's measure behind each reason of UNFIT."""
BOXES_MAX = 100
"""More are not drawn."""


class _Seen(NamedTuple):
    """A part, with what its picture needs."""

    part: Part
    boxes: list[list[Any]]
    why: str
    has_picture: bool


class Panel:
    """What is known of one run."""

    def __init__(self, line: Line) -> None:
        """Begin with nothing."""
        self._stations = line.stations
        names = [station.name for station in line.stations]
        self._counts: dict[str, Counter[str]] = {name: Counter() for name in names}
        self._reasons: dict[str, Counter[str]] = {name: Counter() for name in names}
        self._recent: dict[str, deque[Part]] = {name: deque(maxlen=RECENT) for name in names}
        self._last: dict[str, _Seen] = {}
        self._pictured: dict[str, _Seen] = {}
        self._rejects: deque[_Seen] = deque(maxlen=REJECTS_SHOWN)

    def begin(self, totals: Iterable[Total]) -> None:
        """Take over what was counted before; the parts of it are not taken again."""
        for total in totals:
            self._count(total.station, total.verdict, total.reason, total.count)

    def take(self, part: Part, *, has_picture: bool, is_counted: bool = True) -> None:
        """Take a part in.

        Args:
            part: With its detail.
            has_picture: Whether a picture of it can be shown.
            is_counted: False: `begin` has counted it.
        """
        if part.station not in self._counts or part.is_stray:
            return
        if is_counted:
            self._count(part.station, part.verdict, part.reason, 1)
        self._recent[part.station].append(part)
        detail = _object(part.detail)
        seen = _Seen(part, boxes_of(detail), why_of(detail, part.reason), has_picture)
        self._last[part.station] = seen
        if has_picture:
            self._pictured[part.station] = seen
        if part.verdict != "OK":
            self._rejects.append(seen)

    def snapshot(self, now_ns: int) -> dict[str, Any]:
        """Stations and rejects, ready for JSON; ages are milliseconds before `now_ns`."""
        rejects = [_shown(seen, now_ns) for seen in reversed(self._rejects)]
        stations = [self._station(station, now_ns) for station in self._stations]
        return {"stations": stations, "rejects": rejects}

    def _count(self, station: str, verdict: str, reason: str, number: int) -> None:
        if station in self._counts and verdict in KINDS:
            self._counts[station][verdict] += number
            if verdict != "OK":
                self._reasons[station][reason] += number

    def _station(self, station: Station, now_ns: int) -> dict[str, Any]:
        name = station.name
        counts = {kind: self._counts[name][kind] for kind in KINDS}
        total = sum(counts.values())
        last, pictured = self._last.get(name), self._pictured.get(name)
        recent = self._recent[name]
        return {
            "name": name,
            "model": station.model,
            "width": station.camera.width_px,
            "height": station.camera.height_px,
            "cycle_ms": station.cycle_ms,
            "counts": counts,
            "total": total,
            "yield": counts["OK"] / total if total else None,
            "reasons": self._reasons[name].most_common(5),
            "last": None if last is None else _shown(last, now_ns),
            "pictured": None if pictured is None else _shown(pictured, now_ns),
            "stages": _stages(recent, station),
            "rhythm": _rhythm(recent),
        }


def boxes_of(detail: dict[str, Any]) -> list[list[Any]]:
    """The detections of an event: `[label, score, x1, y1, x2, y2]`, in frame pixels."""
    return list(detail.get("detections") or [])[:BOXES_MAX]


def why_of(detail: dict[str, Any], reason: str) -> str:
    """Why a part is what it is: its broken rules, its broken measure, or the error."""
    broken = [str(one[1]) for one in detail.get("broken") or []]
    if broken:
        return "; ".join(broken)
    for one in detail.get("measures") or []:
        if one.get("name") == _MEASURES.get(reason):
            return f"{one['name']} {one['value']:g}, limit {one['limit']:g}"
    return str(detail.get("error", ""))


def _object(text: str) -> dict[str, Any]:
    value = json.loads(text or "{}")
    return value if isinstance(value, dict) else {}


def _shown(seen: _Seen, now_ns: int) -> dict[str, Any]:
    part = seen.part
    return {
        "sequence": part.sequence,
        "station": part.station,
        "trigger_id": part.trigger_id,
        "part_id": part.part_id,
        "verdict": part.verdict,
        "reason": part.reason,
        "why": seen.why,
        "boxes": seen.boxes,
        "is_archived": part.archive is not None,
        "has_picture": seen.has_picture,
        "total_ms": part.total_ms,
        "age_ms": max(0.0, (now_ns - part.decided_ns) / 1e6),
    }


def _stages(parts: Sequence[Part], station: Station) -> list[dict[str, Any]]:
    """Each stage's median and p99 against its budget; milliseconds."""
    budgets = budgets_ms(station)
    rows = []
    for place, name in enumerate(STAGE_NAMES):
        found = (part.times_ms[place] for part in parts)
        values = sorted(value for value in found if value is not None)
        rows.append(
            {
                "name": name,
                "budget": budgets[name],
                "p50": percentile(values, 0.5) if values else None,
                "p99": percentile(values, 0.99) if values else None,
            }
        )
    return rows


def _rhythm(parts: Sequence[Part]) -> dict[str, Any]:
    """How evenly parts come: rate, and the intervals between their triggers in milliseconds."""
    fired = sorted(part.fired_ns for part in parts if part.fired_ns)
    gaps = [(b - a) / 1e6 for a, b in pairwise(fired)]
    if not gaps:
        return {"rate_hz": None, "mean_ms": None, "deviation_ms": None, "intervals_ms": []}
    mean = statistics.fmean(gaps)
    return {
        "rate_hz": 1000 / mean if mean else None,
        "mean_ms": mean,
        "deviation_ms": statistics.pstdev(gaps),
        "intervals_ms": [round(gap, 2) for gap in gaps[-INTERVALS_SHOWN:]],
    }
