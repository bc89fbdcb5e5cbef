"""The one loop that every process of the line runs.

A turn: show that we move, wait for a message or for the step's next moment (at most 100 ms), feed
everything that is there, wake the step when it is due, send what it answered. The step decides; the
loop owns socket, clock and board. It ends when the process is asked to stop and the step has
nothing left, or when the time for that is used up.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from inspectd.errors import WireMismatch
from inspectd.frame import NO_SLOT, Kind, Role, Ticket
from inspectd.host.board import Row
from inspectd.host.orphans import ORPHANED_AFTER_NS, Orphans, Place
from inspectd.host.patience import TURN_NS
from inspectd.host.post import Post
from inspectd.ports import Counter, Out, Status, Step

__all__ = ["Ended", "Frames", "Listener", "Stage"]

MESSAGES_PER_TURN = 64
"""So many messages are fed before the step's own moments get their turn: the sink's deadlines come
within some milliseconds even under a flood."""
QUIET_NS = 50_000_000
"""When stopping: the inbox must stay empty for so long. Its senders have ended before, so what they
sent is in the kernel already."""
_SWEEP_NS = 500_000_000


class Listener(Protocol):
    """The inbox, as the loop sees it."""

    def wait(self, timeout_s: float) -> bool:
        """Wait for a message; whether there is one."""

    def receive(self) -> tuple[Kind, Ticket] | None:
        """Take one message; None when there is none."""


class Frames(Protocol):
    """Frame memory as the loop sees it (`inspectd.bus.arena.MemfdArena`)."""

    def owned(self, role: Role) -> Sequence[tuple[int, int, int]]:
        """The slots of `role`: (slot, generation, trigger id)."""

    def release(self, slot: int, generation: int, owner: Role) -> bool:
        """Give a slot back."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a loop ended."""

    is_drained: bool
    """False: the time to finish was used up, and something was still held."""


class Stage:
    """A step at work in this process."""

    def __init__(
        self,
        *,
        step: Step,
        inbox: Listener,
        post: Post,
        row: Row,
        arenas: Mapping[int, Frames],
        clock: Callable[[], int],
        is_told_to_stop: Callable[[], bool],
        is_hurried: Callable[[], bool] = lambda: False,
        log: Callable[..., None],
        part_limit: int = 0,
        orphaned_after_ns: int = ORPHANED_AFTER_NS,
    ) -> None:
        """Tie a step to its surroundings; nothing happens before `run`."""
        self._step, self._inbox, self._post, self._row = step, inbox, post, row
        self._arenas, self._clock, self._log = arenas, clock, log
        self._is_told_to_stop, self._is_hurried = is_told_to_stop, is_hurried
        self._role, self._station = row.member
        self._tells_done = part_limit > 0 and self._role is Role.SINK
        self._orphans = Orphans(orphaned_after_ns)
        self._next_sweep_ns = 0
        self._is_stopping = False
        self._heard_ns = 0
        self._trouble = ""

    def run(self, drain_ns: int) -> Ended:
        """Work until asked to stop, then at most `drain_ns` until nothing is held.

        When `is_hurried` nothing is waited for: whoever calls closes the step then.
        """
        stop_by_ns = None
        while True:
            self._turn()
            now_ns = self._clock()
            if not self._is_stopping:
                if not self._is_told_to_stop():
                    continue
                self._is_stopping = True
            if stop_by_ns is None:
                stop_by_ns = now_ns + drain_ns
                self._heard_ns = now_ns
                self._row.busy(now_ns)
                self._send(self._step.stop(now_ns))
                self._rest()
            if self._is_finished(now_ns):
                return Ended(is_drained=True)
            if now_ns >= stop_by_ns or self._is_hurried():
                return Ended(is_drained=False)

    # ------------------------------------------------------------ a turn

    def _turn(self) -> None:
        now_ns = self._clock()
        self._row.beat(now_ns)
        if self._inbox.wait(self._wait_s(now_ns)):
            self._receive()
        else:
            self._sweep()
        wake_at_ns = self._step.wake_at_ns()
        if wake_at_ns is not None and wake_at_ns <= (now_ns := self._clock()):
            self._row.busy(now_ns)
            self._send(self._step.wake(now_ns))
            self._rest()
        self._post.retry()
        self._show()

    def _wait_s(self, now_ns: int) -> float:
        """Until the step's next moment, at most one turn."""
        wake_at_ns = self._step.wake_at_ns()
        wait_ns = TURN_NS if wake_at_ns is None else min(TURN_NS, wake_at_ns - now_ns)
        if self._is_stopping:
            wait_ns = min(wait_ns, QUIET_NS)
        return max(0, wait_ns) / 1e9

    def _receive(self) -> None:
        """Feed what is there, but not without end; the board sees each call begin."""
        for _ in range(MESSAGES_PER_TURN):
            try:
                message = self._inbox.receive()
            except WireMismatch as mismatch:
                self._row.count(Counter.FOREIGN)
                self._log("warning", "message_foreign", error=str(mismatch))
                continue
            if message is None:
                break
            now_ns = self._heard_ns = self._clock()
            self._row.busy(now_ns)
            self._feed(*message, now_ns)
        self._rest()

    def _feed(self, kind: Kind, ticket: Ticket, now_ns: int) -> None:
        if kind is Kind.STOP:
            self._is_stopping = True
            return
        if ticket.slot != NO_SLOT:
            self._orphans.received(Place(ticket.station, ticket.slot, ticket.generation))
        outs = self._step.feed(kind, ticket, now_ns)
        if outs:
            self._send(outs)

    def _rest(self) -> None:
        """Show that the step has answered."""
        self._row.busy(0)
        self._row.beat(self._clock())

    def _send(self, outs: Iterable[Out]) -> None:
        """Send; a verdict about a message that could not leave may come straight back."""
        for ticket in self._post.send(outs, self._clock()):
            self._send(self._step.feed(Kind.VERDICT, ticket, self._clock()))

    # ------------------------------------------------------------ around it

    def _sweep(self) -> None:
        """Free slots that this process was given and never told of; the camera gives itself."""
        now_ns = self._clock()
        if now_ns < self._next_sweep_ns or self._role is Role.CAMERA:
            return
        self._next_sweep_ns = now_ns + _SWEEP_NS
        owned = {
            Place(station, slot, generation): trigger_id
            for station, arena in self._arenas.items()
            for slot, generation, trigger_id in arena.owned(self._role)
        }
        for place in self._orphans.sweep(owned, now_ns):
            self._arenas[place.station].release(place.slot, place.generation, self._role)
            self._log("warning", "slot_orphaned", station=place.station, trigger_id=owned[place])

    def _show(self) -> None:
        """Say on the board how we are, and log when that changes."""
        trouble = self._step.trouble()
        if trouble != self._trouble:
            self._trouble = trouble
            if trouble:
                self._log("error", "trouble", what=trouble)
            else:
                self._log("info", "recovered")
        if self._is_stopping:
            self._row.say(Status.STOPPING, trouble)
        elif self._tells_done and self._step.is_drained() and self._post.is_empty():
            self._row.say(Status.DONE, trouble)
        else:
            self._row.say(Status.TROUBLED if trouble else Status.READY, trouble)

    def _is_finished(self, now_ns: int) -> bool:
        quiet = now_ns - self._heard_ns >= QUIET_NS
        return quiet and self._step.is_drained() and self._post.is_empty()
