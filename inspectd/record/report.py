"""What a run amounted to: one JSON-able dict, the same live, after the run, and years later.

Its keys are described in `docs/record.md`. Nothing here is measured: it is all in the database,
except what only the running line knows (shared counters, the simulated PLC's own account).
"""

import json
from collections import Counter as Tally
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

from inspectd.coco import Labels
from inspectd.config.schema import Line, Station
from inspectd.errors import UsageFault
from inspectd.frame import Role, Verdict
from inspectd.ports import Counter
from inspectd.record.labels import Evaluate, compared
from inspectd.record.order import order_of
from inspectd.record.reading import Part, Reading
from inspectd.record.scores import scored
from inspectd.record.timing import budgets_ms, times_ms

__all__ = ["FORMAT", "BoardRow", "build_report", "pixel_copies"]

FORMAT = 1
"""Raised when a key changes its meaning or goes."""


class BoardRow(Protocol):
    """One process of the line, as the board shows it."""

    @property
    def role(self) -> Role:
        """What it does."""

    @property
    def station(self) -> int:
        """Index of its station; -1 for those of the whole line."""

    @property
    def restarts(self) -> int:
        """How often it was started again."""

    @property
    def counters(self) -> Sequence[int]:
        """By `Counter`."""


def build_report(
    line: Line | None,
    run_id: str,
    database_path: Path,
    board_rows: Sequence[BoardRow] = (),
    simulator_reports: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    evaluate: Evaluate,
) -> dict[str, Any]:
    """Sum up one run.

    Args:
        line: The station file of the run; None: unknown, then budgets and labels are left out.
        run_id: Of the run; empty: the latest of the database.
        database_path: The record's `events.sqlite`.
        board_rows: All processes, read from the board before it was closed; empty afterwards.
        simulator_reports: What each simulated PLC wrote down, by the name of its station.
        evaluate: The judge's rules.

    Raises:
        UsageFault: There is no such database or run.
    """
    with closing(Reading(database_path)) as reading:
        run = reading.run(run_id)
        first_utc, last_utc = reading.span_utc(run.run_id)
        known = tuple(reading.parts(run.run_id))
        parts = tuple(part for part in known if not part.is_stray)
        stations = {
            name: _station(name, [part for part in parts if part.station == name], line)
            for name in _names(line, parts)
        }
        for station in _labelled(line):
            detailed = reading.parts(run.run_id, with_detail=True)
            ours = [part for part in detailed if part.station == station.name and not part.is_stray]
            min_score = line.record.detections_min_score if line else 0.0
            stations[station.name].update(_against_labels(ours, station, min_score, evaluate))
    simulators = {
        name: _simulator(told, [part for part in parts if part.station == name])
        for name, told in (simulator_reports or {}).items()
    }
    unrecorded = max(0, _total(board_rows, Counter.FRAMES, Role.SINK) - len(parts))
    return {
        "format": FORMAT,
        "run": {**run._asdict(), "first_utc": first_utc, "last_utc": last_utc},
        **_sums(parts),
        "strays": len(known) - len(parts),
        "unrecorded": unrecorded,
        "is_complete": bool(parts)
        and unrecorded == 0
        and all(one["order"]["is_complete"] for one in stations.values()),
        "stations": stations,
        "pixel_copies": pixel_copies(board_rows),
        "processes": [_process(row) for row in board_rows],
        "simulators": simulators,
    }


def pixel_copies(board_rows: Sequence[BoardRow]) -> dict[str, float] | None:
    """Whole pictures copied, per frame that the cameras took; None without the board.

    `camera` is the way into the slot; `gate` the filling of the tensor; `after_capture` is what all
    processes behind the camera copied together.
    """
    frames = _total(board_rows, Counter.FRAMES, Role.CAMERA)
    if frames == 0:
        return None
    by_role = {
        role: _total(board_rows, Counter.PIXEL_COPIES, role) / frames
        for role in Role
        if any(row.role is role for row in board_rows)
    }
    after = sum(copies for role, copies in by_role.items() if role is not Role.CAMERA)
    named = {role.name.lower(): round(copies, 4) for role, copies in by_role.items()}
    return {**named, "after_capture": round(after, 4)}


def _total(rows: Sequence[BoardRow], counter: Counter, role: Role) -> int:
    return sum(row.counters[counter] for row in rows if row.role is role)


def _process(row: BoardRow) -> dict[str, Any]:
    return {
        "role": row.role.name.lower(),
        "station": row.station,
        "restarts": row.restarts,
        "counters": {counter.name.lower(): row.counters[counter] for counter in Counter},
    }


def _names(line: Line | None, parts: Sequence[Part]) -> list[str]:
    """Stations in the order of the line, then those that only the record knows."""
    known = [] if line is None else [station.name for station in line.stations]
    return list(dict.fromkeys([*known, *(part.station for part in parts)]))


def _sums(parts: Sequence[Part]) -> dict[str, Any]:
    verdicts = Tally(part.verdict for part in parts)
    reasons = Tally(part.reason for part in parts if part.reason != "NONE")
    kinds = [verdict.name for verdict in Verdict if verdict is not Verdict.NONE]
    return {
        "parts": len(parts),
        "verdicts": {name: verdicts.pop(name, 0) for name in kinds} | dict(verdicts),
        "reasons": dict(reasons.most_common()),
        "late": {
            "said": sum(part.verdict == "LATE" for part in parts),
            "unmarked": sum(part.is_late_unmarked for part in parts),
        },
        "archived": sum(part.archive is not None for part in parts),
    }


def _station(name: str, parts: Sequence[Part], line: Line | None) -> dict[str, Any]:
    """Everything of one station that its labels are not needed for."""
    station = _by_name(line, name)
    batches = Tally(part.batch for part in parts if part.batch)
    return {
        **_sums(parts),
        "order": order_of(parts),
        "times_ms": times_ms(parts, budgets_ms(station)),
        "batches": {str(size): batches[size] for size in sorted(batches)},
        "labels": None,
        "scores": None,
    }


def _by_name(line: Line | None, name: str) -> Station | None:
    stations = () if line is None else line.stations
    return next((station for station in stations if station.name == name), None)


def _labelled(line: Line | None) -> list[Station]:
    return [] if line is None else [one for one in line.stations if one.camera.labels]


def _against_labels(
    parts: Sequence[Part], station: Station, min_score: float, evaluate: Evaluate
) -> dict[str, Any]:
    """Verdicts and boxes against the labels; files that have gone since are no reason to fail."""
    try:
        labels = Labels.read(Path(station.camera.labels))
    except UsageFault as fault:
        return {"labels": {"error": str(fault)}}
    return {
        "labels": compared(parts, labels, station, evaluate),
        "scores": scored(parts, labels, station, min_score),
    }


def _simulator(report: Mapping[str, Any], parts: Sequence[Part]) -> dict[str, Any]:
    """Hold what the simulated PLC took against what the record says was sent to it."""
    taken = [(answer["trigger_id"], answer["verdict"]) for answer in report.get("verdicts", [])]
    sent = [(part.trigger_id, part.verdict) for part in parts if part.sent_ns]
    differing = [
        {"place": place, "plc": list(plc), "record": list(record)}
        for place, (plc, record) in enumerate(zip(taken, sent, strict=False))
        if plc != record
    ]
    fired = report.get("fired", 0)
    faults = ("missing", "duplicates", "out_of_order", "unknown")
    kept = {key: value for key, value in report.items() if key != "verdicts"}
    is_agreed = not differing and fired == len(taken) == len(sent)
    return {
        **json.loads(json.dumps(kept)),
        "verdicts_taken": len(taken),
        "verdicts_recorded": len(sent),
        "differing": differing[:20],
        "agrees": is_agreed and not any(report.get(key) for key in faults),
    }
