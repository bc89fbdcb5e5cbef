"""Did the rejected part arrive in the bin? A rejection that was told is not one that happened.

Each part that left through the reject is expected in the bin within `window_ns`. So many that were
not seen in a row are a fault that stays until somebody resets it. Pure.
"""

from collections import deque

__all__ = ["Confirmation"]

_REMEMBERED = 16
"""Sightings kept for parts that are reported a moment later than they are seen."""


class Confirmation:
    """The sensor in the bin, and what it ought to see."""

    def __init__(self, *, window_ns: int, early_ns: int, unconfirmed_max: int) -> None:
        """Expect nothing.

        Args:
            window_ns: A part must be seen so soon after it was at the ejector.
            early_ns: It may be seen so long before we think that it was there.
            unconfirmed_max: So many in a row are a fault.
        """
        self._window_ns, self._early_ns, self._max = window_ns, early_ns, unconfirmed_max
        self._expected: deque[int] = deque()
        self._unasked: deque[int] = deque(maxlen=_REMEMBERED)
        self.in_a_row = 0
        """Rejections that were not confirmed since the last one that was."""
        self.is_faulty = False
        """Stays until `reset`."""

    def __len__(self) -> int:
        """Parts that are expected in the bin."""
        return len(self._expected)

    def expect(self, at_ns: int) -> None:
        """A part that was rejected is at the ejector."""
        while self._unasked:
            seen_ns = self._unasked.popleft()
            if seen_ns >= at_ns - self._early_ns:
                self.in_a_row = 0
                return
        self._expected.append(at_ns)

    def see(self, at_ns: int) -> None:
        """The sensor sees something begin."""
        if self._expected:
            self._expected.popleft()
            self.in_a_row = 0
        else:
            self._unasked.append(at_ns)

    def due_at_ns(self) -> int | None:
        """When `missed` has an answer; None: nothing is expected."""
        return self._expected[0] + self._window_ns if self._expected else None

    def missed(self, now_ns: int) -> int:
        """Take note of the parts that were not seen in time; answer how many."""
        count = 0
        while self._expected and now_ns > self._expected[0] + self._window_ns:
            self._expected.popleft()
            count += 1
        self.in_a_row += count
        self.is_faulty = self.is_faulty or self.in_a_row >= self._max
        return count

    def forget(self) -> None:
        """Expect nothing any more: the sensor could not be asked."""
        self._expected.clear()
        self._unasked.clear()

    def reset(self) -> None:
        """Somebody has looked after the ejector."""
        self.in_a_row, self.is_faulty = 0, False
