"""Which events must be told again to a record that was restarted?

What was in the queue or the memory of a killed record is gone, though the verdict left. So the
sink's process remembers for a while what it told, without pictures, and tells it again after a
restart. The record keeps one row per part, whatever it is told twice.
"""

from collections import deque
from dataclasses import replace

from inspectd.frame import NO_SLOT, Ticket

__all__ = ["REMEMBERED_MAX", "REMEMBERED_NS", "Resend"]

REMEMBERED_NS = 60_000_000_000
"""The record commits within some 20 ms (`inspectd.record.queue`); this covers a stuck disk until a
stuck record is killed (`inspectd.host.patience`)."""
REMEMBERED_MAX = 5_000
"""At 50 parts a second more than a minute; some 5 MB."""


class Resend:
    """The events of the last minute."""

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._told: deque[tuple[int, Ticket]] = deque(maxlen=REMEMBERED_MAX)
        self._restarts = 0

    def told(self, event: Ticket, now_ns: int) -> None:
        """Remember an event that was sent."""
        while self._told and now_ns - self._told[0][0] > REMEMBERED_NS:
            self._told.popleft()
        self._told.append((now_ns, replace(event, slot=NO_SLOT)))

    def after_restart(self, restarts: int) -> list[Ticket]:
        """Answer what to tell again, oldest first, once per restart of the record."""
        if restarts == self._restarts:
            return []
        self._restarts = restarts
        return [event for _, event in self._told]
