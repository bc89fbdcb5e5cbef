"""Small steps that move parts through the real house: for tests of the house alone.

A camera that triggers at 50 parts a second, stages that pass a slot on, a sink that writes a line
per verdict to the file named by the station's record folder.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from inspectd.config.schema import Line
from inspectd.frame import NO_SLOT, Kind, Reason, Role, Stamp, Ticket, Verdict
from inspectd.ports import Context, Counter, Out, Step

__all__ = [
    "STEPS",
    "build_camera",
    "build_gate",
    "build_infer",
    "build_judge",
    "build_record",
    "build_sink",
]

STEPS = {
    role: f"tests.process.scripted_steps:build_{role}"
    for role in ("camera", "gate", "infer", "judge", "sink", "record")
}

_PERIOD_NS = 20_000_000
_DEADLINE_NS = 400_000_000


class _Passing:
    """Passes a slot from one role to the next."""

    def __init__(self, context: Context, role: Role, to: Role, kind: Kind) -> None:
        self.context, self.role, self.to, self.kind = context, role, to, kind

    def feed(self, kind: Kind, ticket: Ticket, now_ns: int) -> Sequence[Out]:
        arena = self.context.arenas[ticket.station]
        owner = Role.RECORD if self.to is Role.SINK else self.to
        if not arena.hand_over(ticket.slot, ticket.generation, self.role, owner):
            self.context.count(Counter.STALE, 1)
            return ()
        self.context.count(Counter.FRAMES, 1)
        return (Out(self.to, self.kind, ticket.decided(Verdict.OK, Reason.NONE, now_ns)),)

    def wake_at_ns(self) -> int | None:
        return None

    def wake(self, now_ns: int) -> Sequence[Out]:
        return ()

    def stop(self, now_ns: int) -> Sequence[Out]:
        return ()

    def is_drained(self) -> bool:
        return True

    def trouble(self) -> str:
        return ""

    def close(self) -> None:
        return


class _Camera(_Passing):
    """Triggers by itself until stopped or until the limit."""

    def __init__(self, context: Context, station: int) -> None:
        super().__init__(context, Role.CAMERA, Role.GATE, Kind.FRAME)
        self.station = station
        self.trigger_id = context.restarts * 100_000
        self.next_ns: int | None = context.clock()
        self.limit = context.part_limit or 1_000_000

    def wake_at_ns(self) -> int | None:
        return self.next_ns

    def wake(self, now_ns: int) -> Sequence[Out]:
        assert self.next_ns is not None
        self.next_ns += _PERIOD_NS
        ticket = Ticket(self.station, self.trigger_id, part_id=f"part-{self.trigger_id}")
        ticket = ticket.stamped(Stamp.FIRED, now_ns)
        self.trigger_id += 1
        self.limit -= 1
        if self.limit == 0:
            self.next_ns = None
        outs = [Out(Role.SINK, Kind.TRIGGER, ticket)]
        loan = self.context.arenas[self.station].loan(ticket.trigger_id)
        if loan is None:
            outs.append(
                Out(
                    Role.SINK,
                    Kind.VERDICT,
                    ticket.decided(Verdict.FAULT, Reason.NO_FREE_SLOT, now_ns),
                )
            )
            return outs
        slot, generation = loan
        self.context.arenas[self.station].frame(slot)[...] = ticket.trigger_id % 256
        placed = Ticket(
            self.station,
            ticket.trigger_id,
            part_id=ticket.part_id,
            slot=slot,
            generation=generation,
            stamps=ticket.stamps,
        ).stamped(Stamp.CAPTURED, now_ns)
        self.context.arenas[self.station].hand_over(slot, generation, Role.CAMERA, Role.GATE)
        outs.append(Out(Role.GATE, Kind.FRAME, placed))
        return outs

    def stop(self, now_ns: int) -> Sequence[Out]:
        self.next_ns = None
        return ()


class _Sink(_Passing):
    """Writes one line per verdict; a part without one becomes LATE."""

    def __init__(self, context: Context, folder: str, station: int) -> None:
        super().__init__(context, Role.SINK, Role.RECORD, Kind.EVENT)
        self.file = (Path(folder) / f"verdicts-{station}.jsonl").open("a", encoding="utf-8")
        self.open: dict[int, int] = {}
        self.decided = 0

    def feed(self, kind: Kind, ticket: Ticket, now_ns: int) -> Sequence[Out]:
        if kind is Kind.TRIGGER:
            self.open[ticket.trigger_id] = now_ns + _DEADLINE_NS
            return ()
        if ticket.trigger_id not in self.open:
            return (Out(Role.RECORD, Kind.EVENT, ticket),)
        if kind is Kind.LOST:
            ticket = ticket.decided(Verdict.FAULT, Reason.PROCESS_LOST, now_ns)
        return self._tell(ticket)

    def _tell(self, ticket: Ticket) -> Sequence[Out]:
        self.open.pop(ticket.trigger_id)
        self.decided += 1
        self.file.write(
            json.dumps(
                {
                    "trigger": ticket.trigger_id,
                    "verdict": ticket.verdict.name,
                    "reason": ticket.reason.name,
                }
            )
            + "\n"
        )
        self.file.flush()
        return (Out(Role.RECORD, Kind.EVENT, ticket),)

    def wake_at_ns(self) -> int | None:
        return min(self.open.values(), default=None)

    def wake(self, now_ns: int) -> Sequence[Out]:
        late = [trigger for trigger, at in self.open.items() if at <= now_ns]
        return [
            out
            for trigger in late
            for out in self._tell(
                Ticket(0, trigger).decided(Verdict.LATE, Reason.DEADLINE_PASSED, now_ns)
            )
        ]

    def is_drained(self) -> bool:
        limit = self.context.part_limit
        return not self.open and (limit == 0 or self.decided >= limit)

    def stop(self, now_ns: int) -> Sequence[Out]:
        return ()

    def close(self) -> None:
        self.file.close()


class _Record(_Passing):
    """Frees the slots."""

    def feed(self, kind: Kind, ticket: Ticket, now_ns: int) -> Sequence[Out]:
        self.context.count(Counter.EVENTS, 1)
        if ticket.slot != NO_SLOT:
            self.context.arenas[ticket.station].release(ticket.slot, ticket.generation, Role.RECORD)
        return ()


def build_camera(line: Line, station: int, context: Context) -> Step:
    """Make the camera."""
    return _Camera(context, station)


def build_gate(line: Line, station: int, context: Context) -> Step:
    """Make a gate that finds everything fit."""
    return _Passing(context, Role.GATE, Role.INFER, Kind.TENSOR)


def build_infer(line: Line, station: int, context: Context) -> Step:
    """Make an inference that finds nothing."""
    return _Passing(context, Role.INFER, Role.JUDGE, Kind.RAW)


def build_judge(line: Line, station: int, context: Context) -> Step:
    """Make a judge that lets everything pass."""
    return _Passing(context, Role.JUDGE, Role.SINK, Kind.VERDICT)


def build_sink(line: Line, station: int, context: Context) -> Step:
    """Make the sink."""
    return _Sink(context, line.record.folder, station)


def build_record(line: Line, station: int, context: Context) -> Step:
    """Make the record."""
    return _Record(context, Role.RECORD, Role.NOBODY, Kind.EVENT)
