"""The station's values in our own OPC UA server, which is another process: the sink's side.

Two processes, because the server's event loop belongs to whoever is connected: a client that
browses, or one more certificate, must not hold the sink up. Between them runs a local socket with
packets: the sink sends a group, the server answers with a snapshot of all groups, and sends one
whenever the PLC has written. A write is confirmed when a snapshot shows it: from then on the PLC
can read it.

    packet    number of the group (1 byte), words (2 bytes each, little-endian)
    snapshot  1 when a PLC is logged in, else 0 (1 byte), the words of all groups
"""

import os
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn

from inspectd.errors import PlcFault
from inspectd.plc.nodes import WORD_ORDER
from inspectd.plc.registers import GROUPS, TEST_CONSTANT, Group, WordOrder
from inspectd.stages.sink.block import BlockPeer
from inspectd.stages.sink.constant import Finding

__all__ = [
    "PACKET_MAX_BYTES",
    "ServedPeer",
    "ServedWire",
    "Snapshot",
    "is_ours",
    "packet_of",
    "road_of",
    "snapshot_bytes",
    "snapshot_in",
    "write_in",
]

PACKET_MAX_BYTES = 4096
_PERIODS = 3
"""The server sends a snapshot every 50 ms; `timeout_ms` without one, and never less than this many
of them, means that it stands still."""
SNAPSHOT_S = 0.05
_WORD_BYTES = 2
_CREDENTIALS = struct.Struct("3i")
"""`struct ucred`: process, user, group (unix(7))."""


class Snapshot(NamedTuple):
    """All values at one moment."""

    is_plc_there: bool
    """A client is logged in that has written the PLC's part."""
    words: Mapping[str, tuple[int, ...]]
    """By name of the group."""


def road_of(run_id: str, station: int) -> str:
    """Name of the socket: abstract, so it is in no folder and dies with its process."""
    return f"\0inspectd-{run_id}-{station}-opcua-values"


def is_ours(connection: socket.socket) -> bool:
    """Whether the process at the other end runs as the same user."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(raw)[1]) == os.getuid()


def packet_of(group: Group, words: Sequence[int]) -> bytes:
    """The first words of a group, to be written."""
    return struct.pack(f"<B{len(words)}H", GROUPS.index(group), *words)


def write_in(packet: bytes) -> tuple[Group, list[int]]:
    """What is to be written.

    Raises:
        ValueError: It is no packet of ours.
    """
    if len(packet) % _WORD_BYTES != 1 or packet[0] >= len(GROUPS):
        raise ValueError("no packet of ours")
    words = list(struct.unpack(f"<{len(packet) // _WORD_BYTES}H", packet[1:]))
    if len(words) > GROUPS[packet[0]].words:
        raise ValueError("more words than the group has")
    return GROUPS[packet[0]], words


def snapshot_bytes(snapshot: Snapshot) -> bytes:
    """A snapshot as a packet."""
    words = [word for group in GROUPS for word in snapshot.words[group.name]]
    return struct.pack(f"<B{len(words)}H", snapshot.is_plc_there, *words)


def snapshot_in(packet: bytes) -> Snapshot:
    """A packet as a snapshot.

    Raises:
        ValueError: It is none of ours.
    """
    total = sum(group.words for group in GROUPS)
    if len(packet) != 1 + _WORD_BYTES * total:
        raise ValueError("no snapshot of ours")
    is_plc_there, *words = struct.unpack(f"<B{total}H", packet)
    by_group: dict[str, tuple[int, ...]] = {}
    at = 0
    for group in GROUPS:
        by_group[group.name] = tuple(words[at : at + group.words])
        at += group.words
    return Snapshot(bool(is_plc_there), by_group)


class ServedPeer(BlockPeer):
    """The PLC as a client of our own OPC UA server."""

    def __init__(self, road: str, label: str, timeout_ms: float) -> None:
        """Keep the name of the socket; nothing is opened before `connect`.

        Args:
            road: See `road_of`.
            label: What the server is called in faults.
            timeout_ms: For one request.
        """
        super().__init__(ServedWire(road, label, timeout_ms))


class ServedWire:
    """Packets and snapshots; see `inspectd.stages.sink.wire.Wire`."""

    def __init__(self, road: str, label: str, timeout_ms: float) -> None:
        self._road, self._label, self._timeout_s = road, label, timeout_ms / 1000
        self._silence_s = max(self._timeout_s, _PERIODS * SNAPSHOT_S)
        self._socket: socket.socket | None = None
        self._snapshot = Snapshot(is_plc_there=False, words={})
        self._heard_s = 0.0

    @property
    def peer(self) -> str:
        """See `Wire.peer`."""
        return self._label

    @property
    def word_order(self) -> WordOrder:
        """See `Wire.word_order`; no word of a value is ever seen by the PLC."""
        return WORD_ORDER

    @property
    def is_open(self) -> bool:
        """See `Wire.is_open`."""
        return self._socket is not None

    def open(self) -> None:
        """See `Wire.open`: the server is there, and a PLC is logged in."""
        self.close()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(self._timeout_s)
        try:
            self._socket.connect(self._road)
            is_same_user = is_ours(self._socket)
        except OSError as error:
            self._lose(f"our OPC UA server is not there ({error.strerror or error})", error)
        if not is_same_user:
            self._lose("another user has the name of our OPC UA server's socket")
        self._hear(self._timeout_s, "our OPC UA server does not answer")
        self._expect_plc()

    def read(self, group: Group) -> list[int]:
        """See `Wire.read`: the last snapshot, which is never older than the time-out."""
        complaint = f"no answer to reading the group {group.name}"
        self._hear(0.0, complaint)
        if time.monotonic() - self._heard_s > self._silence_s:
            self._lose(f"{complaint}: our OPC UA server stands still")
        self._expect_plc()
        return list(self._snapshot.words[group.name])

    def write(self, group: Group, words: list[int]) -> None:
        """See `Wire.write`: it is confirmed when a snapshot shows it."""
        complaint = f"no confirmation of writing the group {group.name}"
        end_s = time.monotonic() + self._timeout_s
        try:
            self._connection(complaint).send(packet_of(group, words))
        except OSError as error:
            self._lose(f"{complaint}: {error.strerror or error}", error)
        self._hear(0.0, complaint)
        while self._snapshot.words[group.name][: len(words)] != tuple(words):
            self._hear(end_s - time.monotonic(), complaint)
        self._expect_plc()

    def close(self) -> None:
        """See `Wire.close`."""
        connection, self._socket = self._socket, None
        if connection is not None:
            connection.close()

    def explain(self, finding: Finding) -> tuple[str, str]:
        """See `Wire.explain`."""
        return (
            f"the client's plc_test_constant is {finding.found:#010x}, not {TEST_CONSTANT:#010x}",
            "let the PLC write its part after each login",
        )

    def _hear(self, limit_s: float, complaint: str) -> None:
        """Take everything that has come; with a limit above 0, wait so long for the first of it."""
        connection = self._connection(complaint)
        try:
            if limit_s > 0:
                connection.settimeout(limit_s)
                self._take(connection.recv(PACKET_MAX_BYTES))
            elif limit_s < 0:
                self._lose(f"{complaint} within {1000 * self._timeout_s:g} ms")
            connection.settimeout(0)
            while True:
                self._take(connection.recv(PACKET_MAX_BYTES))
        except BlockingIOError:
            return
        except TimeoutError as error:
            self._lose(f"{complaint} within {1000 * self._timeout_s:g} ms", error)
        except (OSError, ValueError) as error:
            self._lose(f"{complaint}: {error}", error)

    def _take(self, packet: bytes) -> None:
        if not packet:
            raise ConnectionResetError("our OPC UA server has ended")
        self._snapshot = snapshot_in(packet)
        self._heard_s = time.monotonic()

    def _expect_plc(self) -> None:
        if not self._snapshot.is_plc_there:
            self.close()
            raise PlcFault(
                self.peer,
                "no PLC is logged in",
                "let the PLC connect as a client, and write its part after each login",
            )

    def _connection(self, complaint: str) -> socket.socket:
        if self._socket is None:
            raise PlcFault(self.peer, complaint, "there is no connection: connect first")
        return self._socket

    def _lose(self, what: str, error: Exception | None = None) -> NoReturn:
        self.close()
        remedy = "look at the log of the process opcua; it is started again by itself"
        raise PlcFault(self.peer, what, remedy) from error
