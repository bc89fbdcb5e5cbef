"""When a self-triggered station fires; pure.

Trigger `n` of the run is due at `epoch + n / rate`. A schedule that is asked late answers the
triggers that are due one after the other, at once, and never leaves one out: each number is a part
with a picture and a verdict of its own. The deadline of such a part runs from when it was fired.
"""

__all__ = ["Schedule"]

_NS_PER_S = 1_000_000_000


class Schedule:
    """Counts the triggers of one station."""

    def __init__(self, rate_hz: float, epoch_ns: int, start_ns: int, limit: int = 0) -> None:
        """Begin with the first trigger that is due at or after `start_ns`.

        Args:
            rate_hz: triggers a second.
            epoch_ns: monotonic time of trigger 0.
            start_ns: now.
            limit: answer so many triggers, then no more; 0: no limit.
        """
        self._period_ns = _NS_PER_S / rate_hz
        self._epoch_ns = epoch_ns
        self._next = max(0, -int(-(start_ns - epoch_ns) // self._period_ns))
        self._left = limit if limit > 0 else -1

    def next_ns(self) -> int | None:
        """When the next trigger is due; None: there are no more."""
        if self._left == 0:
            return None
        return self._epoch_ns + round(self._next * self._period_ns)

    def take(self, now_ns: int) -> int | None:
        """Answer the number of the trigger that is due (modulo 2**32), or None when none is."""
        due_ns = self.next_ns()
        if due_ns is None or now_ns < due_ns:
            return None
        self._left -= 1
        number, self._next = self._next, self._next + 1
        return number % 2**32
