"""A line on paper, frame memory on the heap, and a wall clock that is set by hand."""

from collections import Counter as Tally
from collections.abc import Mapping
from contextlib import closing
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

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
from inspectd.ports import Context, Counter, Pixels, Tensor
from inspectd.record.database import FILE_NAME, Database, Run
from inspectd.record.event import event_of, utc_text

DAY_ONE = datetime(2026, 12, 1, 14, 3, 22, 123456, tzinfo=timezone.utc)


class HeapArena:
    """A few slots as plain arrays; ownership and generations as `inspectd.ports.Arena` says."""

    def __init__(self, slots: int = 8) -> None:
        self.owners = [Role.NOBODY] * slots
        self.generations = [0] * slots
        self.pictures = [np.full((48, 64, 3), 10 * i, np.uint8) for i in range(slots)]

    def loan(self, trigger_id: int) -> tuple[int, int] | None:
        """Take the first free slot."""
        if Role.NOBODY not in self.owners:
            return None
        slot = self.owners.index(Role.NOBODY)
        self.owners[slot] = Role.CAMERA
        self.generations[slot] += 1
        return slot, self.generations[slot]

    def holds(self, slot: int, generation: int, role: Role) -> bool:
        """Whether it is this one's, of this use."""
        return self.owners[slot] is role and self.generations[slot] == generation

    def hand_over(self, slot: int, generation: int, owner: Role, to: Role) -> bool:
        """Change the owner, if it is the owner who says so."""
        if not self.holds(slot, generation, owner):
            return False
        self.owners[slot] = to
        return True

    def release(self, slot: int, generation: int, owner: Role) -> bool:
        """Nobody's again."""
        return self.hand_over(slot, generation, owner, Role.NOBODY)

    def frame(self, slot: int) -> Pixels:
        """The picture itself."""
        return self.pictures[slot]

    def tensor(self, slot: int) -> Tensor:
        """Nobody here needs one."""
        raise NotImplementedError(slot)

    def write_raw(self, slot: int, outputs: Mapping[str, npt.NDArray[Any]]) -> None:
        """Nobody here has any."""
        raise NotImplementedError(slot, outputs)

    def read_raw(self, slot: int) -> dict[str, npt.NDArray[Any]]:
        """Nobody here has any."""
        raise NotImplementedError(slot)


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
        self.arena = HeapArena()
        self.file, self.digest = "", "0123456789ab"
        self.utc = HandClock()
        self.counted: Tally[Counter] = Tally()
        self.said: list[tuple[str, str]] = []

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

    def _taken(self, trigger_id: int) -> tuple[int, int]:
        loan = self.arena.loan(trigger_id)
        assert loan is not None
        self.arena.hand_over(*loan, Role.CAMERA, Role.RECORD)
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
def desk(tmp_path: Path) -> Desk:
    """An empty folder for the record, and everything around it."""
    return Desk(tmp_path / "record")
