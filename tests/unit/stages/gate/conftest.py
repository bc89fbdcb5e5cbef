"""Frame memory as the line has it, a context around it, and where shared pictures lie."""

import os
from collections import Counter as Tally
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from inspectd.bus.arena import Geometry, MemfdArena
from inspectd.frame import Role, Ticket
from inspectd.ports import Counter, Pixels

ROOT = Path(__file__).parents[4]


class Bench:
    """A camera's and a gate's end of one frame memory, and what the gate's step is told."""

    def __init__(self) -> None:
        geometry = Geometry(3, (48, 64, 3), (3, 32, 32), 4096)
        self.made = MemfdArena.create(geometry, "gate-test")
        self.camera = MemfdArena.attach(os.dup(self.made.fd), geometry, Role.CAMERA)
        self.gate = MemfdArena.attach(os.dup(self.made.fd), geometry, Role.GATE)
        self.counted: Tally[Counter] = Tally()
        self.is_engine_there = True
        self.times = iter(range(2_000, 1_000_000, 1_000))
        """What the clock says, one after the other."""

    def count(self, counter: Counter, times: int) -> None:
        """Count."""
        self.counted[counter] += times

    def is_ready(self, role: Role, station: int) -> bool:
        """Only the engine of the line is ever asked for."""
        assert (role, station) == (Role.INFER, -1)
        return self.is_engine_there

    def part(self, picture: Pixels, deadline_ns: int = 0) -> Ticket:
        """Capture a picture and give it to the gate."""
        loan = self.camera.loan(7)
        assert loan is not None
        slot, generation = loan
        self.camera.frame(slot)[...] = picture
        assert self.camera.hand_over(slot, generation, Role.CAMERA, Role.GATE)
        return Ticket(
            station=0,
            trigger_id=7,
            part_id="p-1",
            slot=slot,
            generation=generation,
            deadline_ns=deadline_ns,
            detail=b'{"image":"a.png"}',
        )

    def owner(self, ticket: Ticket) -> Role:
        """Who has the slot of a ticket."""
        roles = [r for r in Role if self.made.holds(ticket.slot, ticket.generation, r)]
        return roles[0] if roles else Role.NOBODY

    def close(self) -> None:
        """Let go of the memory."""
        for arena in (self.gate, self.camera, self.made):
            arena.close()


@pytest.fixture
def bench() -> Iterator[Bench]:
    """Three slots for frames of 64 x 48 px, tensors of 32 x 32."""
    made = Bench()
    yield made
    made.close()


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Callable[[str], Path]:
    """Answers a folder of the shared data, or skips the test."""
    base = Path(os.environ.get("INSPECTD_SHARED", ROOT.parent / "shared"))

    def folder(name: str) -> Path:
        if not (base / "data" / name).is_dir():
            pytest.skip(f"no {base / 'data' / name}: set INSPECTD_SHARED to the shared folder")
        return base / "data" / name

    return folder


@pytest.fixture
def picture() -> Pixels:
    """A frame of 64 x 48 px with structure."""
    return np.random.default_rng(3).integers(60, 180, (48, 64, 3), np.uint8)
