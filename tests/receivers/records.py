"""A record with events in it, written by the record's own code."""

from collections.abc import Sequence
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from inspectd.frame import Stamp
from inspectd.record.database import Database, Run
from inspectd.record.event import Event, utc_text

__all__ = ["NOW", "event", "opened", "recorded"]

NOW = datetime(2026, 12, 1, 14, 3, 22, 123456, tzinfo=timezone.utc)


def event(number: int, run_id: str = "run-1", **fields: Any) -> Event:
    """One part."""
    fired = 1_000_000_000 + number * 100_000_000
    values: dict[str, Any] = {
        "run_id": run_id,
        "line": "line-1",
        "station": "cam-1",
        "trigger_id": number,
        "part_id": f"part {number}",
        "recorded_utc": utc_text(NOW),
        "verdict": "NG",
        "reason": "DEFECT",
        "judged": "",
        "deadline_ns": fired + 50_000_000,
        "stamps": tuple(fired + int(stamp) * 1_000_000 for stamp in Stamp),
        "batch": 1,
        "model": "bottles",
        "model_digest": "d1",
        "recipe_digest": "0123456789ab",
        "detail": '{"image":"a.png","detections":[["Scratch",0.9,1,2,3,4]]}',
    }
    return Event(**{**values, **fields})


def opened(folder: Path) -> Database:
    """The record's database, open for writing."""
    return Database(folder, lambda: NOW, lambda *_, **__: None)


def recorded(folder: Path, numbers: Sequence[int], run_id: str = "run-1") -> None:
    """Write events of a run."""
    with closing(opened(folder)) as database:
        database.begin_run(Run(run_id, "line-1", "", "0123456789ab", utc_text(NOW)))
        for at in range(0, len(numbers), 200):
            database.write([event(number, run_id) for number in numbers[at : at + 200]])
