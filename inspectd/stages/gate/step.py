"""The door of the gate: a picture that is fit becomes a tensor, any other a verdict.

The order of questions is that of blame: is the slot still ours, is the picture fit, does the engine
run, is there time left, is the golden picture there. The ticket of a part decided here leaves its
slot to the record when its picture is to be archived, else gives it back before the verdict leaves.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import cv2

from inspectd.config.schema import Line, ScriptedEngine
from inspectd.errors import FrameFault
from inspectd.frame import Kind, Measure, Reason, Role, Stamp, Ticket, Verdict
from inspectd.model import directory
from inspectd.model.prepare import Preparer
from inspectd.model.tiles import Tiling
from inspectd.passing import HoldsNothing, let_go
from inspectd.ports import Arena, Context, Counter, Out, Pixels, Step, Tensor
from inspectd.stages.gate.inspection import Inspection, first_broken
from inspectd.stages.gate.picture import read_reference

__all__ = ["GateStep", "Prepares", "build"]

_INFER = (Role.INFER, -1)


class Prepares(Protocol):
    """Fills tensors (`inspectd.model.prepare.Preparer`)."""

    def prepare(self, frame: Pixels, part_id: str, out: Tensor) -> None:
        """Write the tensor of `frame`; raises `FrameFault` without the part's golden picture."""


@dataclass(frozen=True, slots=True)
class _Decision:
    """Why a part ends here."""

    verdict: Verdict
    reason: Reason
    error: str = ""


def build(line: Line, station: int, context: Context) -> Step:
    """Make the gate of one station.

    Raises:
        ModelFault: The model directory does not say what its tensors are.
        FrameFault: The reference picture cannot be used, or frames do not fit the model.
    """
    cv2.setNumThreads(1)
    ours = line.stations[station]
    camera = ours.camera
    height, width = camera.height_px, camera.width_px
    shape = (height, width) if camera.channels == 1 else (height, width, 3)
    presence = ours.gate.presence
    reference = None if presence is None else read_reference(presence.reference, height, width)
    return GateStep(
        Inspection(ours.gate, shape, reference),
        _preparer(line, station, shape),
        context.arenas[station],
        context,
        archive=frozenset(line.record.archive),
    )


class GateStep(HoldsNothing):
    """Looks at each picture as it comes; holds nothing between two messages."""

    def __init__(
        self,
        inspection: Inspection,
        preparer: Prepares | None,
        arena: Arena,
        context: Context,
        *,
        archive: frozenset[str],
    ) -> None:
        """Tie the parts together.

        Args:
            inspection: What is measured.
            preparer: None when nobody will look at the tensor (scripted engine without a model).
            arena: Of the station.
            context: Clock, counters, and whether the engine is there.
            archive: Names of the verdicts whose pictures are kept.
        """
        self._inspection = inspection
        self._preparer = preparer
        self._arena = arena
        self._clock: Callable[[], int] = context.clock
        self._count = context.count
        self._is_ready = context.is_ready
        self._archive = archive

    def feed(self, kind: Kind, ticket: Ticket, now_ns: int) -> Sequence[Out]:
        """Look at one picture."""
        if kind is not Kind.FRAME:
            return ()
        if not self._arena.holds(ticket.slot, ticket.generation, Role.GATE):
            return self._dropped()
        taken = self._inspection.measure(self._arena.frame(ticket.slot))
        measured = ticket.stamped(Stamp.GATE_START, now_ns).stamped(Stamp.MEASURED, self._clock())
        measured = replace(measured, detail=_merged(ticket.detail, _measures(taken)))
        decision = self._refused(measured, first_broken(taken)) or self._prepare(measured)
        sent = self._pass_on(measured) if decision is None else self._end(measured, decision)
        if sent is None:
            return self._dropped()
        self._count(Counter.FRAMES, 1)
        return (sent,)

    def _refused(self, ticket: Ticket, broken: Measure | None) -> _Decision | None:
        """Why the part need not be prepared; None: it is to be."""
        if broken is not None:
            return _Decision(Verdict.UNFIT, broken.reason)
        if not self._is_ready(*_INFER):
            return _Decision(Verdict.FAULT, Reason.ENGINE_DOWN)
        if 0 < ticket.deadline_ns <= ticket.stamps[Stamp.MEASURED]:
            return _Decision(Verdict.LATE, Reason.DEADLINE_PASSED)
        return None

    def _prepare(self, ticket: Ticket) -> _Decision | None:
        """Fill the tensor; None when that was done."""
        if self._preparer is None:
            return None
        frame, tensor = self._arena.frame(ticket.slot), self._arena.tensor(ticket.slot)
        try:
            self._preparer.prepare(frame, ticket.part_id, tensor)
        except FrameFault as fault:
            return _Decision(Verdict.FAULT, Reason.TEMPLATE_MISSING, str(fault))
        self._count(Counter.PIXEL_COPIES, 1)
        return None

    def _pass_on(self, ticket: Ticket) -> Out | None:
        """To the engine; None when the slot was taken from us meanwhile."""
        prepared = ticket.stamped(Stamp.PREPARED, self._clock())
        is_ours = self._arena.hand_over(ticket.slot, ticket.generation, Role.GATE, Role.INFER)
        return Out(Role.INFER, Kind.TENSOR, prepared) if is_ours else None

    def _end(self, ticket: Ticket, decision: _Decision) -> Out | None:
        """Decide the part, let go of its slot; None when the slot was taken from us meanwhile."""
        detail = _merged(ticket.detail, {"error": decision.error}) if decision.error else None
        decided = ticket.decided(decision.verdict, decision.reason, self._clock(), detail)
        told = let_go(self._arena, decided, Role.GATE, self._archive)
        return None if told is None else Out(Role.SINK, Kind.VERDICT, told)

    def _dropped(self) -> tuple[Out, ...]:
        self._count(Counter.STALE, 1)
        return ()


def _preparer(line: Line, station: int, shape: tuple[int, ...]) -> Preparer | None:
    """What fills the tensors; None for a scripted engine whose model is not there."""
    ours = line.stations[station]
    path = next(model.path for model in line.models if model.name == ours.model)
    if isinstance(line.engine, ScriptedEngine) and not Path(path).exists():
        return None
    return Preparer(directory.read(path), shape, ours.template, Tiling.at(ours))


def _measures(taken: Sequence[Measure]) -> dict[str, object]:
    """What the record keeps; nothing where nothing was measured."""
    if not taken:
        return {}
    told = [{"name": m.name, "value": round(m.value, 4), "limit": m.limit} for m in taken]
    return {"measures": told}


def _merged(detail: bytes, more: Mapping[str, object]) -> bytes:
    """The JSON object `detail` with further keys, compact."""
    if not more:
        return detail
    return json.dumps({**json.loads(detail), **more}, separators=(",", ":")).encode()
