"""What vision says of itself: the status bits, the heartbeat, the counters.

The heartbeat counts only while the line is well, not while this process lives: frames that stop
moving stop it. Bits that the PLC must act on are written at once when they change; the rest goes
out with the next beat. Pure.
"""

from typing import NamedTuple

from inspectd.plc.registers import Head, StatusBit

__all__ = ["LATE_LIMIT", "Condition", "Pulse"]

LATE_LIMIT = 3
"""So many late parts in a row ask the PLC to stop the line: three is what integrators use."""
_URGENT = StatusBit.READY | StatusBit.FAULT | StatusBit.OVERRUN | StatusBit.STOP_REQUEST


class Condition(NamedTuple):
    """How the station is right now."""

    is_line_healthy: bool
    is_taking: bool
    """New parts are welcome: not stopping, the number of parts to do is not reached."""
    has_parts: bool
    has_overrun: bool
    late_in_a_row: int


class Pulse:
    """Decides when the head is written, and what it says."""

    def __init__(self, period_ns: int, recipe: int) -> None:
        self._period_ns, self._recipe = period_ns, recipe
        self._heartbeat = 0
        self._status = StatusBit(0)
        self._was_healthy = False
        self.missed = 0
        """Triggers counted by the PLC that were not seen."""
        self.late = 0
        """Parts decided by the clock."""
        self.start_counter = 0
        """The trigger counter at the start of the first life."""
        self.next_ns = 0
        """When the next beat is due; 0: at once."""

    def resume(self, head: Head) -> None:
        """Go on counting where an earlier life stopped."""
        self._heartbeat, self.start_counter = head.heartbeat, head.start_counter
        self.missed, self.late = head.missed, head.late

    def head(self, now_ns: int, condition: Condition) -> Head | None:
        """The head to write now; None: nothing is due."""
        self._was_healthy = self._was_healthy or condition.is_line_healthy
        status = self._bits(condition)
        is_beat = now_ns >= self.next_ns
        if not is_beat and not (status ^ self._status) & _URGENT:
            return None
        if is_beat:
            self._heartbeat += condition.is_line_healthy
            self.next_ns = now_ns + self._period_ns
        self._status = status
        return self._head(status, condition.late_in_a_row)

    def farewell(self) -> Head:
        """The last words: not ready, and no further beat."""
        return self._head(StatusBit(0), 0)

    def _bits(self, condition: Condition) -> StatusBit:
        is_faulty = self._was_healthy and not condition.is_line_healthy
        bits = StatusBit(0)
        for bit, is_set in (
            (StatusBit.READY, condition.is_line_healthy and condition.is_taking),
            (StatusBit.BUSY, condition.has_parts),
            (StatusBit.FAULT, is_faulty and condition.is_taking),
            (StatusBit.OVERRUN, condition.has_overrun),
            (StatusBit.STOP_REQUEST, condition.late_in_a_row >= LATE_LIMIT),
        ):
            bits |= bit if is_set else StatusBit(0)
        return bits

    def _head(self, status: StatusBit, late_in_a_row: int) -> Head:
        return Head(
            status=status,
            heartbeat=self._heartbeat,
            late_in_a_row=late_in_a_row,
            recipe_digest=self._recipe,
            missed=self.missed,
            late=self.late,
            start_counter=self.start_counter,
        )
