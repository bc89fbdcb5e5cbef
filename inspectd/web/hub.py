"""The live page's listeners, each with one place for the latest news: who is slow misses some.

Nothing grows with a slow listener, and nobody waits for one: `publish` replaces what it has not
fetched yet, and counts it. Everything of one event loop.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["LISTENERS_MAX", "Hub", "Listener"]

LISTENERS_MAX = 40


class Listener:
    """One open page."""

    def __init__(self) -> None:
        """Nothing was published to it yet."""
        self._news: bytes | None = None
        self._is_there = asyncio.Event()
        self.missed = 0
        """News that were replaced before they were fetched."""

    def put(self, news: bytes) -> None:
        """Leave the latest."""
        self.missed += self._news is not None
        self._news = news
        self._is_there.set()

    async def get(self) -> bytes:
        """Wait for the latest."""
        await self._is_there.wait()
        self._is_there.clear()
        news, self._news = self._news, None
        return news or b""


class Hub:
    """All listeners."""

    def __init__(self, listeners_max: int = LISTENERS_MAX) -> None:
        """Args: listeners_max: Further ones are refused."""
        self._max = listeners_max
        self._listeners: set[Listener] = set()
        self._latest = b""

    @property
    def is_full(self) -> bool:
        """Whether another one would be refused."""
        return len(self._listeners) >= self._max

    @property
    def count(self) -> int:
        """Listeners now."""
        return len(self._listeners)

    @property
    def latest(self) -> bytes:
        """What was published last; empty: nothing was."""
        return self._latest

    def publish(self, news: bytes) -> None:
        """Leave news with everybody; never waits."""
        self._latest = news
        for listener in self._listeners:
            listener.put(news)

    @contextmanager
    def listening(self) -> Iterator[Listener]:
        """Be a listener for a while; the latest news are there at once."""
        listener = Listener()
        if self._latest:
            listener.put(self._latest)
        self._listeners.add(listener)
        try:
            yield listener
        finally:
            self._listeners.discard(listener)
