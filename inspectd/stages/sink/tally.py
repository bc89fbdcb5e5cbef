"""What the sink counts: since the start or a RESET of the PLC, and how many in a row. Pure."""

from dataclasses import dataclass

from inspectd.frame import Ticket, Verdict
from inspectd.plc.codes import StopCause
from inspectd.plc.registers import Head

__all__ = ["USUAL", "Limits", "Tally"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How many in a row ask the PLC to stop the line; 0: never."""

    late: int = 3
    reject: int = 0


USUAL = Limits()
"""Three late parts are what integrators use."""


class Tally:
    """Counters of one station."""

    def __init__(self, limits: Limits = USUAL) -> None:
        """Begin at 0."""
        self._limits = limits
        self.missed = 0
        """Triggers counted by the PLC that were not seen, or could not be taken."""
        self.late = 0
        """Parts decided by the clock."""
        self.untold = 0
        """Parts whose verdict was given up."""
        self.late_in_a_row = 0
        self.not_ok_in_a_row = 0

    def resume(self, head: Head) -> None:
        """Go on counting where an earlier life stopped."""
        self.missed, self.late, self.untold = head.missed, head.late, head.untold
        self.late_in_a_row, self.not_ok_in_a_row = head.late_in_a_row, head.not_ok_in_a_row

    def left(self, ticket: Ticket, *, is_told: bool) -> None:
        """Count a part that was told, or given up."""
        is_late = ticket.verdict is Verdict.LATE
        self.late += is_late
        self.untold += not is_told
        self.late_in_a_row = self.late_in_a_row + 1 if is_late else 0
        self.not_ok_in_a_row = self.not_ok_in_a_row + 1 if ticket.verdict is not Verdict.OK else 0

    def reset(self) -> None:
        """Begin at 0 again, as the PLC asked."""
        self.missed = self.late = self.untold = 0
        self.late_in_a_row = self.not_ok_in_a_row = 0

    @property
    def stop_cause(self) -> StopCause:
        """Why the line should stop; empty: it should not."""
        cause = StopCause(0)
        if _is_reached(self.late_in_a_row, self._limits.late):
            cause |= StopCause.LATE_LIMIT
        if _is_reached(self.not_ok_in_a_row, self._limits.reject):
            cause |= StopCause.REJECT_LIMIT
        return cause


def _is_reached(count: int, limit: int) -> bool:
    return 0 < limit <= count
