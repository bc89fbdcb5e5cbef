"""The loop that every process runs, with a clock of the test."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from inspectd.bus.arena import Geometry, MemfdArena
from inspectd.errors import WireMismatch
from inspectd.frame import Kind, Role, Ticket
from inspectd.host.board import Board, Row
from inspectd.host.journey import LINE_WIDE, STATION_WIDE
from inspectd.host.orphans import ORPHANED_AFTER_NS
from inspectd.host.patience import TURN_NS
from inspectd.host.post import Post, receivers
from inspectd.host.stage import MESSAGES_PER_TURN, Stage
from inspectd.ports import Counter, Out, Status

_MS = 1_000_000
_CREW = (*((role, -1) for role in LINE_WIDE), *((role, 0) for role in STATION_WIDE))


class _Inbox:
    """Messages that come at set times; waiting moves the clock."""

    def __init__(self, clock: "_Clock") -> None:
        self.clock = clock
        self.coming: list[tuple[int, tuple[Kind, Ticket] | None]] = []
        """When, and what; None: something foreign."""
        self.waits: list[float] = []

    def wait(self, timeout_s: float) -> bool:
        self.waits.append(timeout_s)
        until = self.clock.now + int(timeout_s * 1e9)
        if self.coming and self.coming[0][0] <= until:
            self.clock.now = max(self.clock.now, self.coming[0][0])
            return True
        self.clock.now = until
        return False

    def receive(self) -> tuple[Kind, Ticket] | None:
        if not self.coming or self.coming[0][0] > self.clock.now:
            return None
        _, message = self.coming.pop(0)
        if message is None:
            raise WireMismatch("token", "ours", "theirs")
        return message


class _Clock:
    def __init__(self) -> None:
        self.now = 1_000 * _MS

    def __call__(self) -> int:
        return self.now


class _Step:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.fed: list[tuple[Kind, int]] = []
        self.woken: list[int] = []
        self.stopped: list[int] = []
        self.wake_at: int | None = None
        self.held = 0
        self.sick = ""
        self.calls: list[str] = []
        self.status: Callable[[], Status] = lambda: Status.ABSENT
        self.seen: list[Status] = []
        """What the board said of this process at each feed."""

    def feed(self, kind: Kind, ticket: Ticket, now_ns: int) -> Sequence[Out]:
        self.calls.append("feed")
        self.seen.append(self.status())
        self.fed.append((kind, ticket.trigger_id))
        return ()

    def wake_at_ns(self) -> int | None:
        return self.wake_at

    def wake(self, now_ns: int) -> Sequence[Out]:
        self.calls.append("wake")
        self.woken.append(now_ns)
        self.wake_at = None
        self.held = 0
        return ()

    def stop(self, now_ns: int) -> Sequence[Out]:
        self.stopped.append(now_ns)
        return ()

    def is_drained(self) -> bool:
        return self.held == 0

    def trouble(self) -> str:
        return self.sick

    def close(self) -> None:
        return


class _World:
    """One stage with everything around it."""

    def __init__(self, role: Role = Role.GATE, part_limit: int = 0) -> None:
        self.board = Board.create(_CREW)
        self.arena = MemfdArena.create(Geometry(2, (16, 16), (1, 16, 16), 64), "test")
        self.row: Row = self.board.row(role, 0)
        self.clock = _Clock()
        self.inbox = _Inbox(self.clock)
        self.step = _Step()
        self.told = False
        self.logged: list[str] = []
        boxes = {member: _Sent() for member in receivers(role, 0, _CREW)}
        self.post = Post(role, boxes, {0: self.arena}, self.row.count, lambda: True)
        self.stage = Stage(
            step=self.step,
            inbox=self.inbox,
            post=self.post,
            row=self.row,
            arenas={0: self.arena},
            clock=self.clock,
            is_told_to_stop=lambda: self.told,
            log=self._log,
            part_limit=part_limit,
        )

    def _log(self, level: str, event: str, **fields: Any) -> None:
        self.logged.append(event)

    def stop_at(self, ms: int) -> None:
        """Have a STOP come so many milliseconds from now."""
        self.inbox.coming.append((self.clock.now + ms * _MS, (Kind.STOP, Ticket(0, 0))))

    def close(self) -> None:
        self.board.close()
        self.arena.close()


class _Sent:
    def send(self, kind: Kind, ticket: Ticket) -> bool:
        return True


@pytest.fixture
def world() -> Iterator[_World]:
    """A gate."""
    made = _World()
    yield made
    made.close()


def test_messages_are_fed_in_order(world: _World) -> None:
    """All that is there, then the next wait."""
    for i in range(3):
        world.inbox.coming.append((world.clock.now, (Kind.FRAME, Ticket(0, i))))
    world.stop_at(1)
    world.stage.run(10**9)
    assert world.step.fed == [(Kind.FRAME, 0), (Kind.FRAME, 1), (Kind.FRAME, 2)]


def test_a_step_is_woken_at_its_moment(world: _World) -> None:
    """To the microsecond, not to the turn."""
    due = world.clock.now + 7 * _MS
    world.step.wake_at = due
    world.stop_at(50)
    world.stage.run(10**9)
    assert world.step.woken == [pytest.approx(due, abs=1000)]


def test_a_flood_of_messages_does_not_hold_up_the_step(world: _World) -> None:
    """Deadlines get their turn after a bounded number of messages."""
    for i in range(3 * MESSAGES_PER_TURN):
        world.inbox.coming.append((world.clock.now, (Kind.FRAME, Ticket(0, i))))
    world.step.wake_at = world.clock.now
    world.stop_at(1)
    world.stage.run(10**9)
    assert world.step.calls.index("wake") == MESSAGES_PER_TURN


def test_an_idle_process_shows_that_it_moves(world: _World) -> None:
    """No wait is longer than a turn."""
    world.stop_at(1000)
    world.stage.run(10**9)
    assert max(world.inbox.waits) <= TURN_NS / 1e9
    assert world.row.state().loop_ns >= world.clock.now - TURN_NS


def test_foreign_messages_are_counted_and_passed_over(world: _World) -> None:
    """The next message is heard."""
    world.inbox.coming = [
        (world.clock.now, None),
        (world.clock.now, (Kind.FRAME, Ticket(0, 4))),
    ]
    world.stop_at(1)
    world.stage.run(10**9)
    assert world.row.state().counters[Counter.FOREIGN] == 1
    assert world.step.fed == [(Kind.FRAME, 4)]


def test_stopping_waits_for_what_is_held(world: _World) -> None:
    """It goes on waking the step until that says it is drained."""
    world.step.held = 1
    world.step.wake_at = world.clock.now + 300 * _MS
    world.stop_at(1)
    assert world.stage.run(10**9).is_drained
    assert len(world.step.stopped) == 1
    assert len(world.step.woken) == 1


def test_stopping_has_an_end(world: _World) -> None:
    """A step that holds something for ever is ended by its bound, and that is said."""
    world.step.held = 1
    world.stop_at(1)
    begin = world.clock.now
    assert not world.stage.run(500 * _MS).is_drained
    assert world.clock.now - begin < 700 * _MS


def test_messages_on_the_way_are_heard_before_the_end(world: _World) -> None:
    """What its sender sent before it ended is still fed."""
    world.stop_at(1)
    world.inbox.coming.append((world.clock.now + 30 * _MS, (Kind.FRAME, Ticket(0, 8))))
    world.stage.run(10**9)
    assert world.step.fed == [(Kind.FRAME, 8)]


def test_sigterm_stops_as_a_message_does(world: _World) -> None:
    """The handler only notes; the loop acts within a turn."""
    world.told = True
    assert world.stage.run(10**9).is_drained
    assert len(world.step.stopped) == 1


def test_trouble_is_said_on_the_board_and_once_in_the_log(world: _World) -> None:
    """Each change one line, however many turns it lasts."""
    world.step.sick = "no answer"
    world.stop_at(500)
    world.stage.run(10**9)
    assert world.logged == ["trouble"]
    assert world.row.state().trouble == "no answer"


def test_a_slot_without_a_ticket_is_freed() -> None:
    """Its sender was killed between hand-over and message; the slot must not be lost."""
    world = _World()
    loan = world.arena.loan(3)
    assert loan is not None
    world.arena.hand_over(*loan, Role.CAMERA, Role.GATE)
    world.stop_at(2 * ORPHANED_AFTER_NS // _MS)
    world.stage.run(10**9)
    assert world.arena.owned(Role.GATE) == []
    assert "slot_orphaned" in world.logged
    world.close()


def test_a_sink_says_done_when_all_parts_of_the_run_are_told() -> None:
    """The supervisor ends the run by it; without a limit nobody is ever done."""
    for part_limit, status in ((5, Status.DONE), (0, Status.READY)):
        world = _World(Role.SINK, part_limit)
        world.step.status = lambda row=world.row: row.state().status  # type: ignore[misc]
        world.inbox.coming.append((world.clock.now + 150 * _MS, (Kind.TRIGGER, Ticket(0, 1))))
        world.stop_at(200)
        world.stage.run(10**9)
        assert world.step.seen == [status]
        world.close()
