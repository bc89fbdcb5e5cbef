"""What a shift amounted to, from its events and their reviews. Pure.

Readiness is not recorded. What is seen of it here: time between parts of a station that is longer
than a pause that is handed in (`stops`), which may also be a line without parts.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from inspectd.frame import Verdict
from inspectd.record.history import Recorded
from inspectd.review.judgement import Counts

__all__ = ["Shift", "StationShift", "Stop", "rows", "summed"]

_KINDS = tuple(one.name for one in Verdict if one is not Verdict.NONE)


@dataclass(frozen=True, slots=True)
class Stop:
    """A time without parts."""

    begin_utc: str
    end_utc: str
    seconds: float


@dataclass(frozen=True, slots=True)
class StationShift:
    """One station of the shift."""

    name: str
    parts: int
    verdicts: Mapping[str, int]
    """All five, in the order of `Verdict`."""
    reasons: tuple[tuple[str, int], ...]
    """Most frequent first."""
    broken: tuple[tuple[str, int], ...]
    """Broken rules by name, most frequent first."""
    missed_triggers: int
    hours: tuple[tuple[str, int, int], ...]
    """Hour in UTC, parts, OK parts."""
    stops: tuple[Stop, ...]
    reviews: Counts

    @property
    def yield_share(self) -> float | None:
        """OK parts of all; None: there were none."""
        return self.verdicts["OK"] / self.parts if self.parts else None


@dataclass(frozen=True, slots=True)
class Shift:
    """All stations, from one moment to another."""

    line: str
    since_utc: str
    until_utc: str
    pause_s: float
    stations: tuple[StationShift, ...]


def summed(  # noqa: PLR0917 - the span, then what lies in it
    line: str,
    span_utc: tuple[str, str],
    events: Iterable[Recorded],
    stations: Sequence[str],
    reviews: Mapping[str, Counts],
    pause_s: float,
) -> Shift:
    """Sum up.

    Args:
        line: Its name.
        span_utc: From, and until (excluded), as the record writes moments.
        events: Of this span, in the order of their numbers.
        stations: In the order of the line; others that occur follow.
        reviews: By station.
        pause_s: A longer time without parts is a stop.
    """
    by_station: dict[str, list[Recorded]] = {name: [] for name in stations}
    for event in events:
        by_station.setdefault(event.station, []).append(event)
    sums = tuple(
        _station(name, parts, span_utc, reviews.get(name, Counts(0, 0, 0, 0)), pause_s)
        for name, parts in by_station.items()
    )
    return Shift(line, *span_utc, pause_s, sums)


def rows(shift: Shift) -> list[list[str]]:
    """The shift as rows of a table: a head, then station, what, name, value."""
    table = [["line", "from_utc", "until_utc", "station", "what", "name", "value"]]
    for one in shift.stations:
        values = [("parts", "", str(one.parts)), ("yield", "", _share(one.yield_share))]
        values += [("verdict", name, str(count)) for name, count in one.verdicts.items()]
        values += [("reason", name, str(count)) for name, count in one.reasons]
        values += [("broken_rule", name, str(count)) for name, count in one.broken]
        values += [("missed_triggers", "", str(one.missed_triggers))]
        values += [("stop_s", stop.begin_utc, f"{stop.seconds:.0f}") for stop in one.stops]
        values += [
            ("reviewed", "", str(one.reviews.reviewed)),
            ("false_calls", "", str(one.reviews.false_calls)),
            ("false_call_rate", "", _share(one.reviews.false_call_rate)),
            ("escapes", "", str(one.reviews.escapes)),
            ("escape_rate", "", _share(one.reviews.escape_rate)),
        ]
        place = [shift.line, shift.since_utc, shift.until_utc, one.name]
        table.extend([*place, *value] for value in values)
    return table


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.6f}"


def _station(
    name: str, parts: Sequence[Recorded], span_utc: tuple[str, str], reviews: Counts, pause_s: float
) -> StationShift:
    verdicts = Counter(part.verdict for part in parts)
    reasons = Counter(part.reason for part in parts if part.reason != "NONE")
    broken = Counter(
        str(rule[0]) for part in parts for rule in json.loads(part.detail).get("broken", [])
    )
    hours = Counter(part.recorded_utc[:13] for part in parts)
    good = Counter(part.recorded_utc[:13] for part in parts if part.verdict == "OK")
    moments = sorted([*span_utc, *(part.recorded_utc for part in parts)])
    return StationShift(
        name=name,
        parts=len(parts),
        verdicts={kind: verdicts[kind] for kind in _KINDS},
        reasons=tuple(reasons.most_common()),
        broken=tuple(broken.most_common()),
        missed_triggers=reasons["TRIGGER_MISSED"],
        hours=tuple((hour, hours[hour], good[hour]) for hour in sorted(hours)),
        stops=tuple(_stops(moments, pause_s)),
        reviews=reviews,
    )


def _stops(moments: Sequence[str], pause_s: float) -> Iterable[Stop]:
    for begin, end in pairwise(moments):
        seconds = (_moment(end) - _moment(begin)).total_seconds()
        if seconds > pause_s:
            yield Stop(begin, end, seconds)


def _moment(utc: str) -> datetime:
    return datetime.fromisoformat(utc.replace("Z", "+00:00"))
