"""The door of the forwarders: one process of the line, a courier for each entry of `forward`.

Nobody of the line sends to it and nobody waits for it: it follows the record's file. The couriers
live in one thread with an event loop; the step shows how they are, and counts and logs for them.
"""

import asyncio
import queue
import random
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from inspectd.config.schema import Line
from inspectd.errors import ForwardFault
from inspectd.forward.courier import Courier
from inspectd.forward.ledger import Ledger
from inspectd.forward.pace import Pace
from inspectd.forward.receivers import receiver_of
from inspectd.frame import Kind, Ticket
from inspectd.ports import Context, Out, Step

__all__ = ["ForwardStep", "build"]

LOOK_NS = 200_000_000
"""Between two looks at the couriers."""
RECORD_LOOKS = 50
"""Some seconds for a record that is just being made."""
BEAT_S = 1.0
"""The couriers' loop shows so often that it turns."""
STALLED_NS = 30_000_000_000
"""It has not turned for so long: a person should know."""
HANGS_NS = 120_000_000_000
"""Nothing will come of it: the process ends and is started again."""
_JOIN_S = 1.0
_STARTING, _OPERATIONAL, _ERROR = "Preoperational", "Operational", "Error"
"""States of OPC 40100-1."""


def build(line: Line, station: int, context: Context) -> Step:  # noqa: ARG001 - one for the line
    """Start the forwarders of a line."""
    return ForwardStep(line, context)


class ForwardStep:
    """All couriers of a line."""

    def __init__(self, line: Line, context: Context) -> None:
        """Start the thread; a receiver whose library is missing is trouble, no failure."""
        self._context = context
        self._news: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._log = partial(self._later, context.log)
        self._stopping = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(self._stray)
        self._missing: list[str] = []
        self._failure: BaseException | None = None
        self._wake_at_ns = 0
        self._turned_ns = context.clock()
        self._still_ns = 0
        first = _ERROR if context.restarts else _STARTING
        self._states = {station.name: first for station in line.stations}
        self._couriers = self._couriers_of(line)
        self._thread = threading.Thread(target=self._work, name="couriers", daemon=True)
        self._thread.start()

    def feed(self, kind: Kind, ticket: Ticket, now_ns: int) -> Sequence[Out]:  # noqa: ARG002
        """Nobody sends anything."""
        return ()

    def wake_at_ns(self) -> int | None:
        """Some times a second."""
        return self._wake_at_ns

    def wake(self, now_ns: int) -> Sequence[Out]:
        """Log and count what the couriers have to say; a fault of theirs ends this process."""
        self._wake_at_ns = now_ns + LOOK_NS
        self._pass_on()
        self._still_ns = now_ns - self._turned_ns
        if self._failure is not None:
            raise self._failure
        if self._still_ns > HANGS_NS and self._thread.is_alive():
            raise ForwardFault("all", "the forwarders hang", "see disk and name server")
        return ()

    def stop(self, now_ns: int) -> Sequence[Out]:  # noqa: ARG002 - of the protocol
        """Send what is there; whoever is not taking anything now is not waited for."""
        self._loop.call_soon_threadsafe(self._stopping.set)
        return ()

    def is_drained(self) -> bool:
        """Every courier has ended."""
        return not self._thread.is_alive()

    def trouble(self) -> str:
        """What each receiver in trouble needs."""
        if self._still_ns > STALLED_NS and self._thread.is_alive():
            return "the forwarders stand still; see whether the record's disk answers"
        return " | ".join([*self._missing, *(one.trouble for one in self._couriers if one.trouble)])

    def close(self) -> None:
        """Give the couriers a moment; what is not sent stays in the record."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(_JOIN_S)
        self._pass_on()

    # ---------------------------------------------------------------- the thread

    def _work(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._run())
        except BaseException as error:  # noqa: BLE001  raised again in `wake`
            self._failure = error
        finally:
            self._loop.close()

    async def _run(self) -> None:
        beating = asyncio.create_task(self._beat())
        await asyncio.gather(*(courier.run() for courier in self._couriers))
        beating.cancel()

    async def _beat(self) -> None:
        while True:
            self._turned_ns = self._context.clock()
            await asyncio.sleep(BEAT_S)

    def _couriers_of(self, line: Line) -> list[Courier]:
        couriers = []
        for entry in line.forward:
            try:
                receiver = receiver_of(entry, line.line)
            except ForwardFault as fault:
                self._missing.append(str(fault))
                continue
            folder = Path(line.record.folder)
            place = Ledger(
                folder,
                entry.name,
                self._log,
                send_backlog=entry.send_backlog,
                patience=RECORD_LOOKS,
            )
            couriers.append(
                Courier(
                    entry.name,
                    receiver,
                    place,
                    Pace(random.random),
                    stopping=self._stopping,
                    count=partial(self._later, self._context.count),
                    log=self._log,
                    states=self._looked,
                )
            )
        return couriers

    def _looked(self) -> Mapping[str, str]:
        """How the stations are: whether a part would get its verdict now."""
        for index, (name, before) in enumerate(self._states.items()):
            if self._context.is_line_healthy(index):
                self._states[name] = _OPERATIONAL
            elif before != _STARTING:
                self._states[name] = _ERROR
        return self._states

    def _stray(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Log what a library left behind in the loop."""
        error = str(context.get("exception") or context.get("message"))
        self._log("debug", "forward_stray_error", error=error)

    def _later(self, call: Callable[..., None], *args: Any, **fields: Any) -> None:
        """Have something called by the thread that owns log and counters."""
        self._news.put(partial(call, *args, **fields))

    def _pass_on(self) -> None:
        with suppress(queue.Empty):
            while True:
                self._news.get_nowait()()
