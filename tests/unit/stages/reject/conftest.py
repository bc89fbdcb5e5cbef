"""An ejector at work in made-up time: a belt, an I/O module in memory, no sockets, no waiting."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from inspectd.config.schema import (
    ModbusEncoder,
    ModbusIo,
    OutputReject,
    RejectConfirm,
    RejectEye,
)
from inspectd.errors import IoFault
from inspectd.frame import Kind, Reason, Stamp, Ticket, Verdict
from inspectd.plc.belt import Belt, plan_of
from inspectd.ports import Context, Counter
from inspectd.stages.reject.inputs import inputs_of
from inspectd.stages.reject.port import Sample
from inspectd.stages.reject.step import RejectStep
from inspectd.stages.reject.tracker import Tracker
from inspectd.stages.reject.wiring import layout_of, motion_of, times_of

MS = 1_000_000
EYE, BIN, FULL, AIR, RESET = range(5)


def reject(**other: Any) -> OutputReject:
    """An ejector half a second behind the trigger, with everything that can be wired."""
    usual = OutputReject(
        kind="output",
        distance_mm=250,
        belt_speed_mm_s=500,
        pulse_ms=80,
        lead_ms=10,
        io=ModbusIo(kind="modbus", host="x", coil=0, watchdog_ms=60, watchdog_register=9),
        encoder=ModbusEncoder(kind="modbus", register=0, bits=16, counts_per_mm=10),
        eye=RejectEye(input=EYE, distance_mm=180, window_mm=12),
        confirm=RejectConfirm(input=BIN, window_ms=200),
        bin_full_input=FULL,
        air_low_input=AIR,
        reset_input=RESET,
    )
    return replace(usual, **other)


class ScriptedIo:
    """An `Io` in memory, in front of a belt; it can be cut off."""

    def __init__(self, belt: Belt, clock: Callable[[], int], *, has_encoder: bool) -> None:
        self.belt, self._clock, self._has_encoder = belt, clock, has_encoder
        self.is_cut = False
        self.spread_ns = 0
        self.active: set[int] = set()
        self.is_bin_blind = False
        self.jump = 0
        self._is_connected = False

    @property
    def is_connected(self) -> bool:
        """See `Io.is_connected`."""
        return self._is_connected

    def connect(self) -> None:
        """See `Io.connect`."""
        self._ask()
        self._is_connected = True
        self.switch(is_passing=False)
        self.show_life()

    def sample(self) -> Sample:
        """See `Io.sample`."""
        self._ask()
        now_ns = self._clock()
        self.belt.advance(now_ns)
        active = set(self.active)
        active |= {EYE} if self.belt.is_eye_covered else set()
        active |= {BIN} if self.belt.is_bin_covered and not self.is_bin_blind else set()
        count = (self.belt.count + self.jump) % 65_536 if self._has_encoder else None
        return Sample(count, now_ns, self.spread_ns, frozenset(active), now_ns)

    def switch(self, *, is_passing: bool) -> None:
        """See `Io.switch`."""
        self._ask()
        self.belt.switch(self._clock(), is_on=is_passing)

    def show_life(self) -> None:
        """See `Io.show_life`."""
        self._ask()
        self.belt.show_life(self._clock())

    def close(self) -> None:
        """See `Io.close`."""
        if self._is_connected and not self.is_cut:
            self.switch(is_passing=False)
        self._is_connected = False

    def _ask(self) -> None:
        if self.is_cut:
            self._is_connected = False
            raise IoFault("scripted", "no answer", "wait")


@dataclass
class Bench:
    """The step, its belt, and whoever sends it triggers and verdicts."""

    reject: OutputReject = field(default_factory=reject)
    now_ns: int = 1_000_000 * MS
    counted: dict[Counter, int] = field(default_factory=dict)
    logged: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.belt = Belt(replace(plan_of(self.reject), first_count=60_000), self.now_ns)
        has_encoder = isinstance(self.reject.encoder, ModbusEncoder)
        self.io = ScriptedIo(self.belt, lambda: self.now_ns, has_encoder=has_encoder)
        self.step = self.new_step()

    def new_step(self) -> RejectStep:
        """A process in its first life, or in a later one."""
        context = Context(
            arenas={},
            clock=lambda: self.now_ns,
            count=self._count,
            log=lambda _level, event, **_fields: self.logged.append(event),
            is_ready=lambda _role, _station: True,
            is_line_healthy=lambda _station: True,
        )
        return RejectStep(
            context,
            io=self.io,
            tracker=Tracker(layout_of(self.reject)),
            motion=motion_of(self.reject),
            inputs=inputs_of(self.reject),
            times=times_of(self.reject),
        )

    def trigger(self, trigger_id: int, *, is_told: bool = True) -> Ticket:
        """A part lies at the trigger; the step hears of it."""
        self.belt.place(trigger_id, self.now_ns)
        ticket = Ticket(0, trigger_id).stamped(Stamp.FIRED, self.now_ns)
        if is_told:
            self.step.feed(Kind.TRIGGER, ticket, self.now_ns)
        return ticket

    def verdict(self, ticket: Ticket, verdict: Verdict = Verdict.OK) -> None:
        """A part is decided; PLC and step hear of it."""
        self.belt.told(ticket.trigger_id, verdict.name)
        decided = ticket.decided(verdict, Reason.NONE, self.now_ns)
        self.step.feed(Kind.VERDICT, decided, self.now_ns)

    def run(self, duration_ms: float) -> None:
        """Let time pass; the step is woken when it asked for it."""
        end_ns, turns = self.now_ns + int(duration_ms * MS), 0
        while self.now_ns < end_ns:
            wake_at_ns = self.step.wake_at_ns()
            assert wake_at_ns is not None
            self.now_ns = min(max(wake_at_ns, self.now_ns), end_ns)
            if wake_at_ns <= self.now_ns:
                self.step.wake(self.now_ns)
                turns += 1
                assert turns < 10_000, "the step spins"
            self.belt.advance(self.now_ns)

    def stall(self, duration_ms: float) -> None:
        """The process does nothing; the belt runs on."""
        self.now_ns += int(duration_ms * MS)
        self.belt.advance(self.now_ns)

    def fates(self) -> dict[int | None, bool]:
        """Which parts passed."""
        return {fate.trigger_id: fate.is_passed for fate in self.belt.fates}

    def _count(self, counter: Counter, amount: int) -> None:
        self.counted[counter] = self.counted.get(counter, 0) + amount


@pytest.fixture
def make_bench() -> type[Bench]:
    """The class, so that a test can say what differs from the usual."""
    return Bench


@pytest.fixture
def bench() -> Bench:
    """A bench whose module has just been reached."""
    made = Bench()
    made.run(50)
    return made


@pytest.fixture
def make_reject() -> Callable[..., OutputReject]:
    """The usual ejector, with some keys of its own."""
    return reject
