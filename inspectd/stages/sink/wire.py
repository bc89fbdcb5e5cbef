"""What one fieldbus must be able to do: carry the registers of a group, each way, in one request.

A wire knows nothing of heads and verdicts. `inspectd.stages.sink.block.BlockPeer` makes a PLC of
it, so that test constants, codecs and their faults are the same on every fieldbus.
"""

from typing import Protocol

from inspectd.plc.registers import Group, WordOrder
from inspectd.stages.sink.constant import Finding

__all__ = ["Wire"]


class Wire(Protocol):
    """One connection to a PLC; one request at a time, each bounded, none repeated by itself.

    A request that fails raises `PlcFault` and leaves the wire closed: a late answer must never meet
    a later question, and only the caller knows what to do about a write in doubt.
    """

    @property
    def peer(self) -> str:
        """The PLC, as faults name it."""

    @property
    def word_order(self) -> WordOrder:
        """How 32-bit values lie in the words that this wire reads and takes."""

    @property
    def is_open(self) -> bool:
        """Whether requests can be made."""

    def open(self) -> None:
        """Connect.

        Raises:
            PlcFault: No connection within its time.
        """

    def read(self, group: Group) -> list[int]:
        """Read all words of a group in one request.

        Raises:
            PlcFault: No answer, an error answer, or another number or type of values.
        """

    def write(self, group: Group, words: list[int]) -> None:
        """Write the first words of a group, usually all, in one request.

        Raises:
            PlcFault: No confirmation: it may have been carried out all the same.
        """

    def close(self) -> None:
        """Disconnect; may be called at any time, more than once, and never waits long."""

    def explain(self, finding: Finding) -> tuple[str, str]:
        """Say what is wrong with the PLC's test constant, and which key or setting helps."""
