"""What this sink would miss if it were killed now: kept in its journal before it goes on.

    open --> OPEN   settle, lose --> SETTLED   about to write --> LEAVING   told, given up --> TOLD

A sink that is born again takes it up (`inspectd.stages.sink.meeting`). Parts that were only missed
are not kept before they are told: the gap in the ids says as much.
"""

from inspectd.frame import Stamp, Ticket, Verdict
from inspectd.ports import Context, Counter, Journal, Past, Standing

__all__ = ["Memory", "held_tickets"]


class Memory:
    """Keeps how far the parts of one station are."""

    def __init__(self, journal: Journal, context: Context) -> None:
        """Read what earlier lives left in `journal`."""
        self._journal, self._context = journal, context
        self.past = journal.past()
        self.doubt = next((e for e in self.past.held if e.standing is Standing.LEAVING), None)
        """The verdict that was leaving when the earlier life ended; None: none was."""
        last = self.doubt or self.past.settled
        self.sequence = 0 if last is None else last.sequence
        """Of the verdict block, as it was drawn last."""
        if self.past.damaged:
            context.log("error", "journal_damaged", entries=self.past.damaged)

    @property
    def has_begun(self) -> bool:
        """Whether an earlier life got so far as to take parts."""
        return self.past.start_id is not None

    def begin(self, start_id: int) -> None:
        """The first life begins to take parts, after this trigger id."""
        self._journal.begin(start_id)

    def hold(self, ticket: Ticket) -> None:
        """A part is open, or its verdict has come."""
        is_open = ticket.verdict is Verdict.NONE
        self._count(self._journal.keep(Standing.OPEN if is_open else Standing.SETTLED, ticket))

    def leaving(self, ticket: Ticket, sequence: int, now_ns: int) -> None:
        """A verdict is about to be written: if that is carried out, then it was at this moment."""
        self.sequence = sequence
        ticket = ticket.stamped(Stamp.SENT, now_ns)
        self._count(self._journal.keep(Standing.LEAVING, ticket, sequence))

    def told(self, ticket: Ticket) -> None:
        """A part was told, or given up."""
        self._count(self._journal.keep(Standing.TOLD, ticket, self.sequence))

    def noted(self, ticket: Ticket) -> None:
        """The record is to have something that is no part's verdict."""
        self._count(self._journal.note(ticket))

    def _count(self, was_seen: bool) -> None:
        if not was_seen:
            self._context.count(Counter.EVENTS_LOST, 1)


def held_tickets(past: Past) -> list[Ticket]:
    """The parts of earlier lives, to be opened again in this order.

    The one that was leaving is the oldest, whenever it was entered (a missed one is entered last).
    """
    ordered = sorted(past.held, key=lambda entry: entry.standing is not Standing.LEAVING)
    return [entry.ticket.stamped(Stamp.SENT, 0) for entry in ordered]
