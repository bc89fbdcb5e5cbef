"""EDGE pymodbus server: a Modbus peer with a PLC program behind it, for trials, demos and tests.

The station's block lies in holding registers, the reject output is coil 0. Requests and scans share
one event loop and never wait in the middle of a block, so a verdict block written by one FC16 is
seen whole or not at all. The difficult sides of real PLCs are options: it can freeze (connections
stay, nothing is answered, what was asked meanwhile is done on the thaw), halt (the server answers,
the program stands), answer slowly, and exchange the bytes of its registers.
"""

import asyncio
import contextlib
import errno
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TextIO, TypeAlias

from pymodbus.constants import ExcCodes
from pymodbus.server import ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

from inspectd.errors import PortBusy, UsageFault
from inspectd.plc.account import Answer
from inspectd.plc.book import Happening, as_lines
from inspectd.plc.program import PlcProgram, Program
from inspectd.plc.registers import (
    BLOCK_REGISTERS,
    HEAD,
    PLC,
    VERDICT,
    Group,
    VerdictBlock,
    WordOrder,
    decode_head,
    decode_verdict,
    encode_plc,
)

__all__ = ["ByteOrder", "Peculiarity", "Simulator"]

ByteOrder: TypeAlias = Literal["big", "little"]

_READ, _WRITE, _WRITE_COIL = 3, 16, 5
_REJECT_COIL = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Peculiarity:
    """How this PLC misbehaves; nothing by default."""

    freeze_after_s: float | None = None
    """Stop answering and scanning so long after the start."""
    freeze_for_s: float = 1.0
    halt_after_s: float | None = None
    """Stop scanning so long after the start; requests are answered all the same."""
    halt_for_s: float = 1.0
    answer_delay_ms: float = 0.0
    """Every answer takes so much longer."""


class Simulator:
    """A Modbus TCP server with a PLC program behind it; one device, one station."""

    def __init__(
        self,
        program: Program,
        *,
        on_scan: Callable[[int, tuple[Happening, ...]], None] | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        device_id: int = 1,
        base_register: int = 0,
        word_order: WordOrder = "high_first",
        byte_order: ByteOrder = "big",
        scan_ms: float = 5.0,
        peculiarity: Peculiarity = Peculiarity(),
        on_taken: Callable[[Answer], None] | None = None,
        book: TextIO | None = None,
    ) -> None:
        """Make it; nothing listens before `start`.

        Args:
            program: of the PLC.
            on_scan: is told of each scan, its time and what happened.
            host: address to listen on.
            port: TCP port; 0 takes a free one.
            device_id: Modbus unit.
            base_register: first holding register of the block.
            word_order: of 32-bit values.
            byte_order: within a register.
            scan_ms: scan time.
            peculiarity: how it misbehaves.
            on_taken: is told of each verdict.
            book: where what happens is written while it happens.
        """
        self._book, self._on_scan = book, on_scan
        self._plc = PlcProgram(program)
        self._host, self._port = host, port
        self._device_id, self._base, self._order = device_id, base_register, word_order
        self._is_turned = byte_order == "little"
        self._scan_s = scan_ms / 1000
        self._peculiarity = peculiarity
        self._on_taken = on_taken
        self._is_own_access = False
        self._thawed, self._running = asyncio.Event(), asyncio.Event()
        self._thawed.set()
        self._running.set()
        self._bad_codes = 0
        self._server: Any = None

    async def start(self) -> int:
        """Listen; answer the port.

        Raises:
            PortBusy: Somebody else has the address.
            UsageFault: The address cannot be had for another reason.
        """
        _try_to_bind(self._host, self._port)
        self._server = ModbusTcpServer(self._device(), address=(self._host, self._port))
        try:
            await self._server.serve_forever(background=True)
        except RuntimeError as error:
            raise PortBusy(f"{self._host}:{self._port}", "choose another --port") from error
        return int(self._server.transport.sockets[0].getsockname()[1])

    async def play(self, stop: asyncio.Event) -> None:
        """Scan until `stop` is set; then close the server."""
        odd = self._peculiarity
        troubles = [
            asyncio.create_task(_pause(self._thawed, odd.freeze_after_s, odd.freeze_for_s)),
            asyncio.create_task(_pause(self._running, odd.halt_after_s, odd.halt_for_s)),
        ]
        try:
            while not stop.is_set():
                if self._thawed.is_set() and self._running.is_set():
                    await self._scan()
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(stop.wait(), self._scan_s)
        finally:
            for trouble in troubles:
                trouble.cancel()
            self._thawed.set()
            await self._server.shutdown()

    def set_rate(self, rate_hz: float) -> None:
        """Change the parts a second; 0: none."""
        self._plc.set_rate(rate_hz)

    def report(self) -> dict[str, object]:
        """What happened, as plain values for JSON."""
        return {**self._plc.report(), "bad_codes": self._bad_codes}

    def _device(self) -> SimDevice:
        holding = SimData(self._base, count=BLOCK_REGISTERS, datatype=DataType.REGISTERS)
        unused_bits = SimData(0, values=[False] * 16, datatype=DataType.BITS)
        coils = SimData(0, values=[False] * 16, datatype=DataType.BITS)
        unused = SimData(0, count=1, datatype=DataType.REGISTERS)
        return SimDevice(
            self._device_id,
            simdata=([coils], [unused_bits], [holding], [unused]),
            action=self._on_request,
        )

    async def _on_request(self, *_request: object) -> ExcCodes | None:
        """Hold requests from outside back as this PLC is wont to."""
        if self._is_own_access:
            return None
        if self._peculiarity.answer_delay_ms:
            await asyncio.sleep(self._peculiarity.answer_delay_ms / 1000)
        await self._thawed.wait()
        return None

    async def _scan(self) -> None:
        """One scan: the three groups in one go, without letting a request in between."""
        self._is_own_access = True
        try:
            head = decode_head(await self._get(HEAD), self._order)
            block = await self._block()
            now_ns = time.monotonic_ns()
            scan = self._plc.scan(now_ns, head, block)
            await self._server.async_setValues(
                self._device_id,
                _WRITE,
                self._base + PLC.offset,
                self._turned(encode_plc(scan.part, self._order)),
            )
            await self._server.async_setValues(
                self._device_id, _WRITE_COIL, _REJECT_COIL, [scan.reject]
            )
        finally:
            self._is_own_access = False
        if self._on_scan is not None:
            self._on_scan(now_ns, scan.happened)
        if scan.happened and self._book is not None:
            self._book.write(as_lines(now_ns, scan.happened))
            self._book.flush()
        if scan.taken is not None and self._on_taken is not None:
            self._on_taken(scan.taken)

    async def _block(self) -> VerdictBlock:
        """The verdict block; a code that nobody defined reads as no verdict at all."""
        words = await self._get(VERDICT)
        try:
            return decode_verdict(words, self._order)
        except ValueError:
            self._bad_codes += 1
            return VerdictBlock()

    async def _get(self, group: Group) -> list[int]:
        words: list[int] = await self._server.async_getValues(
            self._device_id, _READ, self._base + group.offset, group.words
        )
        return self._turned(words)

    def _turned(self, words: list[int]) -> list[int]:
        """Registers as this PLC's server keeps them, and back."""
        return [word >> 8 | (word & 0xFF) << 8 for word in words] if self._is_turned else words


async def _pause(flag: asyncio.Event, after_s: float | None, for_s: float) -> None:
    """Clear a flag for a while."""
    if after_s is None:
        return
    await asyncio.sleep(after_s)
    flag.clear()
    await asyncio.sleep(for_s)
    flag.set()


def _try_to_bind(host: str, port: int) -> None:
    """Learn why an address cannot be had: pymodbus keeps the reason to itself."""
    try:
        socket.create_server((host, port)).close()
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortBusy(f"{host}:{port}", "choose another --port, or end its owner") from error
        raise UsageFault(
            error.strerror or str(error), f"{host}:{port}", "choose another --host or --port"
        ) from error
