"""The process of a station's own OPC UA server: an event loop in a thread, watched by the step.

    sink --packets--> [event loop: local socket <-> nodes <-> OPC UA clients] --snapshots--> sink

The sink is another process, so no client can hold it up. When the sink is gone, vision is not
ready: the server says so itself, within one turn of its loop.
"""

import asyncio
import contextlib
import functools
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from inspectd.config.schema import Line, PlcTrigger
from inspectd.errors import InspectdError, PortBusy
from inspectd.frame import Kind, Ticket
from inspectd.plc.nodes import WORD_ORDER
from inspectd.plc.registers import (
    GROUPS,
    HEAD,
    VERDICT,
    Group,
    Head,
    StatusBit,
    decode_head,
    decode_verdict,
    encode_head,
)
from inspectd.plc.vision import vision_of
from inspectd.ports import Context, Out, Step
from inspectd.stages.sink.opcua_server import StationServer
from inspectd.stages.sink.served import (
    PACKET_MAX_BYTES,
    SNAPSHOT_S,
    Snapshot,
    is_ours,
    road_of,
    snapshot_bytes,
    write_in,
)

__all__ = ["OpcuaStep", "build"]

_TURN_NS = 100_000_000
_START_S = 55.0
"""Types and address space take seconds on a loaded machine."""
_STUCK_S = 5.0
_STOP_S = 3.0


def build(line: Line, station: int, context: Context) -> Step:
    """Start the server and wait until it listens.

    Raises:
        PortBusy: Somebody else has the port.
        UsageFault: A certificate or password cannot be used.
    """
    step = OpcuaStep(line, station, context)
    step.start()
    return step


class OpcuaStep:
    """Looks after the thread; it has no part in any message of the line."""

    def __init__(self, line: Line, station: int, context: Context) -> None:
        self._context = context
        self._words: deque[tuple[str, str, dict[str, Any]]] = deque(maxlen=100)
        self._serving = _Serving(line, station, context.run_id, self._say)
        self._next_ns = 0
        self._is_stopping = False

    def start(self) -> None:
        """Start the thread; see `build`."""
        self._serving.start()
        self._tell()

    def feed(self, kind: Kind, ticket: Ticket, now_ns: int) -> Sequence[Out]:  # noqa: ARG002
        """Nothing is sent to this process but the order to stop."""
        return ()

    def wake_at_ns(self) -> int | None:
        """Ten times a second."""
        return self._next_ns

    def wake(self, now_ns: int) -> Sequence[Out]:
        """See whether the thread moves.

        Raises:
            RuntimeError: It does not: the process must end, and is started again.
        """
        self._next_ns = now_ns + _TURN_NS
        self._tell()
        self._serving.check()
        return ()

    def stop(self, now_ns: int) -> Sequence[Out]:  # noqa: ARG002 - of the protocol
        """The sink has ended before: nothing is left to wait for."""
        self._is_stopping = True
        return ()

    def is_drained(self) -> bool:
        """Nothing is held."""
        return True

    def trouble(self) -> str:
        """A PLC that is not logged in is the sink's trouble, not ours."""
        return ""

    def close(self) -> None:
        """Close the connections of all clients."""
        self._serving.stop()
        self._tell()

    def _say(self, level: str, event: str, **fields: Any) -> None:
        """Keep a line of the thread's for the log."""
        self._words.append((level, event, fields))

    def _tell(self) -> None:
        while self._words:
            level, event, fields = self._words.popleft()
            self._context.log(level, event, **fields)


class _Serving:
    """The thread: an event loop with the server and the socket to the sink."""

    def __init__(self, line: Line, station: int, run_id: str, log: Callable[..., None]) -> None:
        self._server = StationServer(line, station, log, self._push)
        self._road, self._run_id, self._log = road_of(run_id, station), run_id, log
        self._is_plc_triggered = isinstance(line.stations[station].trigger, PlcTrigger)
        self._loop = asyncio.new_event_loop()
        self._ready, self._stopping = threading.Event(), asyncio.Event()
        self._fault: BaseException | None = None
        self._thread = threading.Thread(target=self._live, name="opcua", daemon=True)
        self._moved_s = time.monotonic()
        self._sink: socket.socket | None = None
        self._was_there = False
        self._head: Head | None = None
        self._was_ready = False

    def start(self) -> None:
        """Start, and wait until clients can connect; see `build`."""
        self._thread.start()
        is_ready = self._ready.wait(_START_S)
        if self._fault is not None:
            raise self._fault
        if not is_ready:
            raise RuntimeError(f"the OPC UA server was not ready within {_START_S:g} s")

    def check(self) -> None:
        """See `OpcuaStep.wake`."""
        if self._fault is not None:
            raise self._fault
        if not self._thread.is_alive() or time.monotonic() - self._moved_s > _STUCK_S:
            raise RuntimeError("the event loop of the OPC UA server does not move")

    def stop(self) -> None:
        """End; a loop that does not is left to the end of the process."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(_STOP_S)

    def _live(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        except InspectdError as fault:
            self._fault = fault
        except BaseException as fault:  # noqa: BLE001  the root of a thread: the step raises it
            self._fault = fault
        finally:
            self._ready.set()
            self._loop.close()

    async def _serve(self) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK) as door:
            try:
                door.bind(self._road)
            except OSError as error:
                raise PortBusy(self._road[1:], "end the other process of this run") from error
            door.listen(1)
            await self._server.start()
            await self._show()
            self._log("info", "opcua_serving", endpoint=self._server.endpoint)
            tasks = [asyncio.ensure_future(self._admit(door)), asyncio.ensure_future(self._beat())]
            self._ready.set()
            stopping = asyncio.ensure_future(self._stopping.wait())
            done, _ = await asyncio.wait([*tasks, stopping], return_when=asyncio.FIRST_COMPLETED)
            for task in [*tasks, stopping]:
                task.cancel()
            await asyncio.gather(*tasks, stopping, return_exceptions=True)
            await self._server.stop()
            for task in done:
                task.result()

    async def _admit(self, door: socket.socket) -> None:
        """Serve one sink after the other: a restarted one takes the place of its former life."""
        serving: asyncio.Task[None] | None = None
        try:
            while True:
                connection, _ = await self._loop.sock_accept(door)
                if not is_ours(connection):
                    connection.close()
                    continue
                await _ended(serving)
                self._sink = connection
                self._push()
                serving = asyncio.ensure_future(self._obey(connection))
                # Not its `finally`: a task that is ended before its first step runs none.
                serving.add_done_callback(functools.partial(_close, connection))
        finally:
            await _ended(serving)

    async def _obey(self, sink: socket.socket) -> None:
        """Put what the sink says into the nodes."""
        try:
            while packet := await self._loop.sock_recv(sink, PACKET_MAX_BYTES):
                group, words = write_in(packet)
                await self._server.put(group, words)
                self._push()
                await self._after(group)
        except ConnectionError:
            return  # it has ended; the supervisor knows
        except (OSError, ValueError) as error:
            self._log("warning", "opcua_sink_lost", error=str(error))
        finally:
            sink.close()
            if self._sink is sink:
                self._sink = None
                await self._stand_in()

    async def _stand_in(self) -> None:
        """The sink is gone: unless it said goodbye, show that vision is not ready."""
        head = self._head
        if head is not None and head.status != StatusBit(0):
            faulty = head._replace(status=StatusBit.FAULT)
            await self._server.put(HEAD, encode_head(faulty, WORD_ORDER))
        await self._show()

    async def _after(self, group: Group) -> None:
        """What follows from a group for the vision system of OPC 40100-1."""
        if group is HEAD:
            self._head = decode_head(self._server.words(HEAD), WORD_ORDER)
            self._was_ready = self._was_ready or StatusBit.READY in self._head.status
            await self._show()
        elif group is VERDICT and self._server.vision is not None:
            block = decode_verdict(self._server.words(VERDICT), WORD_ORDER)
            await self._server.vision.tell(block, self._run_id)

    async def _show(self) -> None:
        if self._server.vision is not None:
            await self._server.vision.show(
                vision_of(
                    self._head,
                    is_sink_there=self._sink is not None,
                    was_ready=self._was_ready,
                    is_plc_triggered=self._is_plc_triggered,
                )
            )

    async def _beat(self) -> None:
        """Show the thread that the loop moves, and the sink how things are."""
        while True:
            self._moved_s = time.monotonic()
            is_there = self._server.is_plc_there
            if is_there != self._was_there:
                self._was_there = is_there
                self._log("info", "opcua_plc_came" if is_there else "opcua_plc_went")
            self._push()
            await asyncio.sleep(SNAPSHOT_S)

    def _push(self) -> None:
        """Send the sink a snapshot; one that does not fit is followed by the next."""
        if self._sink is None:
            return
        words = {group.name: self._server.words(group) for group in GROUPS}
        packet = snapshot_bytes(Snapshot(self._server.is_plc_there, words))
        with contextlib.suppress(OSError):
            self._sink.send(packet)


async def _ended(serving: "asyncio.Task[None] | None") -> None:
    """End the service of a sink, and wait until its connection is closed."""
    if serving is not None:
        serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await serving


def _close(connection: socket.socket, _serving: "asyncio.Task[None]") -> None:
    connection.close()
