"""A record on disk, written by the record's own database."""

from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from inspectd.record.database import FILE_NAME, Database, Run
from inspectd.record.event import STAMP_COLUMNS, Event

NOW = datetime(2026, 12, 1, 14, 0, 0, tzinfo=timezone.utc)


def event(trigger_id: int, verdict: str = "NG", **fields: Any) -> Event:
    """A part of one station, as the record writes it."""
    begin = 1_000_000_000 + trigger_id * 100_000_000
    values: dict[str, Any] = {
        "run_id": "run-1",
        "line": "line-1",
        "station": "cam-1",
        "trigger_id": trigger_id,
        "part_id": f"P{trigger_id}",
        "recorded_utc": f"2026-12-01T14:{trigger_id:02}:00.000000Z",
        "verdict": verdict,
        "reason": "NONE" if verdict == "OK" else "DEFECT",
        "judged": "",
        "deadline_ns": begin + 50_000_000,
        "stamps": tuple(begin + place * 1_000_000 for place in range(len(STAMP_COLUMNS))),
        "batch": 1,
        "model": "boards",
        "model_digest": "d1",
        "recipe_digest": "r1",
        "detail": "{}",
    }
    return Event(**{**values, **fields})


@pytest.fixture
def record(tmp_path: Path) -> Callable[..., Path]:
    """Answers a function that writes events and answers the folder."""

    def write(*events: Event) -> Path:
        folder = tmp_path / "record"
        with closing(Database(folder, lambda: NOW, lambda *_, **__: None)) as database:
            database.begin_run(Run("run-1", "line-1", "", "r1", "2026-12-01T14:00:00.000000Z"))
            database.write(events)
        assert (folder / FILE_NAME).is_file()
        return folder

    return write


@pytest.fixture
def part() -> Callable[..., Event]:
    """Answers `event`."""
    return event
