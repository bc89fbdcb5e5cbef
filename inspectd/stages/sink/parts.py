"""The parts of one station, from trigger to record: what happens to one is noted here, each once.

    open --> settle, lose --> (`teller`: leaving) --> finish --> EVENT

The ledger decides; here its answers become counters, log lines, and messages in `outs`, which the
step sends when its turn is over. What must survive the death of this process is kept in `memory`
before anything else is done about it, and taken up again at the next birth.
"""

from inspectd.frame import Kind, Reason, Role, Stamp, Ticket, Verdict
from inspectd.ports import Context, Counter, Out, Past
from inspectd.stages.sink.ejector import Ejector
from inspectd.stages.sink.ledger import Ledger
from inspectd.stages.sink.leftovers import Settlement
from inspectd.stages.sink.manner import Manner
from inspectd.stages.sink.memory import Memory, held_tickets
from inspectd.stages.sink.tally import Tally

__all__ = ["Parts"]


class Parts:
    """Owns the ledger of a station, and counts."""

    def __init__(self, manner: Manner, context: Context, outs: list[Out], memory: Memory) -> None:
        """Begin with what `memory` has of earlier lives; `outs` takes the messages."""
        self.ledger = Ledger(manner.timing.margin_ns, manner.ids)
        self.tally = Tally(manner.limits)
        self.ejector = Ejector(manner.ejector_doubt_ns, is_polled=manner.is_plc_triggered)
        self.opened = 0
        """Parts of this run, those of earlier lives included."""
        self.done = 0
        """Those of them that were told, or given up."""
        self.settled_id = 0
        """The last id that needs no verdict."""
        self._context, self._outs, self._memory = context, outs, memory
        self._resume(manner, memory.past, context.clock())

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
            self._hold(ticket.trigger_id)
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
        elif came is Settlement.SETTLED:
            self._hold(ticket.trigger_id)

    def lose(self, ticket: Ticket, now_ns: int) -> None:
        """A process died with this part in its hands."""
        if self.ledger.lose(ticket, now_ns) is not None:
            self._hold(ticket.trigger_id)

    def leaving(self, ticket: Ticket, sequence: int) -> None:
        """A verdict is about to be written under this sequence."""
        self._memory.leaving(ticket, sequence, self._context.clock())

    def finish(self, ticket: Ticket, *, is_told: bool) -> None:
        """Book a part as told (with the stamp SENT) or as given up; the record learns of it."""
        self._memory.told(ticket)
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
        for ticket in self.ledger.notes(now_ns):
            self._memory.noted(ticket)
            self._outs.append(Out(Role.RECORD, Kind.EVENT, ticket))

    def _hold(self, trigger_id: int) -> None:
        """Keep what is known of an open part."""
        known = self.ledger.known(trigger_id)
        if known is not None:
            self._memory.hold(known)

    def _resume(self, manner: Manner, past: Past, now_ns: int) -> None:
        """Go on where an earlier life was killed: its open parts are open, its events are sent.

        Ids that follow and are not known yet were triggered while nobody was here.
        """
        ledger, ids = self.ledger, manner.ids
        begun_id = past.start_id if manner.is_plc_triggered else None
        settled_id = begun_id if past.settled is None else past.settled.ticket.trigger_id
        if settled_id is not None:
            self.settled_id = settled_id
            ledger.begin_after(settled_id, Reason.PROCESS_LOST)
        for ticket in held_tickets(past):
            if not ids.follows(ledger.last_id, ticket.trigger_id):  # the ids had begun anew
                ledger.begin_after(ids.before(ticket.trigger_id, 1), Reason.PROCESS_LOST)
            ledger.open(ticket, now_ns)
        if ledger.last_id is not None:
            ledger.begin_after(ledger.last_id, Reason.PROCESS_LOST)
        self.done = past.done
        self.opened = past.done + len(ledger)
        self._outs.extend(Out(Role.RECORD, Kind.EVENT, entry.ticket) for entry in past.unseen)
