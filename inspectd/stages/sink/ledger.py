"""The ledger of parts: which verdict leaves next, and what it says by then.

    open(trigger) --> waiting --settle / lose--> decided --leaving--> told --left--> answered
                         |                          |
                         '-- deadline - margin -----'--> LATE, whatever was decided

Parts are opened in the order of their triggers and leave in that order, each exactly once. Verdicts
may come in any order, twice, late, or for parts that nobody opened: the first one counts, the
others are answered as notes for the record, so that no frame's slot is forgotten. A gap in the ids
is filled with parts that are FAULT at once. Whatever does not leave by its deadline less the margin
leaves as LATE, so an OK can never leave after its deadline. A part may wait longer, for a PLC that
is away (who waits how long is the teller's business); its picture does not: it goes ahead.

When the ids begin anew, the PLC has forgotten the parts of before: they can only be given up.

Pure: the time is handed in. Everything is bounded (`CAPACITY`; `inspectd.stages.sink.leftovers`).
"""

from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from inspectd.frame import NO_SLOT, Reason, Ticket, Verdict
from inspectd.stages.sink.ids import WIDE, Ids
from inspectd.stages.sink.leftovers import Leftovers, Settlement
from inspectd.stages.sink.wording import is_same_trigger, joined, late, stray

__all__ = ["CAPACITY", "Ledger", "Opening", "Settlement"]

CAPACITY = 1024
"""Parts held at once; the oldest is given up beyond. At 100 parts a second and a deadline of 10 s a
station holds 1000; more means that the PLC acknowledges too slowly."""


class Opening(NamedTuple):
    """What became of a trigger."""

    is_new: bool
    """False: this trigger was seen, or counted as missed, before; it was ignored."""
    missed: tuple[Ticket, ...] = ()
    """The triggers before it that were never seen; they are FAULT."""
    is_restart: bool = False
    """The ids do not follow the last one: the counter began anew."""


@dataclass(slots=True)
class _Part:
    """A part that has not been told yet."""

    ticket: Ticket
    answer: Ticket | None = None
    further: list[Ticket] = field(default_factory=list)
    """Verdicts that came after the first; they follow the part into the record."""

    def final(self) -> Ticket:
        """What is known of it."""
        return self.answer or self.ticket


class Ledger:
    """The parts of one station."""

    def __init__(self, margin_ns: int, ids: Ids = WIDE) -> None:
        """Begin empty.

        Args:
            margin_ns: A verdict must begin to leave so long before its deadline.
            ids: How the ids follow each other.
        """
        self._margin_ns, self._ids = margin_ns, ids
        self._parts: OrderedDict[int, _Part] = OrderedDict()
        self._forgotten: deque[_Part] = deque()
        self._pictures: set[int] = set()
        """Parts whose answer holds a slot: never more than the station has slots."""
        self._leftovers = Leftovers()
        self._last_id: int | None = None
        self._gap_reason = Reason.TRIGGER_MISSED

    def __len__(self) -> int:
        """Parts that have not been told yet."""
        return len(self._parts) + len(self._forgotten)

    @property
    def last_id(self) -> int | None:
        """The id opened last (or settled before a restart); None: none yet."""
        return self._last_id

    @property
    def next_id(self) -> int | None:
        """The id whose turn it is; None: no part is held."""
        head = self._head()
        return None if head is None else head.ticket.trigger_id

    @property
    def is_over_full(self) -> bool:
        """Whether the oldest part must be given up whatever the time: no room, or forgotten."""
        return bool(self._forgotten) or len(self._parts) > CAPACITY

    def held(self) -> tuple[Ticket, ...]:
        """Every part that has not been told, in its order, with its verdict when it has one.

        Opened again in this order, in a new ledger that began after the last id told, they are the
        same parts.
        """
        return tuple(part.final() for part in (*self._forgotten, *self._parts.values()))

    def begin_after(self, settled_id: int, gap_reason: Reason) -> None:
        """Begin after an id that needs no verdict; `gap_reason` goes for ids up to the next."""
        self._last_id = settled_id
        self._gap_reason = gap_reason

    def set_to(self, counter: int) -> None:
        """The PLC has set its counter to a value, on purpose and without a trigger."""
        self._begin_anew()
        self._last_id = counter

    def open(self, ticket: Ticket, now_ns: int) -> Opening:
        """Enter a part, and the ones that were missed before it.

        Args:
            ticket: With `trigger_id`, `deadline_ns` and the stamp FIRED; with a verdict, it is
                decided at once.
            now_ns: When the missed ones are decided.
        """
        key = ticket.trigger_id
        gap, is_restart = self._ids.gap_before(self._last_id, key)
        if key == self._last_id or (is_restart and self._is_repeated(ticket)):
            return Opening(is_new=False)
        if is_restart:
            self._begin_anew()
        self._last_id = key
        if is_restart and key == 0:  # the counter of a PLC that has just started: no trigger yet
            return Opening(is_new=False, is_restart=True)
        missed = [
            self._missed(ticket, self._ids.before(key, steps), now_ns)
            for steps in range(gap, 0, -1)
        ]
        for one in (*missed, ticket):
            self._enter(one)
        self._gap_reason = Reason.TRIGGER_MISSED
        self._take_early(key)
        return Opening(is_new=True, missed=tuple(missed), is_restart=is_restart)

    def settle(self, ticket: Ticket, now_ns: int) -> Settlement:
        """Take a verdict; the first of a part counts."""
        key = ticket.trigger_id
        part = self._parts.get(key)
        if part is None or not is_same_trigger(part.ticket, ticket):
            may_be_early = self._ids.follows(self._last_id, key)
            return self._leftovers.take(ticket, now_ns, may_be_early=may_be_early)
        if part.answer is not None:
            part.further.append(ticket)
            self._note_picture(key, ticket)
            return Settlement.TOO_LATE
        part.answer = joined(part.ticket, ticket)
        self._note_picture(key, ticket)
        return Settlement.SETTLED

    def lose(self, ticket: Ticket, now_ns: int) -> Ticket | None:
        """Decide a part FAULT because its process died with it; None when it was decided."""
        part = self._parts.get(ticket.trigger_id)
        if part is None or part.answer is not None or not is_same_trigger(part.ticket, ticket):
            return None
        part.answer = part.ticket.decided(Verdict.FAULT, Reason.PROCESS_LOST, now_ns)
        return part.answer

    def known(self, trigger_id: int) -> Ticket | None:
        """What is known of an open part."""
        part = self._parts.get(trigger_id)
        return None if part is None else part.final()

    def leaving(self, now_ns: int) -> Ticket | None:
        """The part whose turn it is, with what the PLC must be told now; None: not yet."""
        part = next(iter(self._parts.values()), None)
        if self._forgotten or part is None:
            return None
        if now_ns >= self._limit_ns(part):
            return late(part.final(), now_ns)
        return part.answer

    def overdue(self, now_ns: int) -> Ticket | None:
        """The part whose turn it is, as it goes to the record if it cannot wait any longer.

        Its time is up, or there is no place for it (`is_over_full`). It says LATE.
        """
        part = self._head()
        if part is None:
            return None
        if self.is_over_full or now_ns >= self._limit_ns(part):
            return late(part.final(), now_ns)
        return None

    def left(self, ticket: Ticket) -> bool:
        """Book the answer of `leaving` or `overdue` as told (or as given up).

        Returns:
            Whether its id still means this part; False: the ids began anew since.

        Raises:
            ValueError: It is not its turn: the caller mixed parts up.
        """
        head = self._head()
        if head is None or head.ticket.trigger_id != ticket.trigger_id:
            raise ValueError(f"part {ticket.trigger_id} left out of turn")
        if self._forgotten:
            self._forgotten.popleft()
            for one in head.further:
                self._leftovers.add(stray(one))
            return False
        self._parts.popitem(last=False)
        self._pictures.discard(ticket.trigger_id)
        self._leftovers.answered(ticket, head.further)
        return True

    def notes(self, now_ns: int) -> list[Ticket]:
        """Take what only the record needs to know.

        Verdicts that came too late, strays, and the pictures of parts that still wait for the PLC
        after their time: their slots must not wait with them.
        """
        for key in [key for key in self._pictures if now_ns >= self._limit_ns(self._parts[key])]:
            self._send_ahead(key)
        return self._leftovers.notes(now_ns)

    def leaves_at_ns(self) -> int | None:
        """When `leaving` has an answer: 0 for at once; None: no part is held."""
        head = self._head()
        return 0 if head is not None and head.answer is not None else self.overdue_at_ns()

    def overdue_at_ns(self) -> int | None:
        """When `overdue` has an answer; None: no part is held."""
        head = self._head()
        if head is None:
            return None
        return 0 if self.is_over_full else self._limit_ns(head)

    def notes_at_ns(self) -> int | None:
        """When `notes` has an answer; None: no verdict and no picture is held."""
        times = [self._limit_ns(self._parts[key]) for key in self._pictures]
        leftovers_ns = self._leftovers.notes_at_ns()
        return min(times if leftovers_ns is None else [*times, leftovers_ns], default=None)

    def _is_repeated(self, ticket: Ticket) -> bool:
        """Whether a trigger was seen, or counted as missed, before."""
        part = self._parts.get(ticket.trigger_id)
        is_open = part is not None and is_same_trigger(part.ticket, ticket)
        return is_open or self._leftovers.has_answered(ticket)

    def _begin_anew(self) -> None:
        """The PLC knows none of the ids of before."""
        self._leftovers.forget()
        self._forgotten.extend(self._parts.values())
        self._parts.clear()
        self._pictures.clear()

    def _head(self) -> _Part | None:
        return self._forgotten[0] if self._forgotten else next(iter(self._parts.values()), None)

    def _limit_ns(self, part: _Part) -> int:
        return part.ticket.deadline_ns - self._margin_ns

    def _enter(self, ticket: Ticket) -> None:
        is_decided = ticket.verdict is not Verdict.NONE
        self._parts[ticket.trigger_id] = _Part(ticket, ticket if is_decided else None)
        self._note_picture(ticket.trigger_id, ticket)

    def _missed(self, after: Ticket, key: int, now_ns: int) -> Ticket:
        """The part of a trigger that was not seen (no stamp FIRED); the next one's deadline."""
        ticket = Ticket(after.station, key, deadline_ns=after.deadline_ns)
        return ticket.decided(Verdict.FAULT, self._gap_reason, now_ns)

    def _take_early(self, key: int) -> None:
        part = self._parts[key]
        if part.answer is not None:
            return
        early = self._leftovers.early(part.ticket)
        if early is not None:
            part.answer = joined(part.ticket, early)
            self._note_picture(key, early)

    def _note_picture(self, key: int, ticket: Ticket) -> None:
        if ticket.slot != NO_SLOT:
            self._pictures.add(key)

    def _send_ahead(self, key: int) -> None:
        """Let the record have the pictures of a part now; its verdict follows."""
        self._pictures.discard(key)
        part = self._parts[key]
        if part.answer is not None and part.answer.slot != NO_SLOT:
            self._leftovers.add(stray(part.answer))
            part.answer = replace(part.answer, slot=NO_SLOT, generation=0)
        for one in _with_slot(part.further):
            self._leftovers.add(stray(one))
        part.further = [one for one in part.further if one.slot == NO_SLOT]


def _with_slot(tickets: Iterable[Ticket]) -> list[Ticket]:
    return [ticket for ticket in tickets if ticket.slot != NO_SLOT]
