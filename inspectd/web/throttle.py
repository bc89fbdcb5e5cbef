"""How often somebody may try a password. Pure: the time goes in.

Failures are counted for the address and for the name, each in a window; a name that does not exist
counts as well. Bounded: names and addresses that were quiet are forgotten, and when too many are
remembered, everybody waits.
"""

from collections import deque
from collections.abc import Iterable

__all__ = ["FAILURES_MAX", "KEYS_MAX", "WINDOW_NS", "Throttle"]

WINDOW_NS = 300 * 1_000_000_000
FAILURES_MAX = 5
"""In the window, of one address or one name."""
KEYS_MAX = 1000


class Throttle:
    """Failed logins of the last minutes."""

    def __init__(self) -> None:
        """None yet."""
        self._failures: dict[str, deque[int]] = {}

    def wait_s(self, keys: Iterable[str], now_ns: int) -> int:
        """Seconds until one of these may try again; 0: now."""
        self._forget(now_ns)
        waits = [self._wait_ns(key, now_ns) for key in keys]
        if len(self._failures) >= KEYS_MAX:
            waits.append(min(times[-1] for times in self._failures.values()) + WINDOW_NS - now_ns)
        return -(-max(waits, default=0) // 1_000_000_000)

    def failed(self, keys: Iterable[str], now_ns: int) -> None:
        """Remember a failure."""
        for key in keys:
            if key in self._failures or len(self._failures) < KEYS_MAX:
                self._failures.setdefault(key, deque(maxlen=FAILURES_MAX)).append(now_ns)

    def succeeded(self, keys: Iterable[str]) -> None:
        """Forget the failures of somebody who knew the password."""
        for key in keys:
            self._failures.pop(key, None)

    def _wait_ns(self, key: str, now_ns: int) -> int:
        times = self._failures.get(key)
        is_over = times is not None and len(times) == FAILURES_MAX
        return times[0] + WINDOW_NS - now_ns if times and is_over else 0

    def _forget(self, now_ns: int) -> None:
        quiet = [key for key, times in self._failures.items() if now_ns - times[-1] >= WINDOW_NS]
        for key in quiet:
            del self._failures[key]
        for times in self._failures.values():
            while now_ns - times[0] >= WINDOW_NS:
                times.popleft()
