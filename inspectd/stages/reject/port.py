"""What the ejector's step asks of its inputs and outputs, whatever they are wired to."""

from typing import NamedTuple, Protocol

__all__ = ["Io", "Sample"]


class Sample(NamedTuple):
    """One look at encoder and inputs."""

    counted: int | None
    """Of the encoder's counter; None: there is none."""
    counted_ns: int
    """When it was so, monotonic; the middle of the request."""
    spread_ns: int
    """How long the request took: it may have been so at any moment of it."""
    active: frozenset[int]
    """Numbers of the inputs that are active."""
    active_ns: int
    """When they were."""


class Io(Protocol):
    """Encoder, inputs and the output of one ejector.

    Every call ends within a bounded time. One that fails raises `IoFault` and leaves the connection
    closed; what the output does then is the watchdog's business. Nothing is repeated by itself.
    """

    @property
    def is_connected(self) -> bool:
        """Whether calls can be made."""

    def connect(self) -> None:
        """Connect, and release the output before anything else.

        Raises:
            IoFault: No connection, or no confirmation of the release.
        """

    def sample(self) -> Sample:
        """Look at encoder and inputs.

        Raises:
            IoFault: No answer, or another than was asked for.
        """

    def switch(self, *, is_passing: bool) -> None:
        """Energise the output (the part passes) or release it (the part is rejected).

        Raises:
            IoFault: No confirmation: it may have been carried out all the same.
        """

    def show_life(self) -> None:
        """Keep the watchdog quiet that releases the output when we are dead; confirm the output.

        Raises:
            IoFault: No confirmation.
        """

    def close(self) -> None:
        """Release the output if that is possible, and let go; may be called more than once."""
