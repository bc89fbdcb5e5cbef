"""EDGE pymodbus client: a digital I/O module by Modbus TCP; one request at a time, none twice."""

import logging
from collections.abc import Callable, Sequence
from typing import Any

from pymodbus.client import ModbusTcpClient
from pymodbus.exceptions import ModbusException

from inspectd.config.schema import ModbusEncoder, ModbusIo
from inspectd.errors import IoFault
from inspectd.stages.reject.port import Sample

__all__ = ["ModbusModule"]

_ANSWER = "look at the module and the network between, or raise reject.io.timeout_ms"
_ADDRESS = "compare the addresses under `reject` with the module's manual"
_LIFE_LIMIT = 0xFFFF


class ModbusModule:
    """An `Io` behind a wire."""

    def __init__(
        self,
        io: ModbusIo,
        port: int,
        encoder: ModbusEncoder | None,
        inputs: Sequence[int],
        clock: Callable[[], int],
    ) -> None:
        """Keep the addresses; nothing is opened before `connect`.

        Args:
            io: Where the module is.
            port: TCP port (the simulator's, when it took a free one).
            encoder: The counter card, if there is one.
            inputs: Numbers of the discrete inputs that are looked at.
            clock: Monotonic nanoseconds.
        """
        logging.getLogger("pymodbus").setLevel(logging.CRITICAL)  # its errors reach us as values
        self._io, self._encoder, self._clock = io, encoder, clock
        self._inputs = sorted(inputs)
        self._peer = f"{io.host}:{port}"
        self._is_passing = False
        self._life = 0
        self._client = ModbusTcpClient(io.host, port=port, timeout=io.timeout_ms / 1000, retries=0)

    @property
    def is_connected(self) -> bool:
        """See `Io.is_connected`."""
        return bool(self._client.connected)

    def connect(self) -> None:
        """See `Io.connect`."""
        if not self._guarded("no connection", self._client.connect):
            raise IoFault(self._peer, "no connection", "look at the module, its address and port")
        self.switch(is_passing=False)
        self.show_life()

    def sample(self) -> Sample:
        """See `Io.sample`; at most two requests."""
        before_ns = self._clock()
        active = self._active()
        middle_ns = self._clock()
        count = self._count()
        after_ns = self._clock()
        return Sample(
            count,
            counted_ns=(middle_ns + after_ns) // 2,
            spread_ns=after_ns - middle_ns,
            active=active,
            active_ns=(before_ns + middle_ns) // 2,
        )

    def switch(self, *, is_passing: bool) -> None:
        """See `Io.switch`."""
        self._is_passing = is_passing
        coil, device = self._io.coil, self._io.device_id
        self._asked(
            f"no confirmation of writing coil {coil}",
            lambda: self._client.write_coil(coil, is_passing, device_id=device),
        )

    def show_life(self) -> None:
        """See `Io.show_life`.

        The output is told again: a module that was frozen may have carried out an old write, also
        one of an earlier life, over the last one. Without a register that is all that is needed.
        """
        self.switch(is_passing=self._is_passing)
        register = self._io.watchdog_register
        if register is None:
            return
        self._life = self._life % _LIFE_LIMIT + 1
        device = self._io.device_id
        self._asked(
            f"no confirmation of writing the watchdog register {register}",
            lambda: self._client.write_registers(register, [self._life], device_id=device),
        )

    def close(self) -> None:
        """See `Io.close`."""
        if self.is_connected:
            try:
                self.switch(is_passing=False)
            except IoFault:
                return
        self._hang_up()

    def _active(self) -> frozenset[int]:
        if not self._inputs:
            return frozenset()
        first, last = self._inputs[0], self._inputs[-1]
        answer = self._asked(
            f"no answer to reading the discrete inputs {first} to {last}",
            lambda: self._client.read_discrete_inputs(
                first, count=last - first + 1, device_id=self._io.device_id
            ),
        )
        bits = list(answer.bits)
        if len(bits) <= last - first:
            self._hang_up()
            raise IoFault(self._peer, f"{len(bits)} discrete inputs came back", _ADDRESS)
        return frozenset(number for number in self._inputs if bits[number - first])

    def _count(self) -> int | None:
        encoder = self._encoder
        if encoder is None:
            return None
        words = encoder.bits // 16
        is_input = encoder.table == "input"
        read = (
            self._client.read_input_registers if is_input else self._client.read_holding_registers
        )
        answer = self._asked(
            f"no answer to reading the counter at {encoder.table} register {encoder.register}",
            lambda: read(encoder.register, count=words, device_id=self._io.device_id),
        )
        got = list(answer.registers)
        if len(got) != words:
            self._hang_up()
            raise IoFault(self._peer, f"{len(got)} registers of the counter came back", _ADDRESS)
        if encoder.word_order == "low_first":
            got.reverse()
        return int(got[0]) if words == 1 else int(got[0] << 16 | got[1])

    def _asked(self, complaint: str, request: Callable[[], Any]) -> Any:
        """Make one request; whatever goes wrong closes the connection and becomes `IoFault`."""
        answer = self._guarded(complaint, request)
        if answer.isError():
            self._hang_up()
            raise IoFault(
                self._peer, f"{complaint}: error answer {answer.exception_code}", _ADDRESS
            )
        return answer

    def _guarded(self, complaint: str, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except (ModbusException, OSError) as error:
            self._hang_up()
            raise IoFault(self._peer, complaint, _ANSWER) from error

    def _hang_up(self) -> None:
        self._client.close()  # type: ignore[no-untyped-call]
