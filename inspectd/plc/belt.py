"""The belt behind the photo-eye, as it really is: for trials of an ejector that inspectd drives.

Parts lie on a belt that moves; an output with a valve behind it lets them pass or not; what is not
let pass falls into the bin. Nothing here knows what vision thinks: it keeps book of what happened
to each part, so that the two can be compared. Pure: it is told the time.

    trigger ----- eye -- ejector -----> passed
                            '--> bin sensor
"""

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from inspectd.config.rejectrules import zone_mm
from inspectd.config.schema import ModbusEncoder, ModbusIo, OutputReject

__all__ = ["Belt", "BeltPlan", "Fate", "plan_of"]

_NS_PER_S = 1_000_000_000
_NS_PER_MS = 1_000_000
_BIN_FALL_NS = 60 * _NS_PER_MS
"""So long a part that falls by covers the sensor in the bin."""
_KEPT_FATES = 100_000
_KEPT_NS = 60 * _NS_PER_S
_NOT_ASKED = -1
"""In the report: a part that nobody triggered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BeltPlan:
    """What the belt is like."""

    speed_mm_s: float
    ejector_mm: float
    zone_mm: float
    """Belt that the output should serve for one part: for the measure of its edges only."""
    valve_ns: int
    """From the output to the ejector's move."""
    counts_per_mm: float = 1.0
    bits: int = 32
    first_count: int = 0
    """Of the encoder's counter at the start (trials of the roll-over)."""
    part_mm: float = 10.0
    """Length of a part, its front is its place: so long it covers the eye."""
    eye_mm: float | None = None
    bin_after_ns: int = 100 * _NS_PER_MS
    """From the ejector to the sensor in the bin."""
    watchdog_ns: int = 0
    """The output is released by itself after so long without a sign of life."""


class Fate(NamedTuple):
    """What happened to a part at the ejector."""

    trigger_id: int | None
    """None: it was never triggered."""
    is_passed: bool
    edge_error_ns: int | None
    """How much later (less: earlier) than its zone's begin the output was energised; None: it was
    not, or for a neighbour already."""


@dataclass(slots=True)
class _Thing:
    trigger_id: int | None
    trigger_mm: float
    """Where the belt stood when it lay at the trigger."""


@dataclass(slots=True)
class _Output:
    """The output and its past."""

    is_on: bool = False
    changes: deque[tuple[int, bool]] = field(default_factory=lambda: deque([(0, False)]))

    def set(self, at_ns: int, *, is_on: bool) -> None:
        if is_on != self.is_on:
            self.is_on = is_on
            self.changes.append((at_ns, is_on))

    def was(self, at_ns: int) -> tuple[bool, int]:
        """Whether it was on at a moment, and since when."""
        state, since_ns = False, 0
        for changed_ns, is_on in self.changes:
            if changed_ns > at_ns:
                break
            state, since_ns = is_on, changed_ns
        return state, since_ns

    def forget(self, before_ns: int) -> None:
        while len(self.changes) > 1 and self.changes[1][0] < before_ns:
            self.changes.popleft()


class Belt:
    """The belt of one station."""

    def __init__(self, plan: BeltPlan, now_ns: int) -> None:
        self._plan = plan
        self._now_ns = now_ns
        self._mm = 0.0
        self.speed_mm_s = plan.speed_mm_s
        """Now; a trial may stop the belt, or run it backwards."""
        self._things: list[_Thing] = []
        self._output = _Output()
        self._life_ns = now_ns
        self._falls: deque[int] = deque()
        self._verdicts: dict[int, str] = {}
        self._watchdog_bites = 0
        self.fates: list[Fate] = []

    # ------------------------------------------------------------ what happens to it

    def advance(self, now_ns: int) -> None:
        """Let time pass; times never go back."""
        plan = self._plan
        bite_ns = self._life_ns + plan.watchdog_ns
        if plan.watchdog_ns and self._output.is_on and now_ns > bite_ns:
            self._output.set(bite_ns, is_on=False)
            self._watchdog_bites += 1
        before_ns, before_mm = self._now_ns, self._mm
        self._now_ns = now_ns
        self._mm += self.speed_mm_s * (now_ns - before_ns) / _NS_PER_S
        ejector_mm = plan.ejector_mm
        for thing in list(self._things):
            if before_mm < thing.trigger_mm + ejector_mm <= self._mm:
                share = (thing.trigger_mm + ejector_mm - before_mm) / (self._mm - before_mm)
                self._arrive(thing, before_ns + int(share * (now_ns - before_ns)))
        while self._falls and self._falls[0] + plan.bin_after_ns + _BIN_FALL_NS < now_ns:
            self._falls.popleft()
        self._output.forget(now_ns - _KEPT_NS)

    def place(self, trigger_id: int | None, now_ns: int) -> None:
        """A part lies at the trigger."""
        self.advance(now_ns)
        self._things.append(_Thing(trigger_id, self._mm))

    def take_off(self, trigger_id: int) -> None:
        """Somebody takes a part off the belt."""
        self._things = [thing for thing in self._things if thing.trigger_id != trigger_id]

    def slip(self, trigger_id: int, by_mm: float) -> None:
        """A part moves on the belt; positive: forward."""
        for thing in self._things:
            if thing.trigger_id == trigger_id:
                thing.trigger_mm -= by_mm

    def switch(self, now_ns: int, *, is_on: bool) -> None:
        """Somebody writes the output."""
        self.advance(now_ns)
        self._output.set(now_ns, is_on=is_on)

    def show_life(self, now_ns: int) -> None:
        """Somebody keeps the watchdog quiet."""
        self.advance(now_ns)
        self._life_ns = now_ns

    def told(self, trigger_id: int, verdict: str) -> None:
        """The PLC took a verdict; the first one of a part counts."""
        self._verdicts.setdefault(trigger_id, verdict)

    # ------------------------------------------------------------ what can be seen of it

    @property
    def count(self) -> int:
        """The encoder's counter."""
        counts = self._plan.first_count + int(self._mm * self._plan.counts_per_mm)
        return counts % (1 << self._plan.bits)

    @property
    def is_on(self) -> bool:
        """The output."""
        return self._output.is_on

    def was_on(self, at_ns: int) -> bool:
        """The output at a moment of the last minute."""
        return self._output.was(at_ns)[0]

    @property
    def is_eye_covered(self) -> bool:
        """Whether a part covers the eye in front of the ejector."""
        eye_mm = self._plan.eye_mm
        if eye_mm is None:
            return False
        return any(
            0 <= self._mm - thing.trigger_mm - eye_mm < self._plan.part_mm for thing in self._things
        )

    @property
    def is_bin_covered(self) -> bool:
        """Whether a part falls by the sensor in the bin."""
        since = (self._now_ns - fall_ns - self._plan.bin_after_ns for fall_ns in self._falls)
        return any(0 <= ns < _BIN_FALL_NS for ns in since)

    def __len__(self) -> int:
        """Parts that have not reached the ejector."""
        return len(self._things)

    def report(self) -> dict[str, object]:
        """What happened, as plain values for JSON."""
        passed = [fate.trigger_id for fate in self.fates if fate.is_passed]
        ejected = [fate.trigger_id for fate in self.fates if not fate.is_passed]
        errors = [fate.edge_error_ns for fate in self.fates if fate.edge_error_ns is not None]
        return {
            "passed": len(passed),
            "ejected": len(ejected),
            "on_the_belt": len(self._things),
            "passed_without_ok": [_shown(one) for one in passed if not self._is_ok(one)],
            "ejected_with_ok": [_shown(one) for one in ejected if self._is_ok(one)],
            "watchdog_bites": self._watchdog_bites,
            "edge_errors_ms": [round(error / _NS_PER_MS, 3) for error in errors],
        }

    # ------------------------------------------------------------ in detail

    def _is_ok(self, trigger_id: int | None) -> bool:
        return trigger_id is not None and self._verdicts.get(trigger_id) == "OK"

    def _arrive(self, thing: _Thing, at_ns: int) -> None:
        """A part is at the ejector: what the output was a valve's time ago decides."""
        self._things.remove(thing)
        is_passed, since_ns = self._output.was(at_ns - self._plan.valve_ns)
        if not is_passed:
            self._falls.append(at_ns)
        if len(self.fates) < _KEPT_FATES:
            error_ns = self._edge_error_ns(at_ns, since_ns) if is_passed else None
            self.fates.append(Fate(thing.trigger_id, is_passed, error_ns))

    def _edge_error_ns(self, at_ns: int, since_ns: int) -> int | None:
        half_ns = int(self._plan.zone_mm / 2 / self._plan.speed_mm_s * _NS_PER_S)
        error_ns = since_ns - (at_ns - self._plan.valve_ns - half_ns)
        return error_ns if abs(error_ns) < half_ns else None


def plan_of(reject: OutputReject) -> BeltPlan:
    """The belt that a station file describes.

    A part is in the bin at half of the time that the station allows for it, and half as long as the
    belt that the output serves for it.
    """
    encoder, io = reject.encoder, reject.io
    counter = (
        encoder
        if isinstance(encoder, ModbusEncoder)
        else ModbusEncoder(kind="modbus", register=0, counts_per_mm=1.0)
    )
    window_ms = reject.confirm.window_ms if reject.confirm else 200.0
    return BeltPlan(
        speed_mm_s=reject.belt_speed_mm_s,
        ejector_mm=reject.distance_mm,
        zone_mm=zone_mm(reject),
        valve_ns=int(reject.lead_ms * _NS_PER_MS),
        counts_per_mm=counter.counts_per_mm,
        bits=counter.bits,
        part_mm=zone_mm(reject) / 2,
        eye_mm=reject.eye.distance_mm if reject.eye else None,
        bin_after_ns=int(window_ms / 2 * _NS_PER_MS),
        watchdog_ns=int(io.watchdog_ms * _NS_PER_MS) if isinstance(io, ModbusIo) else 0,
    )


def _shown(trigger_id: int | None) -> int:
    return _NOT_ASKED if trigger_id is None else trigger_id
