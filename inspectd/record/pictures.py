"""The pictures on their way from their slots to the archive: encoded, committed, written.

    waiting (in its slot) --> encoded (the slot is free) --> its event is committed --> file

Whenever anything is short a picture is given up; its event stays.
"""

from collections import deque
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inspectd.config.schema import Line
from inspectd.frame import NO_SLOT, Role, Ticket
from inspectd.ports import Context, Counter
from inspectd.record.archive import Archive
from inspectd.record.picture import encode
from inspectd.record.queue import EventQueue

__all__ = ["ENCODED_MAX", "Pictures"]

ENCODED_MAX = 32
"""Encoded pictures that wait for their event to be committed."""


class _Waiting(NamedTuple):
    """A picture in its slot."""

    ticket: Ticket
    path: str
    event: bytes
    number: int
    """Of its event, counted from 1 in the order they came."""


class _Encoded(NamedTuple):
    """A picture that needs its slot no more."""

    path: str
    event: bytes
    number: int
    content: npt.NDArray[np.uint8]


class Pictures:
    """Those of all stations."""

    def __init__(
        self,
        line: Line,
        archive: Archive,
        queue: EventQueue,
        context: Context,
        on_full: Callable[[int], None],
    ) -> None:
        """Hold none.

        Args:
            line: The station file.
            archive: Where they go.
            queue: Of the events; a picture waits for its own.
            context: With the arenas of all stations.
            on_full: Told the time when the disk is full.
        """
        self._line, self._archive, self._queue = line, archive, queue
        self._context, self._on_full = context, on_full
        self._waiting: deque[_Waiting] = deque()
        self._encoded: deque[_Encoded] = deque()
        self._planned: set[str] = set()
        self.has_space = archive.free_mb() >= line.record.min_free_mb
        """Whether any are kept at all."""

    def __bool__(self) -> bool:
        """Whether any are held."""
        return bool(self._waiting or self._encoded)

    @property
    def are_waiting(self) -> bool:
        """Whether any are in their slots still."""
        return bool(self._waiting)

    def wait(self, ticket: Ticket, path: str, event: bytes) -> None:
        """Hold the picture of the event that was queued last."""
        self._planned.add(path)
        self._waiting.append(_Waiting(ticket, path, event, self._queue.taken))

    def planned_path(self, ticket: Ticket, moment: datetime) -> str | None:
        """Where the picture will lie; None: there is none, or it is let go right away."""
        if ticket.slot == NO_SLOT:
            return None
        arena = self._context.arenas[ticket.station]
        if not arena.holds(ticket.slot, ticket.generation, Role.RECORD):
            self._context.count(Counter.STALE, 1)
            return None
        if not self.has_space or self._is_behind(ticket.station):
            self._release(ticket)
            self._context.count(Counter.ARCHIVE_SKIPPED, 1)
            return None
        name = self._line.stations[ticket.station].name
        return self._archive.free_path(ticket, name, moment, self._planned)

    def _is_behind(self, station: int) -> bool:
        """Whether the record holds as many of a station's slots as it may: half of them."""
        held = sum(waiting.ticket.station == station for waiting in self._waiting)
        is_full = len(self._waiting) + len(self._encoded) >= ENCODED_MAX
        return is_full or held >= max(1, self._line.stations[station].slots // 2)

    def encode_next(self, now_ns: int) -> None:
        """Turn a slot into the bytes of a file; the slot is given back whatever happens."""
        waiting = self._waiting.popleft()
        ticket = waiting.ticket
        arena = self._context.arenas[ticket.station]
        quality = self._line.record.jpeg_quality
        try:
            content = encode(arena.frame(ticket.slot), quality)
        except ValueError as error:
            self._context.log("warning", "archive_encode_failed", error=str(error))
            self._release(ticket)
            self._skip(waiting.path, now_ns)
            return
        if self._release(ticket):
            encoded = _Encoded(waiting.path, waiting.event, waiting.number, content)
            self._encoded.append(encoded)
        else:  # reclaimed while it was read: perhaps another part's picture
            self._context.count(Counter.STALE, 1)
            self._skip(waiting.path, now_ns)

    def is_next_settled(self) -> bool:
        """Whether the event of the next encoded picture is in the database."""
        return bool(self._encoded) and self._encoded[0].number <= self._queue.settled

    def write_next(self, now_ns: int) -> None:
        """Put an encoded picture on disk, if there is room."""
        picture = self._encoded.popleft()
        try:
            if self._archive.free_mb() < self._line.record.min_free_mb:
                self._on_full(now_ns)
                self._skip(picture.path, now_ns)
                return
            self._archive.write(picture.path, picture.content, picture.event)
        except OSError as error:
            self._context.log("warning", "archive_write_failed", error=str(error))
            self._on_full(now_ns)
            self._skip(picture.path, now_ns)
            return
        self._planned.discard(picture.path)
        self._context.count(Counter.ARCHIVED, 1)

    def _skip(self, path: str, now_ns: int) -> None:
        """Give a picture up; its event stays."""
        self._planned.discard(path)
        self._queue.forget((path,), now_ns)
        self._context.count(Counter.ARCHIVE_SKIPPED, 1)

    def _release(self, ticket: Ticket) -> bool:
        arena = self._context.arenas[ticket.station]
        return arena.release(ticket.slot, ticket.generation, Role.RECORD)

    def let_go(self, now_ns: int) -> None:
        """Give up all that are encoded: nobody knows when their events are committed."""
        while self._encoded:
            self._skip(self._encoded.popleft().path, now_ns)

    def forget(self, gone: Iterable[str]) -> None:
        """These paths were deleted."""
        gone = set(gone)
        self._encoded = deque(one for one in self._encoded if one.path not in gone)
        self._planned.difference_update(gone)

    def close(self) -> None:
        """Give the slots back."""
        while self._waiting:
            self._release(self._waiting.popleft().ticket)
