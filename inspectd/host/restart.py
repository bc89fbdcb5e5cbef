"""May this process be started again now? A budget with a back-off and an end.

Pure: it is asked with the time. A process that lived long enough has its budget back.

The back-off is for a process that dies as soon as it is born: it must not take the machine from the
others. One that had worked for a while comes back at once, for every moment without it costs parts.
"""

from dataclasses import dataclass, field

__all__ = ["RestartBudget"]

_SECOND_NS = 1_000_000_000


@dataclass(slots=True)
class RestartBudget:
    """Deaths of one process and what they cost."""

    restarts_max: int = 5
    """So many restarts within `window_ns`; the next death stops the line."""
    window_ns: int = 60 * _SECOND_NS
    quick_ns: int = 5 * _SECOND_NS
    """A death so soon after the last one is a quick one: the back-off grows with them."""
    first_delay_ns: int = _SECOND_NS // 4
    """After the first quick death; doubled for each further one. Others are followed by a restart
    at once."""
    delay_max_ns: int = 5 * _SECOND_NS
    _deaths_ns: list[int] = field(default_factory=list)
    _quick: int = 0
    """Quick deaths in a row."""

    def died(self, now_ns: int) -> int | None:
        """Note a death; answer when to start again, or None when the budget is used up."""
        is_quick = bool(self._deaths_ns) and now_ns - self._deaths_ns[-1] < self.quick_ns
        self._quick = self._quick + 1 if is_quick else 0
        self._deaths_ns = [at for at in self._deaths_ns if now_ns - at < self.window_ns]
        self._deaths_ns.append(now_ns)
        if len(self._deaths_ns) > self.restarts_max:
            return None
        if not is_quick:
            return now_ns
        return now_ns + min(self.first_delay_ns << (self._quick - 1), self.delay_max_ns)
