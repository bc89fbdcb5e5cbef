"""A journal in this process's own memory: for a sink that stands alone, and for trials.

It passes the contract of the shared one (`tests/contract/test_journal.py`), and dies with its owner
unless a trial hands it on.
"""

from collections.abc import Sequence
from itertools import count

from inspectd.frame import Stamp, Ticket
from inspectd.ports import Entry, Past, Standing

__all__ = ["PaperJournal"]


class PaperJournal:
    """Entries in plain lists; see `inspectd.ports.Journal`."""

    def __init__(self, entries: int = 4096) -> None:
        """Begin empty, with room for so many."""
        self._entries = entries
        self._numbers = count(1)
        self._held: dict[tuple[int, int], Entry] = {}
        self._told: list[Entry] = []
        self._taken: set[int] = set()
        self._start_id: int | None = None
        self._settled: Entry | None = None
        self._done = 0

    def past(self) -> Past:
        """See `Journal.past`."""
        unseen = tuple(entry for entry in self._told if entry.number not in self._taken)
        held = tuple(self._held.values())
        return Past(self._start_id, self._done, self._settled, held, unseen)

    def begin(self, start_id: int) -> None:
        """See `Journal.begin`."""
        self._start_id = start_id

    def keep(self, standing: Standing, ticket: Ticket, sequence: int = 0) -> bool:
        """See `Journal.keep`."""
        key = (ticket.trigger_id, ticket.stamps[Stamp.FIRED])
        former = self._held.get(key)
        was_seen = former is not None or self._make_room()
        number = next(self._numbers) if former is None else former.number
        entry = Entry(number, standing, ticket, sequence)
        if standing is not Standing.TOLD:
            self._held[key] = entry
            return was_seen
        self._held.pop(key, None)
        self._told.append(entry)
        self._settled = entry
        self._done += 1
        return was_seen

    def note(self, ticket: Ticket) -> bool:
        """See `Journal.note`."""
        was_seen = self._make_room()
        self._told.append(Entry(next(self._numbers), Standing.TOLD, ticket, 0))
        return was_seen

    def find(self, ticket: Ticket) -> int | None:
        """See `Journal.find`."""
        wanted = _identity(ticket)
        return next((e.number for e in self._told if _identity(e.ticket) == wanted), None)

    def unrecorded(self) -> tuple[Entry, ...]:
        """See `Journal.unrecorded`."""
        return tuple(self._told)

    def take(self, numbers: Sequence[int]) -> None:
        """See `Journal.take`."""
        self._taken.update(numbers)

    def confirm(self, numbers: Sequence[int]) -> None:
        """See `Journal.confirm`."""
        self._told = [entry for entry in self._told if entry.number not in numbers]

    def _make_room(self) -> bool:
        """Let the oldest event go when there is no room; whether nothing unseen is lost."""
        if len(self._held) + len(self._told) < self._entries or not self._told:
            return True
        return self._told.pop(0).number in self._taken


def _identity(ticket: Ticket) -> tuple[object, ...]:
    """An event, with or without its picture."""
    return (*(ticket.trigger_id, ticket.verdict, ticket.judged, ticket.reason), *ticket.stamps)
