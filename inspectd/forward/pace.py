"""How fast a receiver is served: how many events at once, and how long to wait after a failure.

Pure: chance is handed in.
"""

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["BITE_MAX", "FIRST_WAIT_S", "WAIT_MAX_S", "Pace"]

BITE_MAX = 200
"""Events in one delivery: at 5 kB each about 1 MB."""
FIRST_WAIT_S = 1.0
WAIT_MAX_S = 60.0
_DOUBLINGS_MAX = 16
_JITTER = 0.5
"""Of a wait, so that the lines of a plant do not all come back at once."""


@dataclass(slots=True)
class Pace:
    """Of one receiver."""

    chance: Callable[[], float]
    """Uniform from 0 to 1."""
    first_wait_s: float = FIRST_WAIT_S
    """Least wait; doubled, with jitter, up to `WAIT_MAX_S`."""
    bite: int = BITE_MAX
    """Most events in the next delivery: a slow receiver gets fewer, so that one still succeeds."""
    _failures: int = 0

    def failed(self) -> float:
        """Note a failure; answer the seconds to wait, by default 1 to 60."""
        longest_s = min(WAIT_MAX_S, self.first_wait_s * 2.0 ** min(self._failures, _DOUBLINGS_MAX))
        self._failures += 1
        self.bite = max(1, self.bite // 2)
        return max(self.first_wait_s, longest_s * (1 - _JITTER * self.chance()))

    def delivered(self) -> None:
        """Note that events arrived: only this ends the back-off, a mere connection does not."""
        self._failures = 0
        self.bite = min(BITE_MAX, self.bite * 2)
