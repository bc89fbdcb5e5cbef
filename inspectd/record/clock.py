"""Is the wall clock to be believed when it says that something is old?

Pure. A clock that steps (a wrong time server, a battery that is empty, a person) must not make
today's pictures years old: what is deleted does not come back, while space short of `min_free_mb`
is made without any clock. So age counts only while the wall clock has gone along with the monotonic
one for an hour. Nothing else of the record depends on the wall clock: order is `sequence`, and
times of parts are monotonic.
"""

from datetime import datetime, timedelta, timezone

__all__ = ["LONG_AGO", "STEADY_AFTER_NS", "STEP_NS", "SteadyClock"]

STEADY_AFTER_NS = 3_600_000_000_000
"""So long without a step: enough for a person, or a time server, to set a wrong clock right."""
STEP_NS = 5_000_000_000
"""A larger difference between two looks is a step; slewing is at most 0.03 s a minute."""
LONG_AGO = datetime(1970, 1, 1, tzinfo=timezone.utc)
"""No clock of ours shows an earlier moment, so that nothing recorded is old then."""
_NS_PER_US = 1_000


class SteadyClock:
    """The wall clock as far as it can be believed."""

    def __init__(self) -> None:
        """Believe nothing yet."""
        self._seen: tuple[datetime, int] | None = None
        self._since_ns = 0

    def look(self, utc: datetime, now_ns: int) -> datetime:
        """What to take for now.

        Args:
            utc: Wall-clock time.
            now_ns: Monotonic nanoseconds of the same moment.

        Returns:
            `utc`, or `LONG_AGO` while it is not to be believed.
        """
        seen, self._seen = self._seen, (utc, now_ns)
        if seen is None or _has_stepped(seen, self._seen):
            self._since_ns = now_ns
        return utc if now_ns - self._since_ns >= STEADY_AFTER_NS else LONG_AGO


def _has_stepped(before: tuple[datetime, int], after: tuple[datetime, int]) -> bool:
    passed_ns = (after[0] - before[0]) // timedelta(microseconds=1) * _NS_PER_US
    return abs(passed_ns - (after[1] - before[1])) > STEP_NS
