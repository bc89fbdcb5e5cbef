"""The memory of a PLC that a test peer serves, as its own program sees it."""

import struct
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from inspectd.plc.registers import BLOCK_REGISTERS, Group, WordOrder

__all__ = ["BASE", "WORD_ORDER", "Bytes", "Memory", "Served"]

BASE = 10
"""First register of the block in peers that count registers."""
WORD_ORDER: WordOrder = "high_first"


class Memory(Protocol):
    """Registers that the fieldbus serves and the PLC program reads and writes."""

    def hold(self) -> AbstractContextManager[object]:
        """Keep the fieldbus out for one scan."""

    def read(self, group: Group) -> list[int]:
        """The words of a group."""

    def write(self, group: Group, words: list[int], shift: int) -> None:
        """Put words into a group, so many registers beside its place."""


@dataclass
class Served:
    """A server at work."""

    memory: Memory
    process: int
    """Whom to stop so that the server stands still."""


_OPEN: AbstractContextManager[object] = nullcontext()


class Bytes:
    """Registers in an object that has the buffer protocol, high byte first."""

    def __init__(
        self, buffer: bytearray, start: int, lock: AbstractContextManager[object] = _OPEN
    ) -> None:
        self._view, self._start, self._lock = memoryview(buffer).cast("B"), start, lock

    @staticmethod
    def size(start: int) -> int:
        """Bytes that a station needs."""
        return start + 2 * BLOCK_REGISTERS

    def hold(self) -> AbstractContextManager[object]:
        """See `Memory.hold`."""
        return self._lock

    def read(self, group: Group) -> list[int]:
        """See `Memory.read`."""
        at = self._start + 2 * group.offset
        return list(struct.unpack(f">{group.words}H", self._view[at : at + 2 * group.words]))

    def write(self, group: Group, words: list[int], shift: int) -> None:
        """See `Memory.write`."""
        at = self._start + 2 * (group.offset + shift)
        self._view[at : at + 2 * len(words)] = struct.pack(f">{len(words)}H", *words)
