"""A PLC made of a wire: the same codecs, test constants and faults on every fieldbus."""

from inspectd.errors import PlcFault
from inspectd.plc.registers import (
    HEAD,
    PLC,
    PROTOCOL_VERSION,
    VERDICT,
    Head,
    PlcPart,
    VerdictBlock,
    decode_head,
    decode_plc,
    decode_verdict,
    encode_head,
    encode_verdict,
)
from inspectd.stages.sink.constant import find
from inspectd.stages.sink.wire import Wire

__all__ = ["MAP", "BlockPeer"]

MAP = "compare the PLC's program with `inspectd plc-map`"
"""Remedy of everything that may be a difference between the two maps."""
_IDENTITY_WORDS = 3
"""Registers of test constant and version: the first of HEAD."""


class BlockPeer:
    """The station's register block behind a wire; see `inspectd.stages.sink.port.Plc`."""

    def __init__(self, wire: Wire) -> None:
        """Keep the wire; nothing is opened before `connect`."""
        self._wire = wire

    @property
    def is_connected(self) -> bool:
        """Whether requests can be made."""
        return self._wire.is_open

    def connect(self) -> None:
        """Connect, check the PLC's constant, write ours and read it back; see `Plc.connect`."""
        if self.is_connected:
            return
        self._wire.open()
        try:
            self._check_theirs()
            self._check_ours()
        except PlcFault:
            self.close()
            raise

    def read_part(self) -> PlcPart:
        """See `Plc.read_part`."""
        return decode_plc(self._wire.read(PLC), self._wire.word_order)

    def read_verdict(self) -> VerdictBlock:
        """See `Plc.read_verdict`."""
        words = self._wire.read(VERDICT)
        try:
            return decode_verdict(words, self._wire.word_order)
        except ValueError as error:
            raise PlcFault(self._wire.peer, f"the verdict block reads {words}", MAP) from error

    def read_head(self) -> Head:
        """See `Plc.read_head`."""
        return decode_head(self._wire.read(HEAD), self._wire.word_order)

    def write_head(self, head: Head) -> None:
        """See `Plc.write_head`."""
        self._wire.write(HEAD, encode_head(head, self._wire.word_order))

    def write_verdict(self, block: VerdictBlock) -> None:
        """See `Plc.write_verdict`."""
        self._wire.write(VERDICT, encode_verdict(block, self._wire.word_order))

    def close(self) -> None:
        """See `Plc.close`."""
        self._wire.close()

    def _check_theirs(self) -> None:
        """Make sure that the PLC's part is where we look, and in our word order."""
        words = self._wire.read(PLC)
        finding = find(words, self._wire.word_order)
        if finding is not None:
            raise PlcFault(self._wire.peer, *self._wire.explain(finding))
        version = decode_plc(words, self._wire.word_order).protocol_version
        if version != PROTOCOL_VERSION:
            raise PlcFault(
                self._wire.peer,
                f"it speaks version {version} of the map, we {PROTOCOL_VERSION}",
                "load the PLC program that belongs to this inspectd",
            )

    def _check_ours(self) -> None:
        """Make sure that what we write stays; status and heartbeat are left alone."""
        identity = encode_head(Head(), self._wire.word_order)[:_IDENTITY_WORDS]
        self._wire.write(HEAD, identity)
        if self._wire.read(HEAD)[:_IDENTITY_WORDS] != identity:
            raise PlcFault(
                self._wire.peer,
                "the group head does not keep what is written to it",
                f"nothing else may write there; {MAP}",
            )
