"""The door of the camera: every trigger is answered."""

import json
from collections.abc import Sequence

import numpy as np
import pytest

from inspectd.frame import NO_SLOT, Kind, Reason, Role, Stamp, Ticket, Verdict
from inspectd.ports import Context, Counter, Out, Pixels
from inspectd.stages.camera.schedule import Schedule
from inspectd.stages.camera.source import (
    Answer,
    Captured,
    FrameIds,
    Incomplete,
    Nothing,
    Unusable,
    Why,
)
from inspectd.stages.camera.step import CameraStep

MS = 1_000_000


class ScriptedSource:
    """A camera that gives the answers it was told to."""

    frame_ids = FrameIds(1, 65535)

    def __init__(self, answers: Sequence[Answer]) -> None:
        self._answers = list(answers)
        self.is_open = True
        self.skipped = 0

    def open(self) -> None:
        """Nothing to open."""

    def take(self, into: Pixels, timeout_ms: float) -> Answer:
        """Give the next answer; write into the memory."""
        into[...] = 9
        return self._answers.pop(0)

    def skip(self) -> None:
        """Count."""
        self.skipped += 1

    def close(self) -> None:
        """Remember."""
        self.is_open = False


class OneSlotArena:
    """Frame memory of one slot, whose owner can be asked for."""

    def __init__(self) -> None:
        self.owner = Role.NOBODY
        self.generation = 0
        self._frame = np.zeros((4, 4), np.uint8)

    def loan(self, trigger_id: int) -> tuple[int, int] | None:
        """Give the slot when it is free."""
        if self.owner is not Role.NOBODY:
            return None
        self.owner, self.generation = Role.CAMERA, self.generation + 1
        return 0, self.generation

    def frame(self, slot: int) -> Pixels:
        """The picture."""
        return self._frame

    def hand_over(self, slot: int, generation: int, owner: Role, to: Role) -> bool:
        """Change the owner."""
        self.owner = to
        return True

    def release(self, slot: int, generation: int, owner: Role) -> bool:
        """Free the slot."""
        self.owner = Role.NOBODY
        return True


class Rig:
    """A camera step with everything around it."""

    def __init__(self, *answers: Answer, schedule: Schedule | None = None) -> None:
        self.arena = OneSlotArena()
        self.source = ScriptedSource(answers)
        self.counts: dict[Counter, int] = {}
        context = Context(
            arenas={0: self.arena},  # type: ignore[dict-item]  # all that a camera asks of it
            clock=lambda: 50 * MS,
            count=lambda c, n: self.counts.__setitem__(c, self.counts.get(c, 0) + n),
            log=lambda *_, **__: None,
            is_ready=lambda *_: True,
            is_line_healthy=lambda _: True,
        )
        self.step = CameraStep(
            0, self.source, context, schedule, deadline_ns=100 * MS, timeout_ms=10
        )

    def fire(self, trigger_id: int = 1) -> Out:
        """Have the PLC trigger."""
        (out,) = self.step.feed(Kind.FIRE, Ticket(0, trigger_id, deadline_ns=7), 40 * MS)
        return out


def test_a_trigger_becomes_a_frame_for_the_gate() -> None:
    """The slot is the gate's, the ticket keeps the trigger and says where the picture came from."""
    rig = Rig(Captured(1, "bottle-1", 1, "bottle-1.jpg", "blur"))
    out = rig.fire(5)
    assert (out.to, out.kind, rig.arena.owner) == (Role.GATE, Kind.FRAME, Role.GATE)
    ticket = out.ticket
    assert (ticket.trigger_id, ticket.part_id, ticket.deadline_ns) == (5, "bottle-1", 7)
    assert (ticket.slot, ticket.generation) == (0, 1)
    assert ticket.stamps[Stamp.CAPTURED] == 50 * MS
    assert json.loads(ticket.detail) == {"image": "bottle-1.jpg", "degraded": "blur"}
    assert rig.counts == {Counter.FRAMES: 1, Counter.PIXEL_COPIES: 1}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Nothing(Why.DROPPED), Reason.NO_FRAME),
        (Nothing(Why.TIMED_OUT), Reason.NO_FRAME),
        (Incomplete("12 packets lost"), Reason.BAD_FRAME),
        (Unusable("a.jpg: is empty"), Reason.BAD_FRAME),
    ],
)
def test_a_trigger_without_a_picture_is_a_fault(answer: Answer, reason: Reason) -> None:
    """The sink hears at once, the slot is free again, and nothing goes to the gate."""
    rig = Rig(answer)
    out = rig.fire()
    assert (out.to, out.kind) == (Role.SINK, Kind.VERDICT)
    assert (out.ticket.verdict, out.ticket.reason) == (Verdict.FAULT, reason)
    assert out.ticket.slot == NO_SLOT
    assert rig.arena.owner is Role.NOBODY
    assert json.loads(out.ticket.detail)["error"]


def test_a_trigger_without_a_free_slot_is_a_fault() -> None:
    """The camera is told to let the picture go: it must not be handed over for the next part."""
    rig = Rig(Captured(1, "", 0), Captured(3, "", 0))
    rig.fire(1)
    assert rig.fire(2).ticket.reason is Reason.NO_FREE_SLOT
    assert rig.source.skipped == 1
    rig.arena.owner = Role.NOBODY
    assert rig.fire(3).kind is Kind.FRAME


def test_a_gap_in_the_device_count_makes_the_part_a_fault() -> None:
    """When the device counted frames we never saw, this picture may be of another part."""
    rig = Rig(Captured(65535, "", 0), Captured(2, "", 0), Captured(3, "", 0))
    rig.fire(1)
    rig.arena.owner = Role.NOBODY
    out = rig.fire(2)
    assert (out.ticket.verdict, out.ticket.reason) == (Verdict.FAULT, Reason.BAD_FRAME)
    assert rig.fire(3).kind is Kind.FRAME


@pytest.mark.parametrize("answer", [Nothing(Why.DROPPED), Incomplete("short"), Unusable("torn")])
def test_a_part_without_a_picture_does_not_harm_the_next(answer: Answer) -> None:
    """The device may have counted the frame that did not come, or not: both are in order.

    The part after every dropped frame of a replay was FAULT once.
    """
    counted = Rig(Captured(7, "", 0), answer, Captured(9, "", 0))
    not_counted = Rig(Captured(7, "", 0), answer, Captured(8, "", 0))
    for rig in (counted, not_counted):
        rig.fire(1)
        rig.arena.owner = Role.NOBODY
        rig.fire(2)
        assert rig.fire(3).kind is Kind.FRAME


def test_a_picture_that_came_to_nobody_excuses_one_number_only() -> None:
    """More frames counted than triggers without a picture: this one may be of another part."""
    rig = Rig(Captured(7, "", 0), Nothing(Why.TIMED_OUT), Captured(10, "p", 0, "p.png"))
    rig.fire(1)
    rig.arena.owner = Role.NOBODY
    rig.fire(2)
    out = rig.fire(3)
    assert out.ticket.reason is Reason.BAD_FRAME
    assert json.loads(out.ticket.detail)["image"] == "p.png"


def test_a_station_that_triggers_itself_tells_the_sink_first() -> None:
    """The deadline clock starts before the picture is taken."""
    rig = Rig(Captured(1, "", 0), schedule=Schedule(10, 0, 0))
    told, frame = rig.step.wake(3 * MS)
    assert (told.to, told.kind, told.ticket.deadline_ns) == (Role.SINK, Kind.TRIGGER, 103 * MS)
    assert told.ticket.stamps[Stamp.FIRED] == 3 * MS
    assert frame.kind is Kind.FRAME
    assert frame.ticket.trigger_id == told.ticket.trigger_id == 0
    assert rig.step.wake_at_ns() == 100 * MS


def test_a_stopping_camera_triggers_no_more_but_answers() -> None:
    """Triggers that the PLC gave before it saw the stop still get their picture."""
    rig = Rig(Captured(1, "", 0), schedule=Schedule(10, 0, 0))
    rig.step.stop(0)
    assert rig.step.wake_at_ns() is None
    assert rig.step.wake(500 * MS) == ()
    assert rig.fire().kind is Kind.FRAME


def test_close_lets_go_of_the_camera() -> None:
    """Whatever happened before."""
    rig = Rig()
    rig.step.close()
    assert not rig.source.is_open


def test_triggers_of_our_own_are_of_the_recipe_that_the_sink_said_last() -> None:
    """None at first; the sink refuses what is of another recipe than it wants."""
    rig = Rig(Captured(1, "", 0), Captured(2, "", 0), schedule=Schedule(10, 0, 0))
    first, _ = rig.step.wake(3 * MS)
    assert rig.step.feed(Kind.RECIPE, Ticket(0, 0, recipe=7), 5 * MS) == ()
    second, _ = rig.step.wake(100 * MS)
    assert (first.ticket.recipe, second.ticket.recipe) == (0, 7)
