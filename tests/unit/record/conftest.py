"""A line on paper, frame memory, and a wall clock that is set by hand."""

import sqlite3
from collections import Counter as Tally
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from inspectd.bus.arena import Geometry, MemfdArena
from inspectd.config.schema import (
    AbsentPlc,
    Budget,
    ForbidRule,
    Line,
    Model,
    Record,
    ReplayCamera,
    ScriptedEngine,
    Station,
    TimerTrigger,
)
from inspectd.frame import NO_SLOT, Reason, Role, Stamp, Ticket, Verdict
from inspectd.ports import Context, Counter, Journal
from inspectd.record.database import FILE_NAME, Database, Run
from inspectd.record.event import event_of, utc_text

DAY_ONE = datetime(2026, 12, 1, 14, 3, 22, 123456, tzinfo=timezone.utc)


class HandClock:
    """A wall clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = DAY_ONE

    def __call__(self) -> datetime:
        """The time it was set to."""
        return self.now

    def move(self, **by: float) -> None:
        """On by days, hours and so on."""
        self.now += timedelta(**by)


class Desk:
    """All that a test of the record needs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.arena = MemfdArena.create(Geometry(8, (48, 64, 3), (1, 1, 1), 64), "record-test")
        self.file, self.digest = "", "0123456789ab"
        self.utc = HandClock()
        self.counted: Tally[Counter] = Tally()
        self.said: list[tuple[str, str]] = []
        self.journals: dict[int, Journal] = {}
        self.extra: dict[str, Any] = {}

    def log(self, level: str, event: str, **fields: object) -> None:
        """Keep what would be logged."""
        self.said.append((level, event))

    def count(self, counter: Counter, times: int) -> None:
        """Keep what would be counted."""
        self.counted[counter] += times

    @property
    def context(self) -> Context:
        """As the host would make it."""
        return Context(
            arenas={0: self.arena, 1: self.arena},
            clock=lambda: 0,
            count=self.count,
            log=self.log,
            is_ready=lambda role, station: True,
            is_line_healthy=lambda station: True,
            run_id="run-1",
            journals=self.journals,
            extra=self.extra,
        )

    def line(self, **record: Any) -> Line:
        """A line of two stations; keys of its record by name."""
        limits = {"folder": str(self.folder), "min_free_mb": 0, **record}
        return Line(
            line="line-1",
            engine=ScriptedEngine(kind="scripted"),
            models=(Model(name="bottles", path="/nowhere"),),
            stations=(station("cam-1"), station("cam-2")),
            record=Record(**limits),
            file=self.file,
            digest=self.digest,
        )

    def ticket(self, trigger_id: int, *, picture: bool = False, **fields: Any) -> Ticket:
        """A part that went through all stages, a millisecond each."""
        fired = fields.pop("fired_ns", 1_000_000_000 + trigger_id * 100_000_000)
        slot, generation = self._taken(trigger_id) if picture else (NO_SLOT, 0)
        values: dict[str, Any] = {
            "station": 0,
            "trigger_id": trigger_id,
            "part_id": f"part {trigger_id}",
            "slot": slot,
            "generation": generation,
            "deadline_ns": fired + 50_000_000,
            "verdict": Verdict.NG,
            "reason": Reason.DEFECT,
            "batch": 1,
            "stamps": tuple(fired + int(stamp) * 1_000_000 for stamp in Stamp),
            "detail": b'{"image":"a.png","engine":{"digest":"d1"}}',
        }
        return Ticket(**{**values, **fields})

    def recorded(self, *tickets: Ticket, **record: Any) -> Path:
        """Write the events of parts as one run; answers the database."""
        line = self.line(**record)
        with closing(Database(self.folder, self.utc, self.log)) as database:
            started = utc_text(self.utc())
            database.begin_run(Run("run-1", line.line, line.file, line.digest, started))
            database.write([event_of(one, line, "run-1", self.utc()) for one in tickets])
        return self.folder / FILE_NAME

    def asked(self, query: str) -> list[tuple[Any, ...]]:
        """What a stranger reads in the database."""
        with closing(sqlite3.connect(self.folder / FILE_NAME)) as connection:
            return connection.execute(query).fetchall()

    def slots_of(self, role: Role) -> list[int]:
        """Slots that somebody owns."""
        return [held.slot for held in self.arena.owned(role)]

    def _taken(self, trigger_id: int) -> tuple[int, int]:
        loan = self.arena.loan(trigger_id)
        assert loan is not None
        self.arena.hand_over(*loan, Role.CAMERA, Role.GATE)
        self.arena.hand_over(*loan, Role.GATE, Role.RECORD)
        return loan


def station(name: str) -> Station:
    """A station of a line on paper."""
    return Station(
        name=name,
        cycle_ms=100,
        deadline_ms=50,
        budget=Budget(camera_ms=10, gate_ms=10, infer_ms=10, judge_ms=10, sink_ms=10),
        trigger=TimerTrigger(kind="timer", rate_hz=10),
        camera=ReplayCamera(kind="replay", path="/nowhere", width_px=64, height_px=48),
        model="bottles",
        rules=(ForbidRule(kind="forbid", name="none", labels=("Scratch",), min_score=0.5),),
        plc=AbsentPlc(kind="none"),
    )


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """An empty folder for the record, and everything around it."""
    made = Desk(tmp_path / "record")
    yield made
    made.arena.close()
