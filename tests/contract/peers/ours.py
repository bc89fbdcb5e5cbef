"""Our own OPC UA server in this process, with a sink's peer and clients that play the PLC."""

import asyncio
import contextlib
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import yaml
from asyncua import Client, ua

from inspectd.config.load import line_of
from inspectd.config.schema import Line
from inspectd.plc.nodemap import SERVED_NAMESPACE
from inspectd.plc.nodes import WORD_ORDER, type_name, values_of
from inspectd.plc.registers import PLC, PlcPart, encode_plc
from inspectd.ports import Context
from inspectd.stages.sink.opcua_step import OpcuaStep, build
from inspectd.stages.sink.served import ServedPeer, road_of
from tests.contract.peers.peer import free_port

__all__ = ["STATION", "Ours", "line_with", "open_sockets", "raw_connection", "served", "until"]

STATION = "capper"
_DEMO = Path(__file__).parents[3] / "stations" / "demo.yaml"
_RUN = "contract"


def line_with(plc: dict[str, Any]) -> Line:
    """The demo line, its PLC a client of our server with these keys."""
    document = yaml.safe_load(_DEMO.read_text(encoding="utf-8"))
    document["stations"][0] |= {
        "name": STATION,
        "plc": {"kind": "opcua_server", **plc},
        "trigger": {"kind": "plc"},
    }
    return line_of(json.dumps(document).encode(), str(_DEMO), must_exist=False)[0]


def until(is_true: Callable[[], bool], limit_s: float = 10) -> None:
    """Wait until something is so."""
    end = time.monotonic() + limit_s
    while not is_true():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.005)


@dataclass
class Ours:
    """A server at work."""

    line: Line
    step: OpcuaStep
    run_id: str
    said: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    """Level, event and fields of its log."""
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    """Of the clients, in a thread of its own."""

    @property
    def endpoint(self) -> str:
        """Where clients connect."""
        return f"opc.tcp://127.0.0.1:{self.line.stations[0].plc.port}"  # type: ignore[union-attr]

    @property
    def server_loop(self) -> asyncio.AbstractEventLoop:
        """The server's own loop."""
        return self.step._serving._loop

    def turn(self) -> None:
        """One wake of the step: the thread is looked after, the log is written."""
        self.step.wake(0)

    def events(self) -> list[str]:
        """What was logged so far, by name."""
        self.turn()
        return [event for _, event, _ in self.said]

    def sink(self, timeout_ms: float = 1000) -> ServedPeer:
        """The sink's side; nothing is opened yet."""
        return ServedPeer(road_of(self.run_id, 0), self.endpoint, timeout_ms)

    def client(self, **keys: Any) -> Client:
        """A client that is not connected."""
        client = Client(self.endpoint, timeout=10)
        for name, value in keys.items():
            getattr(client, name)(value)
        return client

    def within(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Let clients work."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    async def node(self, client: Client, name: str) -> Any:
        """A value by group and name, e.g. `head.status`."""
        index = await client.get_namespace_index(SERVED_NAMESPACE)
        return client.get_node(ua.NodeId(f"{STATION}.{name}", index))

    async def read(self, client: Client, name: str) -> Any:
        """Read a value."""
        return await (await self.node(client, name)).read_value()

    async def write_part(self, client: Client, part: PlcPart) -> None:
        """Write the PLC's group, whole."""
        values = values_of(PLC, encode_plc(part, WORD_ORDER))
        nodes, written = [], []
        for register, value in zip(PLC.registers, values, strict=True):
            nodes.append(await self.node(client, f"plc.{register.name}"))
            variant = ua.Variant(value, ua.VariantType[type_name(register)])
            written.append(ua.DataValue(variant))
        await client.write_values(nodes, written)


@contextmanager
def served(run_id: str = _RUN, **plc: Any) -> Iterator[Ours]:
    """The server with these keys of the station file."""
    line = line_with({"port": free_port(), **plc})
    said: list[tuple[str, str, dict[str, Any]]] = []
    context = Mock(spec=Context, run_id=f"{run_id}-{os.getpid()}")
    context.log = lambda level, event, **fields: said.append((level, event, fields))
    step = build(line, 0, context)
    assert isinstance(step, OpcuaStep)
    ours = Ours(line, step, context.run_id, said)
    thread = threading.Thread(target=ours.loop.run_forever)
    thread.start()
    try:
        yield ours
    finally:
        ours.loop.call_soon_threadsafe(ours.loop.stop)
        thread.join()
        ours.loop.close()
        step.close()


def open_sockets() -> int:
    """Sockets that this process has open."""
    count = 0
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # the listing's own
            count += str(entry.readlink()).startswith("socket:")
    return count


def raw_connection(run_id: str) -> socket.socket:
    """A connection as a sink makes it, without the rest of a sink."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(road_of(run_id, 0))
    return connection
