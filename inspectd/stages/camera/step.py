"""The door of the camera: a trigger comes, a picture goes to the gate.

    FIRE (the PLC's trigger) --> loan a slot --> source.take --> FRAME to the gate
    timer -> TRIGGER to sink -^       |              '--> VERDICT FAULT when no picture came
                                      '--> VERDICT FAULT when all slots are in use

Every trigger is answered, whatever happens: with a picture or with a verdict. A self-triggered
station numbers its triggers by the clock, from the start of the run: so a camera that was restarted
goes on where it would be, and the sink sees the gap. The recipe of such triggers is what the sink
said last (RECIPE); the sink refuses parts of another one.
"""

import json
from collections.abc import Sequence
from dataclasses import replace

import cv2

from inspectd.config.recipes import NO_RECIPE
from inspectd.config.schema import Line, TimerTrigger
from inspectd.frame import Kind, Reason, Role, Stamp, Ticket, Verdict
from inspectd.ports import Arena, Context, Counter, Out, Step
from inspectd.stages.camera.replay import Replay
from inspectd.stages.camera.schedule import Schedule
from inspectd.stages.camera.source import (
    Answer,
    Captured,
    Incomplete,
    Nothing,
    Source,
    Unusable,
    frames_between,
)

__all__ = ["CameraStep", "build"]

_NS_PER_MS = 1_000_000


def build(line: Line, station: int, context: Context) -> Step:
    """Open the station's camera.

    Raises:
        FrameFault: the camera cannot be had.
        UsageFault: the labels of a replay cannot be read.
    """
    cv2.setNumThreads(1)
    ours = line.stations[station]
    source = Replay(ours.camera)
    source.open()
    schedule = None
    if isinstance(ours.trigger, TimerTrigger):
        now_ns = context.clock()
        epoch_ns = int(context.extra.get("epoch_ns", now_ns))
        schedule = Schedule(ours.trigger.rate_hz, epoch_ns, now_ns, context.part_limit)
    return CameraStep(
        station,
        source,
        context,
        schedule,
        deadline_ns=int(ours.deadline_ms * _NS_PER_MS),
        timeout_ms=ours.budget.camera_ms,
    )


class CameraStep:
    """Takes one picture for each trigger; holds nothing between two."""

    def __init__(
        self,
        station: int,
        source: Source,
        context: Context,
        schedule: Schedule | None,
        *,
        deadline_ns: int,
        timeout_ms: float,
    ) -> None:
        """Serve one station.

        Args:
            station: its index.
            source: its camera, open.
            context: of this process.
            schedule: when it triggers itself; None: the PLC does.
            deadline_ns: from a trigger of its own to the verdict.
            timeout_ms: for one picture.
        """
        self._station = station
        self._source = source
        self._context = context
        self._arena: Arena = context.arenas[station]
        self._schedule = schedule
        self._deadline_ns = deadline_ns
        self._timeout_ms = timeout_ms
        self._last_frame_id: int | None = None
        self._unseen = 0
        """Triggers since then that brought no picture; the device may have counted their frames."""
        self._recipe = NO_RECIPE
        """Of triggers of our own."""
        self._is_stopping = False

    def feed(self, kind: Kind, ticket: Ticket, now_ns: int) -> Sequence[Out]:
        """Take the picture of a trigger that the sink has seen at the PLC; note the recipe."""
        if kind is Kind.RECIPE:
            self._recipe = ticket.recipe
        if kind is not Kind.FIRE:
            return ()
        return (self._picture(ticket.stamped(Stamp.CAMERA_START, now_ns)),)

    def wake_at_ns(self) -> int | None:
        """When the next trigger of our own is due."""
        if self._schedule is None or self._is_stopping:
            return None
        return self._schedule.next_ns()

    def wake(self, now_ns: int) -> Sequence[Out]:
        """Trigger ourselves; the sink is told before the picture is taken."""
        if self._schedule is None or self._is_stopping:
            return ()
        trigger_id = self._schedule.take(now_ns)
        if trigger_id is None:
            return ()
        deadline_ns = now_ns + self._deadline_ns
        ticket = Ticket(self._station, trigger_id, deadline_ns=deadline_ns, recipe=self._recipe)
        ticket = ticket.stamped(Stamp.FIRED, now_ns)
        told = Out(Role.SINK, Kind.TRIGGER, ticket)
        return told, self._picture(ticket.stamped(Stamp.CAMERA_START, now_ns))

    def stop(self, now_ns: int) -> Sequence[Out]:  # noqa: ARG002 - of the protocol
        """Trigger no more; triggers of the PLC are still answered."""
        self._is_stopping = True
        return ()

    def is_drained(self) -> bool:
        """Nothing is ever held."""
        return True

    def trouble(self) -> str:
        """A camera that cannot be had ends the process; there is no lesser trouble."""
        return ""

    def close(self) -> None:
        """Let go of the camera."""
        self._source.close()

    # ------------------------------------------------------------ one part

    def _picture(self, ticket: Ticket) -> Out:
        """Take the picture; answer what becomes of the part."""
        self._context.count(Counter.FRAMES, 1)
        loan = self._arena.loan(ticket.trigger_id)
        if loan is None:
            self._source.skip()
            self._unseen += 1
            return self._fault(ticket, Reason.NO_FREE_SLOT, {})
        slot, generation = loan
        answer = self._source.take(self._arena.frame(slot), self._timeout_ms)
        if isinstance(answer, Captured):
            self._context.count(Counter.PIXEL_COPIES, answer.copies)
            missed = self._missed(answer)
            if not missed:
                return self._captured(replace(ticket, slot=slot, generation=generation), answer)
            fault = _shifted(answer, missed)
        else:
            self._unseen += 1
            fault = _fault_of(answer)
        self._arena.release(slot, generation, Role.CAMERA)
        return self._fault(ticket, *fault)

    def _captured(self, ticket: Ticket, answer: Captured) -> Out:
        part_id = ticket.part_id or answer.part_id
        ticket = replace(
            ticket.stamped(Stamp.CAPTURED, self._context.clock()),
            part_id=part_id,
            detail=_json(_origin(answer)),
        )
        self._arena.hand_over(ticket.slot, ticket.generation, Role.CAMERA, Role.GATE)
        return Out(Role.GATE, Kind.FRAME, ticket)

    def _missed(self, answer: Captured) -> int:
        """How many frames the device took that no trigger asked for: pictures and parts shift."""
        last, self._last_frame_id = self._last_frame_id, answer.frame_id
        unseen, self._unseen = self._unseen, 0
        if last is None:
            return 0
        return max(0, frames_between(last, answer.frame_id, self._source.frame_ids) - unseen)

    def _fault(self, ticket: Ticket, reason: Reason, detail: dict[str, str]) -> Out:
        decided = ticket.decided(Verdict.FAULT, reason, self._context.clock(), _json(detail))
        return Out(Role.SINK, Kind.VERDICT, decided)


def _fault_of(answer: Answer) -> tuple[Reason, dict[str, str]]:
    """Why there is no picture, for the verdict and for the record."""
    if isinstance(answer, Incomplete | Unusable):
        return Reason.BAD_FRAME, {"error": answer.detail}
    if isinstance(answer, Nothing):
        return Reason.NO_FRAME, {**_origin(answer), "error": answer.why.value}
    return Reason.NO_FRAME, {}


def _shifted(answer: Captured, missed: int) -> tuple[Reason, dict[str, str]]:
    """Why a whole picture is not believed."""
    error = f"the camera counted {missed} more frames than there were triggers"
    return Reason.BAD_FRAME, {**_origin(answer), "error": error}


def _origin(answer: Captured | Nothing) -> dict[str, str]:
    """Where a picture comes from, and what was done to it, as far as the source says."""
    words = {"image": answer.image, "degraded": answer.degraded}
    return {key: word for key, word in words.items() if word}


def _json(detail: dict[str, str]) -> bytes:
    return json.dumps(detail, separators=(",", ":")).encode()
