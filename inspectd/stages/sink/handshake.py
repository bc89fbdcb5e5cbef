"""The handshake of the verdict block: may the next verdict be written, or is the last one untaken?

    free --wrote--> waiting --acknowledged--> free
                       |
                       '-- ack_timeout --> free; overrun flag until the next acknowledgement

Every write, also that of the same part after a request without an answer, has a sequence of its
own: a write that a slow PLC carries out later is then told from the one that followed it. Pure.
"""

from inspectd.plc.registers import NO_SEQUENCE, next_sequence

__all__ = ["Handshake"]


class Handshake:
    """Sequence words of one station."""

    def __init__(self, ack_timeout_ns: int) -> None:
        self._ack_timeout_ns = ack_timeout_ns
        self._sequence = NO_SEQUENCE
        self._waits_until_ns: int | None = None
        self.has_overrun = False
        """A verdict was, or may have been, overwritten untaken."""

    @property
    def sequence(self) -> int:
        """The one written last."""
        return self._sequence

    def begin(self, sequence: int, now_ns: int) -> None:
        """Take over what stands in the block, and wait until the PLC echoes it."""
        self._sequence = sequence
        self._waits_until_ns = now_ns + self._ack_timeout_ns

    def resume(self, sequence: int) -> None:
        """Draw on after a sequence of an earlier life, which may never have been written."""
        self._sequence = sequence

    def draw(self) -> int:
        """A sequence for the next attempt to write; never the one before."""
        self._sequence = next_sequence(self._sequence)
        return self._sequence

    def wrote(self, now_ns: int) -> None:
        """The block with the last sequence drawn stands in the PLC."""
        self._waits_until_ns = now_ns + self._ack_timeout_ns

    def acknowledge(self, sequence: int) -> None:
        """The PLC echoes a sequence."""
        if sequence == self._sequence:
            self._waits_until_ns = None
            self.has_overrun = False

    def is_free(self, now_ns: int) -> tuple[bool, bool]:
        """Whether the next verdict may be written, and whether this moment is an overrun."""
        if self._waits_until_ns is None:
            return True, False
        if now_ns < self._waits_until_ns:
            return False, False
        self._waits_until_ns = None
        is_overrun = self._sequence != NO_SEQUENCE
        self.has_overrun = self.has_overrun or is_overrun
        return True, is_overrun

    @property
    def is_waiting(self) -> bool:
        """Whether an acknowledgement is awaited."""
        return self._waits_until_ns is not None

    @property
    def gives_up_at_ns(self) -> int | None:
        """When the wait for the acknowledgement ends."""
        return self._waits_until_ns
