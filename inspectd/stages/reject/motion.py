"""Where the belt is at any moment, in millimetres: by a counter that rolls over, or by the clock.

A position grows while the belt runs forward and has no zero of its own: only differences mean
something. A counter is read now and then; between two readings the belt is interpolated, after the
last one it goes on at its last speed for at most `horizon_ns`, and further nothing is known. Pure.
"""

from bisect import bisect_left
from collections import deque
from enum import Enum, auto
from typing import Protocol

__all__ = ["ClockMotion", "CounterMotion", "Motion", "Reading"]

_SPEED_OVER_NS = 60_000_000
"""The speed is taken over so long: a count more or less must not look like a jerk."""
_NS_PER_S = 1_000_000_000
_IMPLAUSIBLE = 1.5
"""So many times the fastest belt is no belt: the counter began anew, or another one answers."""


class Reading(Enum):
    """What a reading of the counter says of the belt."""

    FIRST = auto()
    """Positions begin here."""
    MOVED = auto()
    """Positions go on."""
    JUMPED = auto()
    """No belt moves like this: earlier positions are void, new ones begin here."""


class Motion(Protocol):
    """What the tracker asks of a belt."""

    def position_at(self, at_ns: int) -> float | None:
        """Millimetres at a moment; None: not known."""

    @property
    def speed_mm_s(self) -> float:
        """Now; negative while it runs backwards."""


class ClockMotion:
    """A belt that always runs, and always at the same speed: nobody looks whether it does."""

    def __init__(self, speed_mm_s: float) -> None:
        self.speed_mm_s = speed_mm_s

    def position_at(self, at_ns: int) -> float | None:
        """See `Motion.position_at`: known for every moment."""
        return at_ns * self.speed_mm_s / _NS_PER_S


class CounterMotion:
    """A belt seen through an encoder's counter of a fixed number of bits."""

    def __init__(
        self,
        *,
        bits: int,
        counts_per_mm: float,
        speed_max_mm_s: float,
        slack_ns: int,
        horizon_ns: int,
        kept_ns: int,
    ) -> None:
        """Know nothing yet.

        Args:
            bits: Width of the counter; it rolls over.
            counts_per_mm: Negative when it counts down as the belt runs forward.
            speed_max_mm_s: Of the fastest belt.
            slack_ns: How wrong the moment of a reading may be.
            horizon_ns: For so long after the last reading a position is still answered.
            kept_ns: How far back positions are remembered.
        """
        self._span = 1 << bits
        self._counts_per_mm = counts_per_mm
        self._speed_max = speed_max_mm_s * _IMPLAUSIBLE / _NS_PER_S
        self._slack_mm = self._speed_max * slack_ns + 2 / abs(counts_per_mm)
        self._horizon_ns, self._kept_ns = horizon_ns, kept_ns
        self._known: deque[tuple[int, float]] = deque()
        self._raw = 0
        self.speed_mm_s = 0.0

    def take(self, raw: int, at_ns: int) -> Reading:
        """Take a reading of the counter; `at_ns` never goes back."""
        if not self._known:
            self._begin(raw, at_ns)
            return Reading.FIRST
        before_ns, before_mm = self._known[-1]
        moved_mm = self._difference(raw) / self._counts_per_mm
        may_mm = self._speed_max * (at_ns - before_ns) + self._slack_mm
        is_ambiguous = may_mm >= self._span / 2 / abs(self._counts_per_mm)
        if is_ambiguous or abs(moved_mm) > may_mm:
            self.forget()
            self._begin(raw, at_ns)
            return Reading.JUMPED
        self._raw = raw
        if at_ns > before_ns:
            self._known.append((at_ns, before_mm + moved_mm))
        while at_ns - self._known[0][0] > self._kept_ns:
            self._known.popleft()
        self.speed_mm_s = self._speed()
        return Reading.MOVED

    def forget(self) -> None:
        """Know nothing any more: nobody has looked for too long."""
        self._known.clear()
        self.speed_mm_s = 0.0

    def position_at(self, at_ns: int) -> float | None:
        """See `Motion.position_at`."""
        if not self._known or at_ns < self._known[0][0]:
            return None
        last_ns, last_mm = self._known[-1]
        if at_ns >= last_ns:
            late_ns = at_ns - last_ns
            is_near = late_ns <= self._horizon_ns
            return last_mm + self.speed_mm_s * late_ns / _NS_PER_S if is_near else None
        after = bisect_left(self._known, (at_ns, float("-inf")))
        to_ns, to_mm = self._known[after]
        if to_ns == at_ns:
            return to_mm
        from_ns, from_mm = self._known[after - 1]
        return from_mm + (to_mm - from_mm) * (at_ns - from_ns) / (to_ns - from_ns)

    def _begin(self, raw: int, at_ns: int) -> None:
        self._raw = raw
        self._known.append((at_ns, 0.0))

    def _difference(self, raw: int) -> int:
        """Counts since the last reading, the shorter way round."""
        half = self._span // 2
        return (raw - self._raw + half) % self._span - half

    def _speed(self) -> float:
        last_ns, last_mm = self._known[-1]
        since = bisect_left(self._known, (last_ns - _SPEED_OVER_NS, float("-inf")))
        from_ns, from_mm = self._known[max(0, min(since, len(self._known) - 2))]
        if from_ns == last_ns:
            return self.speed_mm_s
        return (last_mm - from_mm) * _NS_PER_S / (last_ns - from_ns)
