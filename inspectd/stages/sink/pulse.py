"""What vision says of itself: status bits, heartbeat, counters, the answer to a command.

The heartbeat counts only while the line is well, not while this process lives: frames that stop
moving stop it. What the PLC waits for or must act on is written at once when it changes; the rest
goes out with the next beat. Pure.
"""

from typing import NamedTuple

from inspectd.plc.codes import NO_RECIPE, StatusBit
from inspectd.plc.registers import Head
from inspectd.stages.sink.commands import Answer
from inspectd.stages.sink.tally import Tally

__all__ = ["Condition", "Pulse"]

_URGENT = StatusBit.READY | StatusBit.FAULT | StatusBit.OVERRUN | StatusBit.STOP_REQUEST


class Condition(NamedTuple):
    """How the station is right now."""

    is_line_healthy: bool
    is_taking: bool
    """New parts are welcome: not stopping, the number of parts to do is not reached."""
    is_held: bool = False
    """Parts cannot be taken for a while: a command is carried out, no recipe is active."""
    is_plc_silent: bool = False
    has_parts: bool = False
    has_overrun: bool = False
    active_recipe: int = NO_RECIPE
    answer: Answer = Answer()


class Pulse:
    """Decides when the head is written, and what it says."""

    def __init__(self, period_ns: int, recipe_digest: int) -> None:
        """Args: period_ns: between two beats; recipe_digest: see `recipe_word`."""
        self._period_ns, self._recipe_digest = period_ns, recipe_digest
        self._heartbeat = 0
        self._status = StatusBit(0)
        self._shown: tuple[int, Answer] = (NO_RECIPE, Answer())
        self._was_healthy = False
        self.start_counter = 0
        """The trigger counter at the start of the first life."""
        self.next_ns = 0
        """When the next beat is due; 0: at once."""

    def resume(self, head: Head) -> None:
        """Go on beating where an earlier life stopped."""
        self._heartbeat, self.start_counter = head.heartbeat, head.start_counter

    def head(self, now_ns: int, condition: Condition, tally: Tally) -> Head | None:
        """The head to write now; None: nothing is due."""
        self._was_healthy = self._was_healthy or condition.is_line_healthy
        status = self._bits(condition, tally)
        shown = condition.active_recipe, condition.answer
        is_beat = now_ns >= self.next_ns
        if not is_beat and shown == self._shown and not (status ^ self._status) & _URGENT:
            return None
        if is_beat:
            self._heartbeat += condition.is_line_healthy
            self.next_ns = now_ns + self._period_ns
        self._status, self._shown = status, shown
        return self._head(status, tally, *shown)

    def farewell(self, tally: Tally, answer: Answer) -> Head:
        """The last words: not ready, no further beat, no recipe."""
        return self._head(StatusBit(0), tally, NO_RECIPE, answer)

    def _bits(self, condition: Condition, tally: Tally) -> StatusBit:
        is_ready = condition.is_line_healthy and condition.is_taking
        is_ill = self._was_healthy and not condition.is_line_healthy and condition.is_taking
        bits = StatusBit(0)
        for bit, is_set in (
            (StatusBit.READY, is_ready and not (condition.is_held or condition.is_plc_silent)),
            (StatusBit.BUSY, condition.has_parts),
            (StatusBit.FAULT, is_ill or condition.is_plc_silent),
            (StatusBit.OVERRUN, condition.has_overrun),
            (StatusBit.STOP_REQUEST, bool(tally.stop_cause)),
        ):
            bits |= bit if is_set else StatusBit(0)
        return bits

    def _head(self, status: StatusBit, tally: Tally, recipe: int, answer: Answer) -> Head:
        return Head(
            status=status,
            heartbeat=self._heartbeat,
            stop_cause=tally.stop_cause,
            recipe_digest=self._recipe_digest,
            missed=tally.missed,
            late=tally.late,
            untold=tally.untold,
            start_counter=self.start_counter,
            late_in_a_row=tally.late_in_a_row,
            not_ok_in_a_row=tally.not_ok_in_a_row,
            active_recipe=recipe,
            command_result=answer.result,
            command_state=answer.state,
            command_echo=answer.echo,
        )
