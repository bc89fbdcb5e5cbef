"""Which slots does this process own without ever having been told?

A slot is handed over in memory, its ticket goes by message. When the sender is killed between the
two, or the ticket was in the queue of a receiver that was killed, the slot has an owner that knows
nothing of it. So every owner remembers which tickets it got, and compares now and then. Only the
owner frees an orphan: it stays the single writer of its slots.
"""

from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["ORPHANED_AFTER_NS", "Orphans", "Place"]

ORPHANED_AFTER_NS = 2_000_000_000
"""A message on its way takes far less, and one that comes still later is stale, which is safe. To
the record it is the sink that sends, when the part's verdict has left: see `inspectd.host.life`."""


class Place(NamedTuple):
    """One picture's place."""

    station: int
    slot: int
    generation: int


class Orphans:
    """The tickets received and the slots owned, compared."""

    def __init__(self, after_ns: int = ORPHANED_AFTER_NS) -> None:
        """Know of nothing yet; `after_ns`: how long a ticket may be on its way."""
        self._after_ns = after_ns
        self._received: set[Place] = set()
        self._suspects: dict[Place, int] = {}

    def received(self, place: Place) -> None:
        """Note that the ticket of a slot came."""
        self._received.add(place)

    def sweep(self, owned: Iterable[Place], now_ns: int) -> list[Place]:
        """Answer the places to free: owned for `after_ns` and never received.

        `owned` is everything that this process owns now. Call it only when the inbox is empty:
        tickets that wait there are no orphans.
        """
        owned = set(owned)
        self._received &= owned
        unknown = owned - self._received
        self._suspects = {place: self._suspects.get(place, now_ns) for place in unknown}
        orphans = [p for p, since in self._suspects.items() if now_ns - since >= self._after_ns]
        for place in orphans:
            del self._suspects[place]
        return sorted(orphans)
