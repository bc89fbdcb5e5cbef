"""Events on their way into the database, and the paths that must be taken back.

Pure: one bounded queue, its limit beside it. What does not fit any more is counted, never hidden.
"""

from collections import deque
from collections.abc import Iterable
from itertools import islice

from inspectd.record.event import Event

__all__ = ["BATCH", "COMMIT_AFTER_NS", "EVENTS_MAX", "RETRY_AFTER_NS", "EventQueue"]

BATCH = 200
"""Events in one commit."""
COMMIT_AFTER_NS = 20_000_000
"""An event waits so long for others."""
RETRY_AFTER_NS = 1_000_000_000
"""Until a refused commit is tried again."""
EVENTS_MAX = 20_000
"""Kept while the disk is full, about 100 MB; then the oldest are lost, and counted."""


class EventQueue:
    """First in, first out; knows when something is due."""

    def __init__(self, limit: int = EVENTS_MAX) -> None:
        """Args: limit: Most events held."""
        self._limit = limit
        self._events: deque[Event] = deque()
        self._forgotten: list[str] = []
        self._oldest_ns = 0
        self._not_before_ns = 0
        self.taken = 0
        """Events that ever came."""
        self.lost = 0
        """Events given up because the queue was full."""

    def __len__(self) -> int:
        return len(self._events)

    def push(self, event: Event, now_ns: int) -> None:
        """Take one more; the oldest goes when there is no room."""
        if not self._events:
            self._oldest_ns = now_ns
        self._events.append(event)
        self.taken += 1
        if len(self._events) > self._limit:
            self._events.popleft()
            self.lost += 1

    def forget(self, paths: Iterable[str], now_ns: int) -> None:
        """Take back the paths of pictures that are not there; after the events that name them."""
        if not self:
            self._oldest_ns = now_ns
        self._forgotten.extend(paths)

    def __bool__(self) -> bool:
        """Whether anything waits."""
        return bool(self._events or self._forgotten)

    @property
    def forgotten(self) -> frozenset[str]:
        """Paths that the index still names although nothing is there."""
        return frozenset(self._forgotten)

    @property
    def settled(self) -> int:
        """Events that have left the queue: the first so many that came."""
        return self.taken - len(self._events)

    def due_at_ns(self) -> int | None:
        """When to commit; None: nothing waits."""
        if not self:
            return None
        is_full = len(self._events) >= BATCH
        return max(self._not_before_ns, self._oldest_ns + (0 if is_full else COMMIT_AFTER_NS))

    def batch(self) -> tuple[list[Event], list[str]]:
        """What to commit now: paths are taken back only with the last of the events."""
        events = list(islice(self._events, BATCH))
        return events, list(self._forgotten) if len(events) == len(self._events) else []

    def committed(self, events: int, forgotten: int, now_ns: int) -> None:
        """The first so many of each are in the database."""
        for _ in range(events):
            self._events.popleft()
        del self._forgotten[:forgotten]
        self._oldest_ns = now_ns
        self._not_before_ns = 0

    def refused(self, now_ns: int) -> None:
        """Nothing of the batch is in the database."""
        self._not_before_ns = now_ns + RETRY_AFTER_NS

    def hasten(self) -> None:
        """Commit at once."""
        self._oldest_ns = -COMMIT_AFTER_NS
        self._not_before_ns = 0
