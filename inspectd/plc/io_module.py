"""EDGE pymodbus server: a digital I/O module with a belt behind it, for trials and tests.

Encoder and inputs are worked out in the moment in which they are asked for, so that they are as
exact as the request. A write of the coil or of the watchdog's register reaches the belt at once.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from pymodbus.constants import ExcCodes
from pymodbus.server import ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

from inspectd.config.schema import ModbusEncoder, ModbusIo, OutputReject
from inspectd.errors import PortBusy, UsageFault
from inspectd.plc.belt import Belt
from inspectd.plc.book import Happening, What

__all__ = ["IoModule"]

_READ_DISCRETE, _READ_HOLDING, _READ_INPUT = 2, 3, 4
_WRITE_COIL, _WRITE_REGISTERS = 5, 16
_WORD_BITS = 16
_WORD = 0xFFFF
_COUNTER_WORDS = 2


class IoModule:
    """A Modbus TCP server that plays the module of one station; start it inside a running loop."""

    def __init__(self, reject: OutputReject, belt: Belt, clock: Callable[[], int]) -> None:
        """Keep what is wired where; nothing is opened before `start`.

        Raises:
            UsageFault: The station's output is no Modbus module.
        """
        if not isinstance(reject.io, ModbusIo):
            raise UsageFault("no Modbus module to play", "reject.io", "use io.kind: modbus")
        self._io, self._reject = reject.io, reject
        encoder = reject.encoder
        self._encoder = encoder if isinstance(encoder, ModbusEncoder) else None
        self._belt, self._clock = belt, clock
        self._server: Any = None
        self.active: set[int] = set()
        """Inputs that are active beside the belt's own: bin full, air low, the reset key."""
        self.thawed = asyncio.Event()
        """While it is cleared, nothing is answered; what was asked is done on the thaw."""
        self.thawed.set()

    async def start(self) -> int:
        """Listen; answer the port.

        Raises:
            PortBusy: Somebody else has the address.
        """
        address = (self._io.host, self._io.port)
        self._server = ModbusTcpServer(self._device(), address=address)
        try:
            await self._server.serve_forever(background=True)
        except RuntimeError as error:
            raise PortBusy(f"{address[0]}:{address[1]}", "choose another reject.io.port") from error
        return int(self._server.transport.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Stop listening."""
        self.thawed.set()
        await self._server.shutdown()

    def happen(self, at_ns: int, happenings: Iterable[Happening]) -> None:
        """Let the belt see what the PLC saw and was told in a scan."""
        self._belt.advance(at_ns)
        for one in happenings:
            if one.what == What.FIRED:
                self._belt.place(one.trigger_id, at_ns)
            elif one.what == What.UNASKED:
                self._belt.place(None, at_ns)
            elif one.what == What.TAKEN:
                self._belt.told(one.trigger_id, one.verdict)

    def report(self) -> dict[str, object]:
        """What happened on the belt, as plain values for JSON."""
        return self._belt.report()

    def _device(self) -> SimDevice:
        """The tables of the module, as far as anything is wired to them."""
        counter = (self._encoder.register if self._encoder else 0) + _COUNTER_WORDS
        holding = max(counter, (self._io.watchdog_register or 0) + 1)
        return SimDevice(
            self._io.device_id,
            simdata=(
                [_bits(self._io.coil)],
                [_bits(max(self._inputs(), default=0))],
                [SimData(0, count=holding, datatype=DataType.REGISTERS)],
                [SimData(0, count=counter, datatype=DataType.REGISTERS)],
            ),
            action=self._on_request,
        )

    def _inputs(self) -> list[int]:
        """Numbers of all inputs."""
        reject = self._reject
        parts = [one.input for one in (reject.eye, reject.confirm) if one is not None]
        others = (reject.bin_full_input, reject.air_low_input, reject.reset_input)
        return [*parts, *(one for one in others if one is not None)]

    async def _on_request(
        self,
        function: int,
        _start: int,
        address: int,
        _count: int,
        table: list[Any],
        written: list[Any] | None,
    ) -> ExcCodes | None:
        """Pass on what is written; put the belt's state into the table that is about to be read."""
        await self.thawed.wait()
        now_ns = self._clock()
        self._belt.advance(now_ns)
        watchdog = self._io.watchdog_register
        if watchdog is None or (function == _WRITE_REGISTERS and address == watchdog):
            self._belt.show_life(now_ns)
        if written is not None and function == _WRITE_COIL and address == self._io.coil:
            self._belt.switch(now_ns, is_on=bool(written[0]))
        if function == _READ_DISCRETE:
            self._fill_inputs(table)
        encoder = self._encoder
        if encoder and function == (_READ_INPUT if encoder.table == "input" else _READ_HOLDING):
            self._fill_counter(encoder, table)
        return None

    def _fill_inputs(self, table: list[Any]) -> None:
        active = set(self.active)
        if self._reject.eye is not None and self._belt.is_eye_covered:
            active.add(self._reject.eye.input)
        if self._reject.confirm is not None and self._belt.is_bin_covered:
            active.add(self._reject.confirm.input)
        for index in range(len(table)):
            bits = (number % _WORD_BITS for number in active if number // _WORD_BITS == index)
            table[index] = sum(1 << bit for bit in bits)

    def _fill_counter(self, encoder: ModbusEncoder, table: list[Any]) -> None:
        count, at = self._belt.count, encoder.register
        if encoder.bits == _WORD_BITS:
            table[at] = count
            return
        words = [count >> _WORD_BITS & _WORD, count & _WORD]
        if encoder.word_order == "low_first":
            words.reverse()
        table[at : at + _COUNTER_WORDS] = words


def _bits(last: int) -> SimData:
    """A table of bits up to and with one number."""
    words = last // _WORD_BITS + 1
    return SimData(0, values=[False] * (_WORD_BITS * words), datatype=DataType.BITS)
