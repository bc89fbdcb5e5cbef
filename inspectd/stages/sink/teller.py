"""Who is told what, and when it is too late to tell: the way from the ledger to the verdict block.

    its turn, the last one acknowledged --> write, confirmed --> told
    PLC away, or its program stands ------> wait up to `tell_late_ms` past its time --> given up

A part that has waited past its time is told as LATE when the PLC is back: oldest first, one each.
While the sink is stopped nobody waits past his time for a PLC that is away, and after `_HURRY_NS`
nobody does in any case: the record must have every part before this process ends.
"""

from inspectd.frame import Stamp, Ticket
from inspectd.ports import Context, Counter
from inspectd.stages.sink.conversation import Conversation
from inspectd.stages.sink.parts import Parts
from inspectd.stages.sink.timing import Timing
from inspectd.stages.sink.watch import PlcWatch

__all__ = ["Teller"]

_HURRY_NS = 3_000_000_000
"""Of the sink's `inspectd.host.patience`, 5 s, so much is for telling."""


class Teller:
    """Tells the PLC of one station."""

    def __init__(
        self, parts: Parts, plc: Conversation, watch: PlcWatch, timing: Timing, context: Context
    ) -> None:
        """Tell `plc` of `parts`."""
        self._parts, self._plc, self._watch = parts, plc, watch
        self._timing, self._context = timing, context
        self._hurried_ns: int | None = None

    def hurry(self, now_ns: int) -> None:
        """The sink is stopped: let nobody wait past his time."""
        self._hurried_ns = now_ns

    def tell(self) -> None:
        """Tell what may be told, and give up what cannot wait any longer."""
        while True:
            now_ns = self._context.clock()
            ticket = self._given_up(now_ns)
            if ticket is not None:
                self._parts.finish(ticket, is_told=False)
                continue
            ticket = self._parts.ledger.leaving(now_ns) if self._may_write(now_ns) else None
            if ticket is None or not self._write(ticket):
                return

    def wakes_at_ns(self) -> int | None:
        """When `tell` has something to do, if nothing else happens; None: nothing is held."""
        times = [self._gives_up_at_ns()]
        if self._plc.is_connected and not self._plc.handshake.is_waiting:
            times.append(self._parts.ledger.leaves_at_ns())
        return min((time for time in times if time is not None), default=None)

    def _write(self, ticket: Ticket) -> bool:
        """Write one verdict; False: it is in doubt, or the connection is gone."""
        sequence = self._plc.draw()
        self._parts.leaving(ticket, sequence)
        if not self._plc.tell(ticket, sequence):
            return False
        self._parts.finish(ticket.stamped(Stamp.SENT, self._context.clock()), is_told=True)
        return True

    def _may_write(self, now_ns: int) -> bool:
        """Whether the PLC has taken the last verdict, or had its time to while its program ran."""
        if not self._plc.is_connected or self._is_held():
            return False
        is_free, is_overrun = self._plc.handshake.is_free(now_ns)
        if is_overrun:
            self._context.count(Counter.OVERRUNS, 1)
            untaken = self._parts.settled_id
            self._context.log("warning", "verdict_not_acknowledged", trigger_id=untaken)
        return is_free

    def _is_held(self) -> bool:
        """Whether the next verdict would overwrite one that nobody looks at."""
        return self._watch.is_silent and self._plc.handshake.is_waiting

    def _given_up(self, now_ns: int) -> Ticket | None:
        """The part that goes to the record untold, if there is one."""
        at_ns = self._gives_up_at_ns()
        if at_ns is None or now_ns < at_ns:
            return None
        return self._parts.ledger.overdue(now_ns)

    def _gives_up_at_ns(self) -> int | None:
        """When the part whose turn it is cannot wait any longer; None: it is told some time."""
        ledger = self._parts.ledger
        next_id, overdue_at_ns = ledger.next_id, ledger.overdue_at_ns()
        if next_id is None or overdue_at_ns is None:
            return None
        if ledger.is_over_full:
            return 0
        if self._plc.is_connected and not self._is_held():
            return None if self._hurried_ns is None else self._hurried_ns + _HURRY_NS
        if self._hurried_ns is not None:
            return max(overdue_at_ns, self._plc.doubt_lasts_until_ns(next_id))
        return overdue_at_ns + self._timing.tell_late_ns
