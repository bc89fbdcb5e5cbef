"""The parts of one station, from trigger to record: what happens to one is noted here, each once.

    open --> settle, lose --> (`teller`: leaving) --> finish --> EVENT

The ledger decides; here its answers become counters, log lines, and messages in `outs`, which the
step sends when its turn is over. Whatever must survive the death of this process has its place in
`open`, `settle`, `lose` and `finish`, and before and after the write in `teller`.
"""

from collections.abc import Sequence

from inspectd.frame import Kind, Reason, Role, Stamp, Ticket, Verdict
from inspectd.ports import Context, Counter, Out
from inspectd.stages.sink.ejector import Ejector
from inspectd.stages.sink.ledger import Ledger
from inspectd.stages.sink.leftovers import Settlement
from inspectd.stages.sink.manner import Manner
from inspectd.stages.sink.tally import Tally

__all__ = ["Parts"]


class Parts:
    """Owns the ledger of a station, and counts."""

    def __init__(self, manner: Manner, context: Context, outs: list[Out]) -> None:
        """Begin empty; `outs` takes the messages."""
        self.ledger = Ledger(manner.timing.margin_ns, manner.ids)
        self.tally = Tally(manner.limits)
        self.ejector = Ejector(manner.ejector_doubt_ns, is_polled=manner.is_plc_triggered)
        self.opened = 0
        """Parts of this run, those of earlier lives included."""
        self.done = 0
        """Those of them that were told, or given up."""
        self.settled_id = 0
        """The last id that needs no verdict."""
        self._context, self._outs = context, outs

    def open(self, ticket: Ticket, now_ns: int) -> bool:
        """Enter a part and the missed ones before it; whether it is a new one."""
        opening = self.ledger.open(ticket, now_ns)
        gap = len(opening.missed)
        self.opened += gap + opening.is_new
        if opening.is_restart:
            last = self.settled_id
            self._context.log(
                "error", "trigger_ids_restarted", trigger_id=ticket.trigger_id, settled=last
            )
        if gap:
            self.tally.missed += gap
            self._context.count(Counter.MISSED, gap)
            self._context.log("warning", "triggers_missed", before=ticket.trigger_id, count=gap)
        if opening.is_new:
            self._outs.extend(self.ejector.triggered(ticket))
        return opening.is_new

    def refuse(self, ticket: Ticket, now_ns: int) -> None:
        """Enter a part that is decided already, for vision could not take it."""
        if self.open(ticket, now_ns) and ticket.reason is not Reason.STOPPING:
            self.tally.missed += 1
            self._context.count(Counter.MISSED, 1)

    def settle(self, ticket: Ticket, now_ns: int) -> None:
        """Take a verdict."""
        came = self.ledger.settle(ticket.stamped(Stamp.SINK_QUEUED, now_ns), now_ns)
        if came is Settlement.STRAY:
            self._context.log("warning", "verdict_stray", trigger_id=ticket.trigger_id)

    def lose(self, ticket: Ticket, now_ns: int) -> None:
        """A process died with this part in its hands."""
        self.ledger.lose(ticket, now_ns)

    def finish(self, ticket: Ticket, *, is_told: bool) -> None:
        """Book a part as told (with the stamp SENT) or as given up; the record learns of it."""
        if self.ledger.left(ticket):
            self.settled_id = ticket.trigger_id
        self.done += 1
        self.tally.left(ticket, is_told=is_told)
        self._context.count(Counter.FRAMES, 1)
        if ticket.verdict is Verdict.LATE:
            self._context.count(Counter.LATE, 1)
        if not is_told:
            self._context.count(Counter.UNTOLD, 1)
        self._outs.extend(self.ejector.told(ticket))
        self._outs.append(Out(Role.RECORD, Kind.EVENT, ticket))

    def note(self, now_ns: int) -> None:
        """Let the record have what came too late, and pictures that must not wait for the PLC."""
        self._outs.extend(_events(self.ledger.notes(now_ns)))


def _events(tickets: Sequence[Ticket]) -> list[Out]:
    return [Out(Role.RECORD, Kind.EVENT, ticket) for ticket in tickets]
