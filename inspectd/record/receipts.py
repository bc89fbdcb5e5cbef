"""Which events of the sinks' journals are in the database, and which never came by message?

A sink keeps each event in its journal before it sends the message. The message brings the picture
and the whole detail, and comes at once; the journal is there when the message is lost with one of
the two processes. So an event is confirmed when it is committed, and what stays unconfirmed from
one look to the next is taken from the journal. Twice is no harm: a part is one row.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from inspectd.frame import Ticket
from inspectd.ports import Entry, Journal
from inspectd.record.abandoned import closed_books

__all__ = ["Receipt", "Receipts"]


class Receipt(NamedTuple):
    """Where an event stands in a journal."""

    station: int
    number: int


class Receipts:
    """The journals of all stations, beside the queue of the record: first in, first out as it."""

    def __init__(self, journals: Mapping[int, Journal]) -> None:
        """Args: journals: By station index."""
        self._journals = journals
        self._queued: deque[Receipt | None] = deque()
        self._missed: set[Receipt] = set()
        """Unconfirmed at the last look, and not queued."""

    def of(self, ticket: Ticket) -> Receipt | None:
        """Where the event of a message stands; None: nowhere any more."""
        journal = self._journals.get(ticket.station)
        number = None if journal is None else journal.find(ticket)
        return None if number is None else Receipt(ticket.station, number)

    def queued(self, receipt: Receipt | None) -> None:
        """An event has been put into the queue: the journal may let go of it when it must."""
        self._queued.append(receipt)
        if receipt is not None:
            self._journals[receipt.station].take([receipt.number])

    def committed(self, count: int) -> None:
        """The first so many of the queue are in the database."""
        for receipt in self._left(count):
            self._journals[receipt.station].confirm([receipt.number])

    def given_up(self, count: int) -> None:
        """The first so many of the queue had to go; perhaps their journal still has them later."""
        self._left(count)

    def missing(self, *, at_once: bool) -> list[tuple[Receipt, Ticket]]:
        """Find the events in the journals whose message did not come.

        Args:
            at_once: Do not wait for messages that may be on their way: there are none, at the start
                of this process, or order does not matter, at its end.

        Returns:
            In the order in which each station's were told.
        """
        queued = set(self._queued)
        found = {
            Receipt(station, entry.number): entry.ticket
            for station, journal in self._journals.items()
            for entry in journal.unrecorded()
        }
        open_ones = {receipt for receipt in found if receipt not in queued}
        due = open_ones if at_once else open_ones & self._missed
        self._missed = open_ones - due
        return [(receipt, ticket) for receipt, ticket in found.items() if receipt in due]

    def close_books(self, now_ns: int, stations: Iterable[int]) -> list[Entry]:
        """Have the parts told that their sinks never will; only when the sinks have ended.

        Returns:
            How far they were.
        """
        return [
            entry for station in stations for entry in closed_books(self._journals[station], now_ns)
        ]

    def has_all(self) -> bool:
        """Whether every event in the journals is confirmed."""
        return not any(journal.unrecorded() for journal in self._journals.values())

    def _left(self, count: int) -> list[Receipt]:
        receipts = [self._queued.popleft() for _ in range(count)]
        return [receipt for receipt in receipts if receipt is not None]
