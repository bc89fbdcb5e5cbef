"""Where messages go, and what a full queue means."""

from collections.abc import Callable

import pytest

from inspectd.bus.arena import Geometry, MemfdArena
from inspectd.config.schema import Line
from inspectd.frame import NO_SLOT, Kind, Reason, Role, Ticket, Verdict
from inspectd.host.journey import JOURNEY, LINE_WIDE, STATION_WIDE, Member, crew_of
from inspectd.host.post import RETRIES_PER_TURN, WAITING_MAX, Post, receivers
from inspectd.ports import Counter, Out

_CREW = (*((role, -1) for role in LINE_WIDE), *((role, 0) for role in STATION_WIDE))


class _Box:
    """An outbox that takes so many messages."""

    def __init__(self, room: int = 1_000_000) -> None:
        self.room = room
        self.sent: list[tuple[Kind, Ticket]] = []

    def send(self, kind: Kind, ticket: Ticket) -> bool:
        if self.room == 0:
            return False
        self.room -= 1
        self.sent.append((kind, ticket))
        return True


class _World:
    """A post of one role in a line of one station."""

    def __init__(self, role: Role, full: tuple[Role, ...] = ()) -> None:
        self.counts: dict[Counter, int] = {}
        self.is_record_ready = True
        self.arena = MemfdArena.create(Geometry(2, (16, 16), (1, 16, 16), 64), "test")
        self.boxes: dict[Member, _Box] = {
            member: _Box(0 if member[0] in full else 1_000_000)
            for member in receivers(role, -1 if role is Role.INFER else 0, _CREW)
        }
        self.post = Post(
            role, self.boxes, {0: self.arena}, self._count, lambda: self.is_record_ready
        )

    def _count(self, counter: Counter, number: int) -> None:
        self.counts[counter] = self.counts.get(counter, 0) + number

    def to(self, role: Role) -> _Box:
        return next(box for member, box in self.boxes.items() if member[0] is role)

    def frame(self, owner: Role = Role.GATE) -> Ticket:
        slot, generation = self.arena.loan(7) or (NO_SLOT, 0)
        self.arena.hand_over(slot, generation, Role.CAMERA, owner)
        return Ticket(0, 7, slot=slot, generation=generation)


def test_every_leg_of_the_journey_has_an_outbox(line_of: Callable[[int], Line]) -> None:
    """Whoever may send has somewhere to send to, in every line."""
    always = {*LINE_WIDE, *STATION_WIDE}
    for leg in JOURNEY:
        if leg.receiver not in always:
            continue
        station = -1 if leg.sender in (Role.INFER, Role.RECORD) else 1
        found = {role for role, _ in receivers(leg.sender, station, crew_of(line_of(3)))}
        assert leg.receiver in found


def test_what_does_not_reach_the_ejector_is_dropped() -> None:
    """A part that it does not know is rejected: no verdict is made of it, and nothing waits."""
    box = _Box(room=1)
    counts: list[Counter] = []
    post = Post(
        Role.SINK, {(Role.REJECT, 0): box}, {}, lambda counter, _: counts.append(counter), bool
    )
    for trigger_id in (1, 2, 3):
        ticket = Ticket(0, trigger_id)
        assert post.send([Out(Role.REJECT, Kind.TRIGGER, ticket)], 0) == []
    box.room = 10
    post.retry()
    assert post.is_empty()
    assert [ticket.trigger_id for _, ticket in box.sent] == [1]
    assert counts == [Counter.SEND_FAILED] * 2


def test_the_engine_reaches_all_stations_and_a_gate_only_its_own(
    line_of: Callable[[int], Line],
) -> None:
    """Receivers are processes of the line."""
    crew = crew_of(line_of(3))
    assert (Role.JUDGE, 2) in receivers(Role.INFER, -1, crew)
    assert receivers(Role.GATE, 1, crew) == ((Role.INFER, -1), (Role.SINK, 1))
    assert set(receivers(Role.INFER, -1, crew)) <= set(crew)


def test_a_message_that_the_journey_does_not_know_is_a_fault() -> None:
    """A step cannot invent a way."""
    world = _World(Role.GATE)
    with pytest.raises(ValueError, match="GATE sends EVENT to RECORD"):
        world.post.send([Out(Role.RECORD, Kind.EVENT, Ticket(0, 1))], 0)


def test_a_frame_that_cannot_leave_becomes_a_fault_at_once() -> None:
    """The sink is told why, and the slot is free again."""
    world = _World(Role.CAMERA, full=(Role.GATE,))
    ticket = world.frame()
    assert world.post.send([Out(Role.GATE, Kind.FRAME, ticket)], 5) == []
    kind, verdict = world.to(Role.SINK).sent[0]
    assert kind is Kind.VERDICT
    assert (verdict.verdict, verdict.reason) == (Verdict.FAULT, Reason.QUEUE_FULL)
    assert (verdict.trigger_id, verdict.slot) == (7, NO_SLOT)
    assert world.arena.owned(Role.NOBODY)
    assert not world.arena.owned(Role.GATE)
    assert world.counts == {Counter.SEND_FAILED: 1}


def test_a_verdict_that_cannot_leave_waits_in_order() -> None:
    """Nothing for the sink is ever dropped for a full queue, nor overtaken."""
    world = _World(Role.JUDGE, full=(Role.SINK,))
    for i in range(3):
        world.post.send([Out(Role.SINK, Kind.VERDICT, Ticket(0, i))], 0)
    assert not world.post.is_empty()
    world.to(Role.SINK).room = 10
    world.post.send([Out(Role.SINK, Kind.VERDICT, Ticket(0, 3))], 0)
    world.post.retry()
    assert [ticket.trigger_id for _, ticket in world.to(Role.SINK).sent] == [0, 1, 2, 3]
    assert world.post.is_empty()


def test_an_event_that_waits_gives_up_its_picture() -> None:
    """A record that is away must not keep the camera from its slots."""
    world = _World(Role.SINK, full=(Role.RECORD,))
    ticket = world.frame(Role.RECORD)
    world.post.send([Out(Role.RECORD, Kind.EVENT, ticket)], 0)
    assert not world.arena.owned(Role.RECORD)
    world.to(Role.RECORD).room = 1
    world.post.retry()
    assert world.to(Role.RECORD).sent[0][1].slot == NO_SLOT


def test_a_record_that_does_not_move_gets_no_pictures() -> None:
    """Its events wait in its queue, but the camera has the slots."""
    world = _World(Role.SINK)
    world.is_record_ready = False
    world.post.send([Out(Role.RECORD, Kind.EVENT, world.frame(Role.RECORD))], 0)
    assert world.to(Role.RECORD).sent[0][1].slot == NO_SLOT
    assert not world.arena.owned(Role.RECORD)
    assert world.counts == {Counter.ARCHIVE_SKIPPED: 1}


def test_the_sink_hears_of_its_own_fire_that_could_not_leave() -> None:
    """It owns the verdict: the part is FAULT in its ledger, not silence."""
    world = _World(Role.SINK, full=(Role.CAMERA,))
    (verdict,) = world.post.send([Out(Role.CAMERA, Kind.FIRE, Ticket(0, 9))], 5)
    assert (verdict.trigger_id, verdict.reason) == (9, Reason.QUEUE_FULL)


def test_what_waits_is_bounded() -> None:
    """The oldest is lost when nobody takes anything for very long."""
    world = _World(Role.SINK, full=(Role.RECORD,))
    for i in range(WAITING_MAX + 1):
        world.post.send([Out(Role.RECORD, Kind.EVENT, Ticket(0, i))], i)
    world.to(Role.RECORD).room = 1
    world.post.retry()
    assert world.to(Role.RECORD).sent[0][1].trigger_id == 1


def test_what_waited_is_caught_up_in_bites() -> None:
    """All of it, but never so much at once that a deadline waits."""
    world = _World(Role.SINK, full=(Role.RECORD,))
    for i in range(100):
        world.post.send([Out(Role.RECORD, Kind.EVENT, Ticket(0, i))], i)
    world.to(Role.RECORD).room = 1_000
    world.post.retry()
    assert len(world.to(Role.RECORD).sent) == RETRIES_PER_TURN
    world.post.retry()
    assert [ticket.trigger_id for _, ticket in world.to(Role.RECORD).sent] == list(range(100))
