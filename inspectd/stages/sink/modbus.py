"""EDGE pymodbus client: the station's register block by Modbus TCP.

One connection, one request at a time, no retries of its own (`retries=0`): a request that failed
closes the connection, so that a late answer never meets a later question, and the caller decides
what to do about it. Measured with pymodbus 3.16.1: an error answer does not raise (so each is
asked), and a write that timed out is carried out when a frozen server thaws.
"""

import logging
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

from pymodbus.client import ModbusTcpClient
from pymodbus.exceptions import ModbusException

from inspectd.errors import PlcFault
from inspectd.plc.registers import PLC, TEST_CONSTANT, Group, WordOrder
from inspectd.stages.sink.block import MAP, BlockPeer
from inspectd.stages.sink.constant import OTHER_ORDER, Finding, Slip, exchanged

__all__ = ["ModbusPeer", "ModbusWire"]

ByteOrder: TypeAlias = Literal["big", "little"]

_ANSWER = "look at the PLC and the network between, or raise plc.timeout_ms"


class ModbusPeer(BlockPeer):
    """A PLC, or the simulator, that speaks Modbus TCP."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        device_id: int,
        base_register: int,
        word_order: WordOrder,
        byte_order: ByteOrder = "big",
        timeout_ms: float,
    ) -> None:
        """Keep the address; nothing is opened before `connect`.

        Args:
            host: Better an address than a name: the look-up of a name has no time-out.
            port: TCP port.
            device_id: Modbus unit.
            base_register: First holding register of the station's block.
            word_order: Of 32-bit values.
            byte_order: Within a register; Modbus' own is `big`.
            timeout_ms: For connecting, and for one request (an answer that comes in pieces may
                take twice as long).
        """
        logging.getLogger("pymodbus").setLevel(logging.CRITICAL)  # its errors reach us as values
        client = ModbusTcpClient(host, port=port, timeout=timeout_ms / 1000, retries=0)
        orders = Orders(word_order, byte_order)
        super().__init__(ModbusWire(client, f"{host}:{port}", device_id, base_register, orders))


class Orders(NamedTuple):
    """How this PLC lays values into registers."""

    words: WordOrder
    bytes: ByteOrder

    def remedy(self, found: int) -> str:
        """Which keys to set when the test constant reads so, with its bytes exchanged."""
        key = f"set plc.byte_order: {'little' if self.bytes == 'big' else 'big'}"
        low, high = exchanged(found & 0xFFFF), exchanged(found >> 16)
        if high << 16 | low == TEST_CONSTANT:
            return key
        return f"{key} and plc.word_order: {OTHER_ORDER[self.words]}"


class ModbusWire:
    """Holding registers by FC3 and FC16; see `inspectd.stages.sink.wire.Wire`."""

    def __init__(
        self,
        client: ModbusTcpClient,
        peer: str,
        device_id: int,
        base_register: int,
        orders: Orders,
    ) -> None:
        self._client, self._peer, self._orders = client, peer, orders
        self._base, self._device_id = base_register, device_id

    @property
    def peer(self) -> str:
        """See `Wire.peer`."""
        return self._peer

    @property
    def word_order(self) -> WordOrder:
        """See `Wire.word_order`."""
        return self._orders.words

    @property
    def is_open(self) -> bool:
        """See `Wire.is_open`."""
        return bool(self._client.connected)

    def open(self) -> None:
        """See `Wire.open`."""
        if not self._guarded("no connection", self._client.connect):
            raise PlcFault(self._peer, "no connection", "look at the PLC, its address and port")

    def read(self, group: Group) -> list[int]:
        """See `Wire.read`."""
        answer = self._asked(
            f"no answer to reading the group {group.name}",
            lambda: self._client.read_holding_registers(
                self._base + group.offset, count=group.words, device_id=self._device_id
            ),
        )
        words = list(answer.registers)
        if len(words) != group.words:
            self.close()
            raise PlcFault(self._peer, f"asked for {group.words} registers, got {len(words)}", MAP)
        return self._ordered(words)

    def write(self, group: Group, words: list[int]) -> None:
        """See `Wire.write`."""
        self._asked(
            f"no confirmation of writing the group {group.name}",
            lambda: self._client.write_registers(
                self._base + group.offset, self._ordered(words), device_id=self._device_id
            ),
        )

    def close(self) -> None:
        """See `Wire.close`."""
        self._client.close()  # type: ignore[no-untyped-call]

    def explain(self, finding: Finding) -> tuple[str, str]:
        """See `Wire.explain`."""
        address = self._base + PLC.offset
        match finding.slip:
            case Slip.WORDS_EXCHANGED:
                return (
                    f"its test constant at {address} has its two words exchanged",
                    f"set plc.word_order: {OTHER_ORDER[self._orders.words]}",
                )
            case Slip.BYTES_EXCHANGED:
                return (
                    f"its test constant at {address} has its bytes exchanged within the words",
                    self._orders.remedy(finding.found),
                )
            case Slip.SHIFTED:
                shift = f"{finding.shift:+d}"
                return (
                    f"its test constant lies {shift} registers from where it should",
                    f"move the PLC's block, or change plc.base_register by {shift}",
                )
            case Slip.ABSENT:
                places = f"registers {address} and {address + 1}"
                return (
                    f"{places} hold {finding.found:#010x}, not {TEST_CONSTANT:#010x}",
                    f"let the PLC write its test constant when it starts; {MAP}",
                )

    def _ordered(self, words: list[int]) -> list[int]:
        """Registers as they go over this wire, and back."""
        return words if self._orders.bytes == "big" else [exchanged(word) for word in words]

    def _asked(self, complaint: str, request: Callable[[], Any]) -> Any:
        """Make one request; whatever goes wrong closes the connection and becomes `PlcFault`."""
        answer = self._guarded(complaint, request)
        if answer.isError():
            self.close()
            raise PlcFault(self._peer, f"{complaint}: error answer {answer.exception_code}", MAP)
        return answer

    def _guarded(self, complaint: str, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except (ModbusException, OSError) as error:
            self.close()
            raise PlcFault(self._peer, complaint, _ANSWER) from error
