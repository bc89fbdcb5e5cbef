"""What the sink asks of a PLC, whatever the wire: a few requests, each bounded in time."""

from typing import Protocol

from inspectd.plc.registers import Head, PlcPart, VerdictBlock

__all__ = ["Plc"]


class Plc(Protocol):
    """The station's register block, seen from vision.

    Every request ends within a bounded time. One that fails raises `PlcFault` and leaves the
    connection closed; whether a failed write was carried out is then unknown, and stays so until
    the block is read back. Nothing is ever repeated by itself.
    """

    @property
    def is_connected(self) -> bool:
        """Whether requests can be made."""

    def connect(self) -> None:
        """Connect, and make sure that both sides mean the same registers and words.

        Raises:
            PlcFault: No connection, or the two test constants do not read as they should.
        """

    def read_part(self) -> PlcPart:
        """Read what the PLC says, in one request.

        Raises:
            PlcFault: No answer, or another than was asked for.
        """

    def read_verdict(self) -> VerdictBlock:
        """Read the verdict block back, in one request.

        Raises:
            PlcFault: No answer, or another than was asked for.
        """

    def read_head(self) -> Head:
        """Read back what vision said of itself, in one request.

        Raises:
            PlcFault: No answer, or another than was asked for.
        """

    def write_head(self, head: Head) -> None:
        """Write what vision says of itself, in one request.

        Raises:
            PlcFault: No confirmation: it may have been carried out all the same.
        """

    def write_verdict(self, block: VerdictBlock) -> None:
        """Write the verdict block whole, in one request; on return the PLC has confirmed it.

        Raises:
            PlcFault: No confirmation: it may have been carried out all the same.
        """

    def close(self) -> None:
        """Close the connection; may be called at any time, more than once."""
