"""Takes what a step wants sent to the right outbox, and decides what a full queue means.

To the sink and the record: the message waits here, in order, without its slot. To anybody else: the
part becomes FAULT (queue full) at once, and its slot is free again. To the ejector nothing is
repeated: a part unknown there is rejected; nor is what concerns no part. Nothing here ever waits.
An event whose message is lost, with whichever process, is in the sink's journal.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from inspectd.bus.link import Sender
from inspectd.frame import NO_SLOT, Kind, Reason, Role, Ticket, Verdict
from inspectd.host.journey import JOURNEY, LINE_WIDE, Member
from inspectd.ports import Arena, Counter, Out

__all__ = ["RETRIES_PER_TURN", "WAITING_MAX", "Post", "receivers"]

WAITING_MAX = 10_000
"""Messages kept per receiver that does not take them: at 5 parts a second half an hour, and some
10 MB. Beyond it the oldest is lost, and counted."""
RETRIES_PER_TURN = 64
"""A long wait is caught up in bites, so that no deadline waits for it."""
_KEPT_FOR = frozenset({Role.SINK, Role.RECORD})
_DROPPED_FOR = frozenset({Role.REJECT})
_ASKED_AGAIN = frozenset({Kind.RECIPE, Kind.GOLDEN})
"""Of no part: the sink asks again, or says that it took too long."""


def receivers(role: Role, station: int, crew: Iterable[Member]) -> tuple[Member, ...]:
    """Whom of the crew a process may send to: its rows of the journey, its own station or all."""
    roles = {leg.receiver for leg in JOURNEY if leg.sender is role}
    within = (station, -1) if station >= 0 else None
    return tuple(
        (to, where) for to, where in crew if to in roles and (within is None or where in within)
    )


class Post:
    """The sending side of one process."""

    def __init__(
        self,
        role: Role,
        outboxes: Mapping[Member, Sender],
        arenas: Mapping[int, Arena],
        count: Callable[[Counter, int], None],
        is_record_ready: Callable[[], bool],
    ) -> None:
        """Serve the process `role`.

        Args:
            role: of this process.
            outboxes: as `receivers` names them.
            arenas: by station; to take a slot back whose message did not leave.
            count: adds to this process's counters.
            is_record_ready: while it is not, pictures must not wait for it: the camera needs the
                slots.
        """
        self._role = role
        self._legs = frozenset((leg.receiver, leg.kind) for leg in JOURNEY if leg.sender is role)
        self._outboxes = outboxes
        self._arenas = arenas
        self._count = count
        self._is_record_ready = is_record_ready
        self._waiting: dict[Member, deque[tuple[Kind, Ticket]]] = {m: deque() for m in outboxes}

    def send(self, outs: Iterable[Out], now_ns: int) -> list[Ticket]:
        """Send; answer the verdicts that this very process must hear (the sink's failed FIRE).

        Raises:
            ValueError: a step sends what the journey does not know: a fault in the step.
        """
        own: list[Ticket] = []
        for out in outs:
            if (out.to, out.kind) not in self._legs:
                raise ValueError(
                    f"{self._role.name} sends {out.kind.name} to {out.to.name}: not in the journey"
                )
            self._send(out, now_ns, own)
        return own

    def retry(self) -> None:
        """Send what waits, as far as the queues take it, and not all at once."""
        for member, waiting in self._waiting.items():
            for _ in range(min(len(waiting), RETRIES_PER_TURN)):
                if not self._outboxes[member].send(*waiting[0]):
                    break
                waiting.popleft()

    def is_empty(self) -> bool:
        """Whether nothing waits."""
        return not any(self._waiting.values())

    def _send(self, out: Out, now_ns: int, own: list[Ticket]) -> None:
        member = (out.to, -1 if out.to in LINE_WIDE else out.ticket.station)
        if out.kind is Kind.EVENT:
            out = self._as_event(out)
        if not self._waiting[member] and self._outboxes[member].send(out.kind, out.ticket):
            return
        self._count(Counter.SEND_FAILED, 1)
        ticket = self._without_slot(out)
        if out.to in _KEPT_FOR:
            self._keep(member, out.kind, ticket)
            return
        if out.to in _DROPPED_FOR or out.kind in _ASKED_AGAIN:
            return
        verdict = ticket.decided(Verdict.FAULT, Reason.QUEUE_FULL, now_ns)
        if self._role is Role.SINK:
            own.append(verdict)
        else:
            self._send(Out(Role.SINK, Kind.VERDICT, verdict), now_ns, own)

    def _as_event(self, out: Out) -> Out:
        """While the record does not move, the picture of an event is let go."""
        if out.ticket.slot == NO_SLOT or self._is_record_ready():
            return out
        self._count(Counter.ARCHIVE_SKIPPED, 1)
        return out._replace(ticket=self._without_slot(out))

    def _without_slot(self, out: Out) -> Ticket:
        """Free the slot of a message that did not leave; its new owner has not heard of it."""
        ticket = out.ticket
        if ticket.slot == NO_SLOT:
            return ticket
        self._arenas[ticket.station].release(ticket.slot, ticket.generation, out.to)
        return replace(ticket, slot=NO_SLOT)

    def _keep(self, member: Member, kind: Kind, ticket: Ticket) -> None:
        waiting = self._waiting[member]
        if len(waiting) >= WAITING_MAX:
            waiting.popleft()
        waiting.append((kind, ticket))
