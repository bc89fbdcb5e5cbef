"""EDGE python-snap7: the station's registers in a data block of a Siemens PLC.

A register is a word of the data block, high byte first; a 32-bit value is a double word. Each group
goes over in one request of one item, so it is never half written by us.

From python-snap7 (3.3, pure Python) come the codec (`S7Protocol`) and the transport
(`ISOTCPConnection`), not the `Client` above them: that one waits 5 s for a silent PLC whatever it
is told, reads on after a stale answer, and cuts what does not fit one PDU into several writes.
"""

import struct
import time
from collections.abc import Callable
from typing import Any, TypeVar

from snap7.connection import ISOTCPConnection
from snap7.datatypes import S7Area, S7WordLen
from snap7.error import S7ConnectionError, S7Error, S7TimeoutError
from snap7.s7protocol import S7Protocol

from inspectd.errors import PlcFault
from inspectd.plc.registers import PLC, TEST_CONSTANT, Group, WordOrder
from inspectd.stages.sink.block import MAP, BlockPeer
from inspectd.stages.sink.constant import Finding, Slip

__all__ = ["S7Peer", "S7Wire"]

_T = TypeVar("_T")

_ANSWER = "look at the PLC and the network between, or raise plc.timeout_ms"
_ADDRESS = "look at the PLC, its address and port, and at plc.rack and plc.slot"
_REFUSED = (
    "the data block must exist (plc.db), reach to its last byte, have optimised access off, and "
    "the CPU must permit PUT/GET"
)
_LOCAL_TSAP, _PG_CONNECTION = 0x0100, 0x0100
"""Calling and called TSAP of a PG connection; the low byte of the called one is rack and slot."""
_PDU_BYTES = 480
"""Asked for; the PLC answers what it can do (240 for an S7-1200)."""
_WRITE_OVERHEAD_BYTES = 28
"""Header 10, parameters 14, data header 4: what a write request holds beside its data."""
_SLIPS = (S7Error, OSError, struct.error, ValueError, IndexError, KeyError, TypeError)
"""What the library lets out for a connection that broke, or an answer that is none."""


class S7Peer(BlockPeer):
    """A Siemens PLC that lets its data blocks be read and written (PUT/GET)."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        rack: int,
        slot: int,
        db: int,
        start_byte: int,
        timeout_ms: float,
    ) -> None:
        """Keep the address; nothing is opened before `connect`.

        Args:
            host: Better an address than a name: the look-up of a name has no time-out.
            port: TCP port.
            rack: Of the CPU.
            slot: Of the CPU.
            db: Number of the data block.
            start_byte: First byte of the station's registers in it.
            timeout_ms: For one request; connecting takes two of them at most.
        """
        super().__init__(
            S7Wire(
                host, port, tsap=rack << 5 | slot, db=db, start=start_byte, timeout_ms=timeout_ms
            )
        )


class S7Wire:
    """Words of a data block by S7 read and write; see `inspectd.stages.sink.wire.Wire`."""

    def __init__(
        self, host: str, port: int, *, tsap: int, db: int, start: int, timeout_ms: float
    ) -> None:
        self._host, self._port, self._tsap = host, port, _PG_CONNECTION | tsap
        self._db, self._start = db, start
        self._timeout_s = timeout_ms / 1000
        self._transport: _Transport | None = None
        self._protocol = S7Protocol()
        self._pdu_bytes = 0

    @property
    def peer(self) -> str:
        """See `Wire.peer`."""
        return f"{self._host}:{self._port}"

    @property
    def word_order(self) -> WordOrder:
        """See `Wire.word_order`: S7 keeps the high word first."""
        return "high_first"

    @property
    def is_open(self) -> bool:
        """See `Wire.is_open`."""
        return self._transport is not None

    def open(self) -> None:
        """See `Wire.open`."""
        self.close()
        self._protocol = S7Protocol()
        self._transport = _Transport(self._host, self._port, self._tsap, self._timeout_s)
        self._guarded("no connection", _ADDRESS, self._transport.open)
        request = self._protocol.build_setup_communication_request(pdu_length=_PDU_BYTES)
        answer = self._asked("it agreed on no length of messages", request, _setup)
        self._pdu_bytes = int(answer["pdu_length"])

    def read(self, group: Group) -> list[int]:
        """See `Wire.read`."""
        count = 2 * group.words
        request = self._protocol.build_read_request(
            S7Area.DB, self._db, self._byte(group), S7WordLen.BYTE, count
        )
        data = self._asked(
            f"no answer to reading {self._place(group, count)}",
            request,
            lambda answer: bytes(self._protocol.extract_read_data(answer, S7WordLen.BYTE, count)),
        )
        return list(struct.unpack(f">{group.words}H", data))

    def write(self, group: Group, words: list[int]) -> None:
        """See `Wire.write`."""
        data = struct.pack(f">{len(words)}H", *words)
        if len(data) + _WRITE_OVERHEAD_BYTES > self._pdu_bytes:
            self.close()
            raise PlcFault(
                self.peer,
                f"it takes messages of {self._pdu_bytes} bytes, too short for the group "
                f"{group.name} in one piece",
                "use a CPU or communication processor with longer ones (240 is usual)",
            )
        request = self._protocol.build_write_request(
            S7Area.DB, self._db, self._byte(group), S7WordLen.BYTE, data
        )
        self._asked(
            f"no confirmation of writing {self._place(group, len(data))}",
            request,
            self._protocol.check_write_response,
        )

    def close(self) -> None:
        """See `Wire.close`."""
        if self._transport is not None:
            self._transport.disconnect()
            self._transport = None

    def explain(self, finding: Finding) -> tuple[str, str]:
        """See `Wire.explain`."""
        place = f"DB{self._db}.DBD{self._byte(PLC)}"
        what = f"its test constant at {place}"
        match finding.slip:
            case Slip.WORDS_EXCHANGED:
                return f"{what} has its two words exchanged", f"let it be one UDInt; {MAP}"
            case Slip.BYTES_EXCHANGED:
                return f"{what} has its bytes exchanged", f"let it be one UDInt, unswapped; {MAP}"
            case Slip.SHIFTED:
                shift = f"{2 * finding.shift:+d}"
                return (
                    f"its test constant lies {shift} bytes from where it should ({place})",
                    f"move the members of DB{self._db}, or change plc.start_byte by {shift}",
                )
            case Slip.ABSENT:
                return (
                    f"{place} holds {finding.found:#010x}, not {TEST_CONSTANT:#010x}",
                    f"let the PLC write its test constant when it starts; {MAP}",
                )

    def _byte(self, group: Group) -> int:
        return self._start + 2 * group.offset

    def _place(self, group: Group, count: int) -> str:
        first = self._byte(group)
        return f"the group {group.name} (DB{self._db} bytes {first} to {first + count - 1})"

    def _asked(
        self, complaint: str, request: bytes, understood: Callable[[dict[str, Any]], _T]
    ) -> _T:
        """Send one request and understand its answer; a failure closes and is a `PlcFault`."""
        transport = self._transport
        if transport is None:
            raise PlcFault(self.peer, complaint, "connect first")

        def exchange() -> _T:
            transport.ask(request)
            answer = self._protocol.parse_response(transport.receive_data())
            self._protocol.validate_pdu_reference(answer["sequence"])
            return understood(answer)

        return self._guarded(complaint, _ANSWER, exchange)

    def _guarded(self, complaint: str, remedy: str, call: Callable[[], _T]) -> _T:
        try:
            return call()
        except (S7ConnectionError, S7TimeoutError, OSError) as error:
            self.close()
            raise PlcFault(self.peer, complaint, remedy) from error
        except _SLIPS as error:
            self.close()
            raise PlcFault(self.peer, f"{complaint}: {error}", _REFUSED) from error


class _Transport(ISOTCPConnection):
    """ISO on TCP whose waits end: the library bounds each piece of an answer, this all of it."""

    def __init__(self, host: str, port: int, tsap: int, timeout_s: float) -> None:
        super().__init__(host, port, local_tsap=_LOCAL_TSAP, remote_tsap=tsap)
        self._timeout_s = timeout_s
        self._until_s = 0.0

    def open(self) -> None:
        """Connect, by TCP and then by ISO, within the time-out together."""
        self._until_s = time.monotonic() + self._timeout_s
        self.connect(timeout=self._timeout_s)

    def ask(self, request: bytes) -> None:
        """Send a request; its answer must be whole within the time-out from now."""
        self._until_s = time.monotonic() + self._timeout_s
        if self.socket is not None:
            self.socket.settimeout(self._timeout_s)
        self.send_data(request)

    def _recv_exact(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            data += self._received(size - len(data))
        return data

    def _received(self, size: int) -> bytes:
        left_s = self._until_s - time.monotonic()
        if self.socket is None or left_s <= 0:
            self.connected = False
            raise S7TimeoutError("no whole answer in time")
        self.socket.settimeout(left_s)
        try:
            piece = self.socket.recv(size)
        except TimeoutError as error:
            self.connected = False
            raise S7TimeoutError("no answer in time") from error
        if not piece:
            self.connected = False
            raise S7ConnectionError("the PLC closed the connection")
        return piece


def _setup(answer: dict[str, Any]) -> dict[str, Any]:
    parameters = answer["parameters"]
    if not isinstance(parameters, dict) or "pdu_length" not in parameters:
        raise ValueError("no length in its answer")
    return parameters
