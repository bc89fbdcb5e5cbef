"""A page of memory by which a campaign tells the steps under trial what shall go wrong in them.

A file in the campaign's folder, named to the line by an environment variable. Eight-byte words, one
writer each: the campaign; counters are counted down by the step that uses them up.
"""

import mmap
import os
from enum import IntEnum, auto
from pathlib import Path

__all__ = ["VARIABLE", "Page", "Word"]

VARIABLE = "INSPECTD_CHAOS_PAGE"
"""Environment variable with the path of the page."""


class Word(IntEnum):
    """Places on the page."""

    UTC_OFFSET_MS = 0
    """By how much the record's wall clock is off."""
    ENGINE_HANGS_UNTIL_NS = auto()
    """Monotonic; a run of the engine that begins before returns no sooner."""
    ENGINE_ERRORS = auto()
    """So many of the next runs of the engine fail."""
    CAMERA_DROPS = auto()
    """So many of the next triggers bring no picture."""
    CAMERA_HANGS_UNTIL_NS = auto()
    """Monotonic; a call of the camera that begins before returns no sooner."""


class Page:
    """The page, mapped; signed 64-bit words."""

    def __init__(self, path: Path) -> None:
        """Map the file at `path`; it is made when it is not there."""
        self.path = path
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if os.fstat(fd).st_size < mmap.PAGESIZE:
                os.posix_fallocate(fd, 0, mmap.PAGESIZE)
            self._map = mmap.mmap(fd, mmap.PAGESIZE)
        finally:
            os.close(fd)
        self._memory = memoryview(self._map)
        self._words = self._memory.cast("q")

    def get(self, word: Word) -> int:
        """Read a word."""
        return self._words[word]

    def set(self, word: Word, value: int) -> None:
        """Write a word."""
        self._words[word] = value

    def take_one(self, word: Word) -> bool:
        """Count a word down by one; False when it was used up."""
        left = self._words[word]
        if left <= 0:
            return False
        self._words[word] = left - 1
        return True

    def close(self) -> None:
        """Let go of the memory; the file stays."""
        self._words.release()
        self._memory.release()
        self._map.close()
