"""A receiver outside the line, as the courier sees it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from inspectd.forward.event import Outgoing

__all__ = ["Delivered", "Receiver", "Refused"]


class Refused(NamedTuple):
    """An event that the receiver will never take."""

    mark: str
    why: str


class Delivered(NamedTuple):
    """How a delivery went."""

    done: int
    """So many events from the front need not be sent again."""
    refused: tuple[Refused, ...] = ()
    """Those of them that the receiver will never take."""


class Receiver(Protocol):
    """One connection at a time; everything may be tried again after a failure."""

    async def open(self) -> None:
        """Connect, and see whether events will be taken.

        Raises:
            ForwardFault: with the remedy.
        """

    async def deliver(self, events: Sequence[Outgoing]) -> Delivered:
        """Hand events over; those that count as done are safe with the receiver.

        Raises:
            ForwardFault: none arrived, as far as one knows.
        """

    async def tell(self, states: Mapping[str, str]) -> None:
        """Say how the stations are, by name in words of OPC 40100-1, if that is of use there.

        Raises:
            ForwardFault: the connection is gone.
        """

    async def close(self) -> None:
        """Let go of the connection, whatever its state. Raises nothing, ends within seconds."""
