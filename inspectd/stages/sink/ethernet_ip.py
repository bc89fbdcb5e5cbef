"""EDGE pylogix: the station's registers as tags of a Rockwell Logix controller.

Each group is one controller tag, an array of DINT with one element for each register of the map,
also for those of 32 bits: `Inspectd_verdict : DINT[4]`. One request reads or writes the whole
array, low byte first as CIP has it; there is no order of words that could be wrong. Unsigned 32-bit
values keep their bits, so a counter above 2147483647 shows as negative in the controller.

pylogix 1.1.6 is given a connection of ours, because its own one spins for ever when the controller
closes in the middle of an answer, waits for each piece of an answer anew, and takes any answer for
that of the last request.
"""

import struct
import time
from collections.abc import Callable
from typing import Any

from pylogix.eip import PLC as Controller  # noqa: N811 - PLC is a group of registers here
from pylogix.lgx_comm import Connection

from inspectd.errors import PlcFault
from inspectd.plc.registers import GROUPS, PLC, TEST_CONSTANT, Group, WordOrder
from inspectd.stages.sink.block import MAP, BlockPeer
from inspectd.stages.sink.constant import Finding, Slip

__all__ = ["EthernetIpPeer", "EthernetIpWire"]

_ANSWER = "look at the PLC and the network between, or raise plc.timeout_ms"
_ADDRESS = "look at the PLC, its address and port, and at plc.slot"
_DINT = 0xC4
"""CIP's code of the type (ODVA, CIP Volume 1, appendix C)."""
_CONNECTION_BYTES = 504
"""Size of a standard connection (Forward Open): every controller has it, every group fits."""
_HEADER = struct.Struct("<HH")
"""Command and length of an encapsulated message."""
_HEADER_BYTES = 24
_CONNECTED = 0x70
"""SendUnitData: a message on a connection, with a sequence count at its start."""
_SEQUENCE_END = 22
"""Where that ends, behind handle, time-out, number of items, address item and type of the other."""
_WORD, _DWORD = 0xFFFF, 0xFFFF_FFFF
_SUCCESS, _LOST = "Success", ("Connection failure", "Connection lost")
_SLIPS = (OSError, struct.error, KeyError, TypeError, IndexError, ValueError, AttributeError)
"""What the library lets out for a connection that broke, or an answer that is none."""


class EthernetIpPeer(BlockPeer):
    """A Logix controller with one array of DINT for each group of registers."""

    def __init__(
        self, host: str, port: int, *, slot: int, tag_prefix: str, timeout_ms: float
    ) -> None:
        """Keep the address; nothing is opened before `connect`.

        Args:
            host: Better an address than a name: the look-up of a name has no time-out.
            port: TCP port.
            slot: Of the controller in its chassis.
            tag_prefix: How the names of the tags begin.
            timeout_ms: For one request, and for each step of connecting.
        """
        super().__init__(EthernetIpWire(host, port, slot, tag_prefix, timeout_ms / 1000))


class EthernetIpWire:
    """Arrays of DINT by CIP read and write; see `inspectd.stages.sink.wire.Wire`."""

    def __init__(self, host: str, port: int, slot: int, tag_prefix: str, timeout_s: float) -> None:
        self._host, self._port, self._slot = host, port, slot
        self._prefix, self._timeout_s = tag_prefix, timeout_s
        self._controller: Any = None

    @property
    def peer(self) -> str:
        """See `Wire.peer`."""
        return f"{self._host}:{self._port}"

    @property
    def word_order(self) -> WordOrder:
        """See `Wire.word_order`: how elements are cut into words here; nobody else sees it."""
        return "high_first"

    @property
    def is_open(self) -> bool:
        """See `Wire.is_open`."""
        return self._controller is not None

    def open(self) -> None:
        """See `Wire.open`; also make sure that the tags are what they should be."""
        self.close()
        controller = Controller(self._host, self._slot, self._timeout_s, port=self._port)
        controller.conn = _Connection(controller, self._timeout_s)
        self._controller = controller
        controller.conn.begin()
        is_open, _why = self._guarded("no connection", _ADDRESS, controller.conn.connect)
        if not is_open:
            self._abort()
            raise PlcFault(self.peer, "no connection", _ADDRESS)
        for group in GROUPS:
            self.read(group)
            self._check_type(group)

    def read(self, group: Group) -> list[int]:
        """See `Wire.read`."""
        tag, count = self._tag(group), len(group.registers)
        answer = self._asked(
            f"no answer to reading {tag}", tag, lambda plc: plc.Read(tag, count), count
        )
        values = answer.Value if isinstance(answer.Value, list) else [answer.Value]
        if len(values) != count or not all(isinstance(value, int) for value in values):
            self._abort()
            raise PlcFault(self.peer, f"{tag} reads {values}", f"make it DINT[{count}]; {MAP}")
        return _to_words(group, values)

    def write(self, group: Group, words: list[int]) -> None:
        """See `Wire.write`."""
        tag, values = self._tag(group), _to_values(group, words)
        self._asked(
            f"no confirmation of writing {tag}",
            tag,
            lambda plc: plc.Write(tag, values),
            len(group.registers),
        )

    def close(self) -> None:
        """See `Wire.close`; a controller that answers is told, so that it frees the connection."""
        if self._controller is not None:
            self._controller.conn.begin()
            self._controller.conn.close()
            self._controller = None

    def explain(self, finding: Finding) -> tuple[str, str]:
        """See `Wire.explain`."""
        element = f"{self._tag(PLC)}[0]"
        what = f"{element} holds {finding.found:#010x}, not {TEST_CONSTANT:#010x}"
        if finding.slip is Slip.WORDS_EXCHANGED:
            return f"{what}: its two words are exchanged", "write it as one DINT, not as two INT"
        if finding.slip is Slip.BYTES_EXCHANGED:
            return f"{what}: its bytes are exchanged", "write it as one DINT, without swapping"
        return what, f"let the PLC write its test constant when it starts; {MAP}"

    def _tag(self, group: Group) -> str:
        return f"{self._prefix}_{group.name}"

    def _check_type(self, group: Group) -> None:
        """Make sure that a tag is an array of DINT; pylogix has learnt its type by reading it."""
        tag, count = self._tag(group), len(group.registers)
        code = self._controller.KnownTags[tag][0]
        if code != _DINT:
            names = self._controller.CIPTypes
            name = names[code][1] if code in names else f"{code:#04x}"
            self._abort()
            raise PlcFault(self.peer, f"{tag} is made of {name}", f"make it DINT[{count}]; {MAP}")

    def _asked(self, complaint: str, tag: str, request: Callable[[Any], Any], count: int) -> Any:
        """Make one request; whatever goes wrong ends the connection and becomes `PlcFault`."""
        controller = self._controller
        if controller is None:
            raise PlcFault(self.peer, complaint, "connect first")
        controller.conn.begin()
        answer = self._guarded(complaint, _ANSWER, lambda: request(controller))
        if answer.Status in _LOST:
            self._abort()
            raise PlcFault(self.peer, complaint, _ANSWER)
        if answer.Status != _SUCCESS:
            self._abort()
            what = f"{complaint}: error answer `{answer.Status}`"
            remedy = f"the controller needs the tag {tag} : DINT[{count}], writable from outside"
            raise PlcFault(self.peer, what, f"{remedy}; {MAP}")
        return answer

    def _guarded(self, complaint: str, remedy: str, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except _SLIPS as error:
            self._abort()
            raise PlcFault(self.peer, complaint, remedy) from error

    def _abort(self) -> None:
        """Drop the connection without a word: what does not answer is not asked again."""
        if self._controller is not None:
            self._controller.conn.drop()
            self._controller = None


class _Connection(Connection):  # type: ignore[misc]  # an untyped library
    """pylogix' connection, with one time-out for a whole answer and an end when the peer ends."""

    def __init__(self, controller: Any, timeout_s: float) -> None:
        _close_sockets(controller.conn)  # the library has made one already
        super().__init__(controller)
        _close_sockets(self)
        self.ConnectionSize = _CONNECTION_BYTES
        self._timeout_s = timeout_s
        self._until_s = 0.0

    def begin(self) -> None:
        """Start the time of a request."""
        self._until_s = time.monotonic() + self._timeout_s

    def drop(self) -> None:
        """Close the socket, and nothing else."""
        self.SocketConnected = self._connected = self._registered = False
        self.Socket.close()

    def receive_data(self) -> bytes | None:
        """Answer one whole message; None: it did not come, or not whole, in time."""
        header = self._received(_HEADER_BYTES)
        if header is None:
            return None
        command, size = _HEADER.unpack_from(header)
        body = self._received(size)
        if body is None or (command == _CONNECTED and not self._is_next(body)):
            return None
        return header + body

    def _is_next(self, body: bytes) -> bool:
        """Whether a connected message answers the last request: it repeats its sequence."""
        if len(body) < _SEQUENCE_END:
            return False
        sent = (int(self._sequence_counter) - 1) & _WORD
        return int.from_bytes(body[_SEQUENCE_END - 2 : _SEQUENCE_END], "little") == sent

    def _received(self, size: int) -> bytes | None:
        data = b""
        while len(data) < size:
            left_s = self._until_s - time.monotonic()
            if left_s <= 0:
                return None
            self.Socket.settimeout(left_s)
            try:
                piece = self.Socket.recv(size - len(data))
            except OSError:
                return None
            if not piece:
                return None
            data += piece
        return data


def _close_sockets(connection: Connection) -> None:
    """Close the two sockets that pylogix opens before anybody wants to connect."""
    connection.Socket.close()
    connection.msg_socket.close()


def _to_words(group: Group, values: list[int]) -> list[int]:
    """Elements of an array as the registers of a group, high word first."""
    words: list[int] = []
    for register, value in zip(group.registers, values, strict=True):
        words += [value >> 16 & _WORD, value & _WORD] if register.words > 1 else [value & _WORD]
    return words


def _to_values(group: Group, words: list[int]) -> list[int]:
    """The first registers of a group as elements of an array, each a signed 32-bit number."""
    values: list[int] = []
    for register in group.registers:
        taken, words = words[: register.words], words[register.words :]
        if not taken:
            break
        value = taken[0] << 16 | taken[1] if register.words > 1 else taken[0]
        values.append(value - (_DWORD + 1) if value > _DWORD >> 1 else value)
    return values
