"""A Siemens PLC: the server of python-snap7.

Version 3 is pure Python; with version 2.1 first on the path it is the native Snap7 library, another
program by another author.
"""

import ctypes
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from snap7.server import Server
from snap7.type import SrvArea

from tests.contract.peers.memory import Bytes, Served

__all__ = ["DB", "SHORT_DB", "START", "serve"]

DB, SHORT_DB = 7, 8
START = 4
"""First byte of the station's registers."""


class _Native(Bytes):
    """Memory that a thread of the native library writes: it is asked to keep off."""

    def __init__(self, buffer: Any, server: Any) -> None:
        super().__init__(buffer, START)
        self._server = server

    def hold(self) -> AbstractContextManager[object]:
        """See `Memory.hold`."""
        return self._held()

    @contextmanager
    def _held(self) -> Iterator[None]:
        self._server.lock_area(SrvArea.DB, DB)
        try:
            yield
        finally:
            self._server.unlock_area(SrvArea.DB, DB)


def serve(port: int) -> Served:
    """Listen, with one data block as it should be and one that is too short."""
    server: Any = Server(log=False)
    is_native = not hasattr(server, "memory_areas")
    size = Bytes.size(START)
    block: Any = (ctypes.c_uint8 * size)() if is_native else bytearray(size)
    short: Any = (ctypes.c_uint8 * 6)() if is_native else bytearray(6)
    server.register_area(SrvArea.DB, DB, block)
    server.register_area(SrvArea.DB, SHORT_DB, short)
    server.start_to("127.0.0.1", port)
    _KEPT.append((server, block, short))
    if is_native:
        return Served(_Native(block, server), os.getpid())
    lock = next(iter(server.area_locks.values()))
    return Served(Bytes(block, START, lock), os.getpid())


_KEPT: list[Any] = []
"""The library keeps pointers only."""
