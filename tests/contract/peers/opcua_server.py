"""Two OPC UA servers: asyncua, and `node-opcua` of npm, which shares no line with it."""

import asyncio
import json
import os
import subprocess
import tempfile
import threading
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from asyncua import Server, ua

from inspectd.config.schema import OpcuaPlc
from inspectd.plc.nodes import WORD_ORDER, type_name, values_of, words_of
from inspectd.plc.registers import GROUPS, Group
from tests.contract.peers.memory import Served

__all__ = ["NAMESPACE", "NODES", "WRONG_NODES", "serve", "serve_npm"]

NAMESPACE = "urn:test:plc"
NODES = "ns={ns};s=Vision.{group}.{name}"
WRONG_NODES = "ns={ns};s=Wrong.{name}"
"""Every value is there too as an Int32."""
_PATIENCE_MS = 60_000.0


class AddressSpace:
    """The nodes of a server in this process, reached within its own event loop."""

    def __init__(self, server: Any, index: int, loop: asyncio.AbstractEventLoop) -> None:
        self._server, self._index, self._loop = server, index, loop

    def hold(self) -> AbstractContextManager[object]:
        """See `Memory.hold`: a group is read or written without giving the loop away."""
        return nullcontext()

    def read(self, group: Group) -> list[int]:
        """See `Memory.read`."""
        values = self._within(self._read(group))
        return words_of(group, values)

    def write(self, group: Group, words: list[int], shift: int) -> None:
        """See `Memory.write`; names cannot be shifted."""
        assert not shift
        self._within(self._write(group, values_of(group, words)))

    def _within(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    async def _read(self, group: Group) -> list[int]:
        space = self._server.iserver.aspace
        return [
            space.read_attribute_value(
                self._node(group, one.name), ua.AttributeIds.Value
            ).Value.Value
            for one in group.registers
        ]

    async def _write(self, group: Group, values: list[int]) -> None:
        for register, value in zip(group.registers, values, strict=True):
            variant = ua.Variant(value, ua.VariantType[type_name(register)])
            node = self._node(group, register.name)
            await self._server.write_attribute_value(node, ua.DataValue(variant))

    def _node(self, group: Group, name: str) -> Any:
        return ua.NodeId(f"Vision.{group.name}.{name}", self._index)


def serve(port: int) -> Served:
    """Listen with asyncua, in a thread of its own."""
    loop = asyncio.new_event_loop()
    made: list[AddressSpace] = []
    listening = threading.Event()

    async def play() -> None:
        server = Server()
        await server.init()
        server.set_endpoint(f"opc.tcp://127.0.0.1:{port}")
        server.set_security_policy([ua.SecurityPolicyType.NoSecurity])
        index = await server.register_namespace(NAMESPACE)
        await add_values(server, index)
        await server.start()
        made.append(AddressSpace(server, index, loop))
        listening.set()
        await asyncio.Event().wait()

    threading.Thread(target=lambda: loop.run_until_complete(play()), daemon=True).start()
    if not listening.wait(60):
        raise RuntimeError("asyncua does not listen")
    return Served(made[0], os.getpid())


async def add_values(server: Any, index: int) -> None:
    """One folder a group, one variable a value; and one of a wrong type for each."""
    vision = await server.nodes.objects.add_object(index, "Vision")
    wrong = await server.nodes.objects.add_object(index, "Wrong")
    for group in GROUPS:
        folder = await vision.add_object(index, group.name)
        for register in group.registers:
            name = ua.QualifiedName(register.name, index)
            place = ua.NodeId(f"Vision.{group.name}.{register.name}", index)
            kind = ua.VariantType[type_name(register)]
            node = await folder.add_variable(place, name, ua.Variant(0, kind))
            await node.set_writable(group.writer == "vision")
            place = ua.NodeId(f"Wrong.{register.name}", index)
            await wrong.add_variable(place, name, ua.Variant(0, ua.VariantType.Int32))


class BackDoor:
    """The nodes of a server in another process, reached as a second client of it."""

    def __init__(self, port: int) -> None:
        from inspectd.stages.sink.opcua import OpcuaWire  # noqa: PLC0415 - heavy

        keys = OpcuaPlc(
            kind="opcua",
            endpoint=f"opc.tcp://127.0.0.1:{port}",
            nodes=NODES,
            namespace_uri=NAMESPACE,
            timeout_ms=_PATIENCE_MS,
            connect_timeout_ms=_PATIENCE_MS,
            session_timeout_ms=_PATIENCE_MS,
        )
        self._wire = OpcuaWire(keys, "one", 3_600_000)
        self._wire.open()
        assert self._wire.word_order == WORD_ORDER

    def hold(self) -> AbstractContextManager[object]:
        """See `Memory.hold`."""
        return nullcontext()

    def read(self, group: Group) -> list[int]:
        """See `Memory.read`."""
        return self._wire.read(group)

    def write(self, group: Group, words: list[int], shift: int) -> None:
        """See `Memory.write`; names cannot be shifted."""
        assert not shift
        self._wire.write(group, words)


def serve_npm(port: int) -> Served:
    """Listen with `node-opcua`; it ends when our end of its input does."""
    script = Path(__file__).with_name("opcua_server.js")
    pki = tempfile.TemporaryDirectory(prefix="inspectd-pki-")
    node = subprocess.Popen(
        ["node", str(script), str(port), pki.name],  # noqa: S607 - wherever node is
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    _KEPT.extend((node, pki))
    assert node.stdin is not None
    assert node.stdout is not None
    groups = [
        [group.name, [[one.name, type_name(one)] for one in group.registers]] for group in GROUPS
    ]
    node.stdin.write(json.dumps({"uri": NAMESPACE, "groups": groups}) + "\n")
    node.stdin.flush()
    if not any(line.strip() == "listening" for line in node.stdout):  # after some warnings
        raise RuntimeError("node-opcua does not listen")
    return Served(BackDoor(port), node.pid)


_KEPT: list[Any] = []
"""Its input must stay open."""
