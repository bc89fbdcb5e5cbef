"""An I/O module with a belt behind it, for tests: a real Modbus server in a thread of its own."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from inspectd.config.schema import OutputReject
from inspectd.plc.belt import Belt, plan_of
from inspectd.plc.io_module import IoModule

__all__ = ["Playing", "playing"]


@dataclass
class Playing:
    """A module in a thread of its own."""

    belt: Belt
    module: IoModule
    port: int
    call: Callable[[Callable[[], object]], object]
    """Runs something in the module's thread."""


@contextmanager
def playing(reject: OutputReject, first_count: int = 0) -> Iterator[Playing]:
    """Start a module with a belt behind it; end it."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def start() -> Playing:
        plan = replace(plan_of(reject), first_count=first_count)
        belt = Belt(plan, time.monotonic_ns())
        module = IoModule(reject, belt, time.monotonic_ns)
        return Playing(belt, module, await module.start(), loop.call_soon_threadsafe)

    played = asyncio.run_coroutine_threadsafe(start(), loop).result(10)
    try:
        yield played
    finally:
        asyncio.run_coroutine_threadsafe(played.module.close(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
