"""The PLC of a station without one: takes every verdict and acknowledges it at once."""

from inspectd.plc.registers import Head, PlcPart, VerdictBlock

__all__ = ["NoPlc"]


class NoPlc:
    """Keeps the last block in memory, as a PLC would; never triggers a part."""

    def __init__(self) -> None:
        self._head, self._block = Head(), VerdictBlock()
        self._is_connected = False

    @property
    def is_connected(self) -> bool:
        """Whether `connect` was called."""
        return self._is_connected

    def connect(self) -> None:
        """Be there."""
        self._is_connected = True

    def read_part(self) -> PlcPart:
        """No triggers; the last sequence acknowledged."""
        return PlcPart(acknowledged=self._block.sequence)

    def read_verdict(self) -> VerdictBlock:
        """The last block."""
        return self._block

    def read_head(self) -> Head:
        """The last head."""
        return self._head

    def write_head(self, head: Head) -> None:
        """Keep the head."""
        self._head = head

    def write_verdict(self, block: VerdictBlock) -> None:
        """Keep the block."""
        self._block = block

    def close(self) -> None:
        """Be gone."""
        self._is_connected = False
