"""EDGE pymodbus client: the station's register block by Modbus TCP.

One connection, one request at a time, no retries of its own (`retries=0`): a request that failed
closes the connection, so that a late answer never meets a later question, and the caller decides
what to do about it. Measured with pymodbus 3.16.1: an error answer does not raise (so each is
asked), and a write that timed out is carried out when a frozen server thaws.
"""

import logging
from collections.abc import Callable
from typing import Any

from pymodbus.client import ModbusTcpClient
from pymodbus.exceptions import ModbusException

from inspectd.errors import PlcFault
from inspectd.plc.registers import (
    HEAD,
    PLC,
    PROTOCOL_VERSION,
    TEST_CONSTANT,
    VERDICT,
    Group,
    Head,
    PlcPart,
    VerdictBlock,
    WordOrder,
    decode_head,
    decode_plc,
    decode_verdict,
    encode_head,
    encode_plc,
    encode_verdict,
)

__all__ = ["ModbusPeer"]

_ANSWER = "look at the PLC and the network between, or raise plc.timeout_ms"
_MAP = "compare the PLC's registers with `inspectd plc-map`"
_IDENTITY_WORDS = 3
"""Registers of test constant and version: the first of HEAD."""
_OTHER: dict[WordOrder, WordOrder] = {"high_first": "low_first", "low_first": "high_first"}


class ModbusPeer:
    """A PLC, or the simulator, that speaks Modbus TCP."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        device_id: int,
        base_register: int,
        word_order: WordOrder,
        timeout_ms: float,
    ) -> None:
        """Keep the address; nothing is opened before `connect`.

        Args:
            host: Better an address than a name: the look-up of a name has no time-out.
            port: TCP port.
            device_id: Modbus unit.
            base_register: First holding register of the station's block.
            word_order: Of 32-bit values.
            timeout_ms: For connecting, and for one request (an answer that comes in pieces may
                take twice as long).
        """
        logging.getLogger("pymodbus").setLevel(logging.CRITICAL)  # its errors reach us as values
        self._peer = f"{host}:{port}"
        self._base, self._order, self._device_id = base_register, word_order, device_id
        self._client = ModbusTcpClient(host, port=port, timeout=timeout_ms / 1000, retries=0)

    @property
    def is_connected(self) -> bool:
        """Whether requests can be made."""
        return bool(self._client.connected)

    def connect(self) -> None:
        """Connect, check the PLC's constant, write ours and read it back; see `Plc.connect`."""
        if self.is_connected:
            return
        if not self._guarded("no connection", self._client.connect):
            raise PlcFault(self._peer, "no connection", "look at the PLC, its address and port")
        try:
            self._check_theirs()
            self._check_ours()
        except PlcFault:
            self.close()
            raise

    def read_part(self) -> PlcPart:
        """See `Plc.read_part`."""
        return decode_plc(self._read(PLC), self._order)

    def read_verdict(self) -> VerdictBlock:
        """See `Plc.read_verdict`."""
        words = self._read(VERDICT)
        try:
            return decode_verdict(words, self._order)
        except ValueError as error:
            raise PlcFault(self._peer, f"the verdict block reads {words}", _MAP) from error

    def read_head(self) -> Head:
        """See `Plc.read_head`."""
        return decode_head(self._read(HEAD), self._order)

    def write_head(self, head: Head) -> None:
        """See `Plc.write_head`."""
        self._write(HEAD, encode_head(head, self._order))

    def write_verdict(self, block: VerdictBlock) -> None:
        """See `Plc.write_verdict`."""
        self._write(VERDICT, encode_verdict(block, self._order))

    def close(self) -> None:
        """See `Plc.close`."""
        self._client.close()  # type: ignore[no-untyped-call]

    def _check_theirs(self) -> None:
        """Make sure that the PLC's part is where we look, and in our word order."""
        words = self._read(PLC)
        part = decode_plc(words, self._order)
        if part.test_constant != TEST_CONSTANT:
            raise PlcFault(self._peer, *_diagnosis(words, self._order, self._base + PLC.offset))
        if part.protocol_version != PROTOCOL_VERSION:
            raise PlcFault(
                self._peer,
                f"it speaks version {part.protocol_version} of the map, we {PROTOCOL_VERSION}",
                "load the PLC program that belongs to this inspectd",
            )

    def _check_ours(self) -> None:
        """Make sure that what we write stays; status and heartbeat are left alone."""
        identity = encode_head(Head(), self._order)[:_IDENTITY_WORDS]
        self._write(HEAD, identity)
        if self._read(HEAD)[:_IDENTITY_WORDS] != identity:
            address = self._base + HEAD.offset
            raise PlcFault(
                self._peer,
                f"registers from {address} do not keep what is written to them",
                f"nothing else may write there; {_MAP}",
            )

    def _read(self, group: Group) -> list[int]:
        answer = self._asked(
            f"no answer to reading the group {group.name}",
            lambda: self._client.read_holding_registers(
                self._base + group.offset, count=group.words, device_id=self._device_id
            ),
        )
        words = list(answer.registers)
        if len(words) != group.words:
            self.close()
            raise PlcFault(self._peer, f"asked for {group.words} registers, got {len(words)}", _MAP)
        return words

    def _write(self, group: Group, words: list[int]) -> None:
        self._asked(
            f"no confirmation of writing the group {group.name}",
            lambda: self._client.write_registers(
                self._base + group.offset, words, device_id=self._device_id
            ),
        )

    def _asked(self, complaint: str, request: Callable[[], Any]) -> Any:
        """Make one request; whatever goes wrong closes the connection and becomes `PlcFault`."""
        answer = self._guarded(complaint, request)
        if answer.isError():
            self.close()
            raise PlcFault(self._peer, f"{complaint}: error answer {answer.exception_code}", _MAP)
        return answer

    def _guarded(self, complaint: str, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except (ModbusException, OSError) as error:
            self.close()
            raise PlcFault(self._peer, complaint, _ANSWER) from error


def _diagnosis(words: list[int], order: WordOrder, address: int) -> tuple[str, str]:
    """Say what is wrong with the PLC's test constant, and what to do."""
    if decode_plc(words, _OTHER[order]).test_constant == TEST_CONSTANT:
        return (
            f"its test constant at {address} has its two words exchanged",
            f"set plc.word_order: {_OTHER[order]}",
        )
    shift = _shift(words, order)
    if shift:
        return (
            f"its test constant lies {shift:+d} registers from where it should",
            f"move the PLC's block, or change plc.base_register by {shift:+d}",
        )
    found = f"{words[0]:#06x} {words[1]:#06x}"
    return (
        f"registers {address} and {address + 1} hold {found}, not {TEST_CONSTANT:#010x}",
        f"let the PLC write its test constant when it starts; {_MAP}",
    )


def _shift(words: list[int], order: WordOrder) -> int:
    """How far from its place the PLC's part lies; 0 when it is nowhere to be seen."""
    constant_and_version = encode_plc(PlcPart(), order)[:_IDENTITY_WORDS]
    if words[:2] == constant_and_version[1:]:
        return -1  # the usual 0-based, 1-based confusion; the first word is out of sight
    for shift in range(1, len(words) - 1):
        if words[shift : shift + 2] == constant_and_version[:2]:
            return shift
    return 0
