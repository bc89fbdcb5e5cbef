"""Verdicts that decide no part any more, or not yet: kept for their trigger, or for the record.

    a verdict --> its trigger may yet come --> held until then, or until its own deadline
             '--> its part was told before --> a note: what was judged too late, and the picture
             '--> nobody knows its part -----> a note without a verdict

No frame's slot is forgotten: whatever came in goes out once, with its part or as a note. Pure; the
time is handed in; everything is bounded.
"""

from collections import OrderedDict
from collections.abc import Iterable
from enum import Enum, auto

from inspectd.frame import Ticket
from inspectd.stages.sink.ids import GAP_MAX
from inspectd.stages.sink.wording import is_same_trigger, note, stray

__all__ = ["REMEMBERED", "Leftovers", "Settlement"]

REMEMBERED = 1024
"""Answered parts whose late verdicts can still be told apart from those of strangers."""


class Settlement(Enum):
    """What became of a verdict."""

    SETTLED = auto()
    """Its part is decided."""
    HELD = auto()
    """Its trigger has not arrived yet: kept until then, or until the verdict's own deadline."""
    TOO_LATE = auto()
    """Its part was decided before (see `Ledger.notes`)."""
    STRAY = auto()
    """Nobody knows its part (see `Ledger.notes`)."""


class Leftovers:
    """Early, late and unknown verdicts of one station."""

    def __init__(self) -> None:
        """Begin empty."""
        self._early: OrderedDict[int, Ticket] = OrderedDict()
        self._answered: OrderedDict[int, Ticket] = OrderedDict()
        self._notes: list[Ticket] = []

    def answered(self, told: Ticket, further: Iterable[Ticket]) -> None:
        """Remember what a part was told, with the verdicts that came after its first."""
        self._answered.pop(told.trigger_id, None)
        self._answered[told.trigger_id] = told
        if len(self._answered) > REMEMBERED:
            self._answered.popitem(last=False)
        self._notes.extend(note(told, one) for one in further)

    def has_answered(self, ticket: Ticket) -> bool:
        """Whether this very part was told before."""
        return self._told(ticket) is not None

    def forget(self) -> None:
        """The ids begin anew: those of before mean other parts."""
        self._answered.clear()

    def take(self, ticket: Ticket, now_ns: int, *, may_be_early: bool) -> Settlement:
        """Take a verdict whose part is not open."""
        told = self._told(ticket)
        if told is not None:
            self._notes.append(note(told, ticket))
            return Settlement.TOO_LATE
        key = ticket.trigger_id
        is_too_late = now_ns >= ticket.deadline_ns
        if not may_be_early or is_too_late or key in self._early or len(self._early) >= GAP_MAX:
            self._notes.append(stray(ticket))
            return Settlement.STRAY
        self._early[key] = ticket
        return Settlement.HELD

    def early(self, part: Ticket) -> Ticket | None:
        """The verdict of a part that is just being opened, if it came before."""
        ticket = self._early.get(part.trigger_id)
        if ticket is None or not is_same_trigger(part, ticket):
            return None
        return self._early.pop(part.trigger_id)

    def add(self, ticket: Ticket) -> None:
        """Keep something for the record."""
        self._notes.append(ticket)

    def notes(self, now_ns: int) -> list[Ticket]:
        """Take what only the record needs to know."""
        while self._early:
            key, ticket = next(iter(self._early.items()))
            if now_ns < ticket.deadline_ns:
                break
            del self._early[key]
            told = self._told(ticket)
            self._notes.append(stray(ticket) if told is None else note(told, ticket))
        notes, self._notes = self._notes, []
        return notes

    def notes_at_ns(self) -> int | None:
        """When `notes` has an answer; None: no verdict is held."""
        if self._notes:
            return 0
        return next((ticket.deadline_ns for ticket in self._early.values()), None)

    def _told(self, ticket: Ticket) -> Ticket | None:
        told = self._answered.get(ticket.trigger_id)
        return told if told is not None and is_same_trigger(told, ticket) else None
