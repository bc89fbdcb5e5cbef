"""Two Modbus TCP servers: pymodbus, and `modbus-serial` of npm, which shares no line with it."""

import asyncio
import os
import subprocess
import threading
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from pymodbus.client import ModbusTcpClient
from pymodbus.server import ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

from inspectd.plc.registers import BLOCK_REGISTERS, Group
from tests.contract.peers.memory import BASE, Served

__all__ = ["serve", "serve_npm"]

_PATIENCE_S = 60.0
"""The program waits for its own server, also through a freeze."""


class BackDoor:
    """Registers of a server, reached as a second client of it: a group at a time is whole."""

    def __init__(self, port: int) -> None:
        self._client = ModbusTcpClient("127.0.0.1", port=port, timeout=_PATIENCE_S, retries=0)
        if not self._client.connect():  # type: ignore[no-untyped-call]
            raise RuntimeError("the server does not listen")

    def hold(self) -> AbstractContextManager[object]:
        """See `Memory.hold`."""
        return nullcontext()

    def read(self, group: Group) -> list[int]:
        """See `Memory.read`."""
        answer = self._client.read_holding_registers(
            BASE + group.offset, count=group.words, device_id=1
        )
        return list(answer.registers)

    def write(self, group: Group, words: list[int], shift: int) -> None:
        """See `Memory.write`."""
        self._client.write_registers(BASE + group.offset + shift, words, device_id=1)


def serve(port: int) -> Served:
    """Listen with pymodbus, in a thread of its own."""
    listening = threading.Event()

    async def play() -> None:
        bits = SimData(0, values=[False] * 16, datatype=DataType.BITS)
        words = SimData(BASE, count=BLOCK_REGISTERS + 4, datatype=DataType.REGISTERS)
        unused = SimData(0, count=1, datatype=DataType.REGISTERS)
        device = SimDevice(1, simdata=([bits], [bits], [words], [unused]))
        server: Any = ModbusTcpServer(device, address=("127.0.0.1", port))
        await server.serve_forever(background=True)
        listening.set()
        await asyncio.Event().wait()

    threading.Thread(target=lambda: asyncio.run(play()), daemon=True).start()
    if not listening.wait(20):
        raise RuntimeError("pymodbus does not listen")
    return Served(BackDoor(port), os.getpid())


def serve_npm(port: int) -> Served:
    """Listen with `modbus-serial`; it ends when our end of its input does."""
    script = Path(__file__).with_name("modbus_server.js")
    node = subprocess.Popen(
        ["node", str(script), str(port)],  # noqa: S607 - wherever node is
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    _KEPT.append(node)
    assert node.stdout is not None
    if node.stdout.readline().strip() != "listening":
        raise RuntimeError("modbus-serial does not listen")
    return Served(BackDoor(port), node.pid)


_KEPT: list[Any] = []
"""Its input must stay open."""
