"""The ledger of parts: which verdict leaves next, and what it says by then.

    open(trigger) --> waiting --settle / lose--> decided --leaving--> told --left--> answered
                         |                          |
                         '-- deadline - margin -----'--> LATE, whatever was decided

Parts are opened in the order of their triggers and leave in that order, each exactly once. Verdicts
may come in any order, twice, late, or for parts that nobody opened: the first one counts, the
others are answered as notes for the record, so that no frame's slot is forgotten. A gap in the ids
is filled with parts that are FAULT at once. Whatever does not leave by its deadline less the margin
leaves as LATE, so an OK can never leave after its deadline, and nothing is held for ever.

Pure: the time is handed in. Everything is bounded (`CAPACITY`, `REMEMBERED`).
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from inspectd.frame import Reason, Ticket, Verdict
from inspectd.stages.sink.wording import is_same_trigger, joined, late, note, stray

__all__ = ["CAPACITY", "GAP_MAX", "ID_LIMIT", "REMEMBERED", "Ledger", "Opening", "Settlement"]

ID_LIMIT = 1 << 32
"""Trigger ids count modulo this."""
GAP_MAX = 256
"""A larger step of the ids, or one backwards, is no gap: the counter began anew."""
CAPACITY = 1024
"""Parts held at once; the oldest is given up beyond. At 100 parts a second and a deadline of 10 s a
station holds 1000; more means that the PLC acknowledges too slowly."""
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


class Opening(NamedTuple):
    """What became of a trigger."""

    is_new: bool
    """False: this trigger is open already; it was ignored."""
    gap: int = 0
    """So many triggers before it were never seen; they are FAULT."""
    is_restart: bool = False
    """The ids do not follow the last one: the counter began anew."""


@dataclass(slots=True)
class _Part:
    """A part that has not been told yet."""

    ticket: Ticket
    answer: Ticket | None = None
    further: list[Ticket] = field(default_factory=list)
    """Verdicts that came after the first; they follow the part into the record."""


class Ledger:
    """The parts of one station."""

    def __init__(self, margin_ns: int) -> None:
        """Begin empty.

        Args:
            margin_ns: A verdict must begin to leave so long before its deadline.
        """
        self._margin_ns = margin_ns
        self._parts: OrderedDict[int, _Part] = OrderedDict()
        self._early: OrderedDict[int, Ticket] = OrderedDict()
        self._answered: OrderedDict[int, Ticket] = OrderedDict()
        self._notes: list[Ticket] = []
        self._last_id: int | None = None
        self._gap_reason = Reason.TRIGGER_MISSED
        self.late_in_a_row = 0
        """Parts that left LATE since the last one that did not."""

    def __len__(self) -> int:
        """Parts that have not been told yet."""
        return len(self._parts)

    @property
    def last_id(self) -> int | None:
        """The id opened last (or settled before a restart); None: none yet."""
        return self._last_id

    @property
    def next_id(self) -> int | None:
        """The id whose turn it is; None: no part is held."""
        return next(iter(self._parts), None)

    def begin_after(self, settled_id: int, gap_reason: Reason) -> None:
        """Begin after an id that needs no verdict; `gap_reason` goes for ids up to the next."""
        self._last_id = settled_id
        self._gap_reason = gap_reason

    def open(self, ticket: Ticket, now_ns: int) -> Opening:
        """Enter a part, and the ones that were missed before it.

        Args:
            ticket: With `trigger_id`, `deadline_ns` and the stamp FIRED; with a verdict, it is
                decided at once.
            now_ns: When the missed ones are decided.
        """
        key = ticket.trigger_id
        if key in self._parts or key == self._last_id:
            return Opening(is_new=False)
        gap, is_restart = self._gap_before(key)
        self._last_id = key
        if is_restart:
            self._answered.clear()
            if key == 0:  # the counter of a PLC that has just started: no trigger yet
                return Opening(is_new=False, is_restart=True)
        for index in range(gap, 0, -1):
            self._enter(self._missed(ticket, (key - index) % ID_LIMIT, now_ns))
        self._enter(ticket)
        self._gap_reason = Reason.TRIGGER_MISSED
        self._take_early(key)
        return Opening(is_new=True, gap=gap, is_restart=is_restart)

    def settle(self, ticket: Ticket, now_ns: int) -> Settlement:
        """Take a verdict; the first of a part counts."""
        key = ticket.trigger_id
        part = self._parts.get(key)
        if part is not None and is_same_trigger(part.ticket, ticket):
            if part.answer is None:
                part.answer = joined(part.ticket, ticket)
                return Settlement.SETTLED
            part.further.append(ticket)
            return Settlement.TOO_LATE
        told = self._answered.get(key)
        if told is not None and is_same_trigger(told, ticket):
            self._notes.append(note(told, ticket))
            return Settlement.TOO_LATE
        if self._may_be_early(ticket, now_ns):
            self._early[key] = ticket
            return Settlement.HELD
        self._notes.append(stray(ticket))
        return Settlement.STRAY

    def lose(self, ticket: Ticket, now_ns: int) -> bool:
        """Decide a part FAULT because its process died with it; False when it was decided."""
        part = self._parts.get(ticket.trigger_id)
        if part is None or part.answer is not None or not is_same_trigger(part.ticket, ticket):
            return False
        part.answer = part.ticket.decided(Verdict.FAULT, Reason.PROCESS_LOST, now_ns)
        return True

    def leaving(self, now_ns: int) -> Ticket | None:
        """The part whose turn it is, with what the PLC must be told now; None: not yet."""
        part = self._head()
        if part is None or (part.answer is None and not self._is_due(part, now_ns)):
            return None
        return self._final(part, now_ns)

    def overdue(self, now_ns: int) -> Ticket | None:
        """The part whose turn it is if it cannot wait for the PLC any longer.

        Its time is up, or more than `CAPACITY` parts are held. It says LATE.
        """
        part = self._head()
        if part is None:
            return None
        if self._is_due(part, now_ns) or len(self._parts) > CAPACITY:
            return late(part.answer or part.ticket, now_ns)
        return None

    def left(self, ticket: Ticket) -> None:
        """Book the answer of `leaving` or `overdue` as told (or as given up).

        Raises:
            ValueError: It is not its turn: the caller mixed parts up.
        """
        head = self._head()
        if head is None or head.ticket.trigger_id != ticket.trigger_id:
            raise ValueError(f"part {ticket.trigger_id} left out of turn")
        self._parts.popitem(last=False)
        self._answered.pop(ticket.trigger_id, None)
        self._answered[ticket.trigger_id] = ticket
        if len(self._answered) > REMEMBERED:
            self._answered.popitem(last=False)
        self._notes.extend(note(ticket, further) for further in head.further)
        self.late_in_a_row = self.late_in_a_row + 1 if ticket.verdict is Verdict.LATE else 0

    def notes(self, now_ns: int) -> list[Ticket]:
        """Take what only the record needs to know: verdicts that came too late, and strays."""
        while self._early:
            key, ticket = next(iter(self._early.items()))
            if now_ns < ticket.deadline_ns:
                break
            del self._early[key]
            told = self._answered.get(key)
            is_ours = told is not None and is_same_trigger(told, ticket)
            self._notes.append(note(told, ticket) if told and is_ours else stray(ticket))
        notes, self._notes = self._notes, []
        return notes

    def leaves_at_ns(self) -> int | None:
        """When `leaving` has an answer: 0 for at once; None: no part is held."""
        head = self._head()
        return 0 if head is not None and head.answer is not None else self.overdue_at_ns()

    def overdue_at_ns(self) -> int | None:
        """When `overdue` has an answer; None: no part is held."""
        head = self._head()
        if head is None:
            return None
        return 0 if len(self._parts) > CAPACITY else self._limit_ns(head)

    def notes_at_ns(self) -> int | None:
        """When `notes` has an answer; None: no verdict is held."""
        if self._notes:
            return 0
        return next((ticket.deadline_ns for ticket in self._early.values()), None)

    def _gap_before(self, key: int) -> tuple[int, bool]:
        """Triggers missed before this one, and whether the counter began anew."""
        if self._last_id is None:
            return 0, False
        ahead = (key - self._last_id) % ID_LIMIT
        if ahead <= GAP_MAX:
            return ahead - 1, False
        return (max(key - 1, 0) if key <= GAP_MAX else 0), True

    def _head(self) -> _Part | None:
        return next(iter(self._parts.values()), None)

    def _limit_ns(self, part: _Part) -> int:
        return part.ticket.deadline_ns - self._margin_ns

    def _is_due(self, part: _Part, now_ns: int) -> bool:
        return now_ns >= self._limit_ns(part)

    def _final(self, part: _Part, now_ns: int) -> Ticket:
        if part.answer is None or self._is_due(part, now_ns):
            return late(part.answer or part.ticket, now_ns)
        return part.answer

    def _enter(self, ticket: Ticket) -> None:
        is_decided = ticket.verdict is not Verdict.NONE
        self._parts[ticket.trigger_id] = _Part(ticket, ticket if is_decided else None)

    def _missed(self, after: Ticket, key: int, now_ns: int) -> Ticket:
        """The part of a trigger that was not seen (no stamp FIRED); the next one's deadline."""
        ticket = Ticket(after.station, key, deadline_ns=after.deadline_ns)
        return ticket.decided(Verdict.FAULT, self._gap_reason, now_ns)

    def _may_be_early(self, ticket: Ticket, now_ns: int) -> bool:
        """Whether the trigger of this verdict may yet come (they travel on different roads)."""
        key = ticket.trigger_id
        if now_ns >= ticket.deadline_ns or key in self._early or len(self._early) >= GAP_MAX:
            return False
        return self._last_id is None or 0 < (key - self._last_id) % ID_LIMIT <= GAP_MAX

    def _take_early(self, key: int) -> None:
        ticket = self._early.get(key)
        part = self._parts[key]
        if ticket is None or part.answer is not None or not is_same_trigger(part.ticket, ticket):
            return
        del self._early[key]
        part.answer = joined(part.ticket, ticket)
