"""May this process be started again now? A budget with a back-off and an end.

Pure: it is asked with the time. A process that lived long enough has its budget back.
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
    first_delay_ns: int = _SECOND_NS // 4
    """Before the second restart; doubled for each further one. The first comes at once."""
    delay_max_ns: int = 5 * _SECOND_NS
    _deaths_ns: list[int] = field(default_factory=list)

    def died(self, now_ns: int) -> int | None:
        """Note a death; answer when to start again, or None when the budget is used up."""
        self._deaths_ns = [at for at in self._deaths_ns if now_ns - at < self.window_ns]
        self._deaths_ns.append(now_ns)
        earlier = len(self._deaths_ns) - 1
        if earlier >= self.restarts_max:
            return None
        if earlier == 0:
            return now_ns
        return now_ns + min(self.first_delay_ns << (earlier - 1), self.delay_max_ns)
