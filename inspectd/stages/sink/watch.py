"""Does the PLC's program run? Its heartbeat, which it counts up itself, says so.

A server in the PLC answers also while the program stands: requests alone prove nothing. Pure.
"""

__all__ = ["PlcWatch"]


class PlcWatch:
    """Watches the heartbeat of one PLC."""

    def __init__(self, patience_ns: int) -> None:
        """Args: patience_ns: how long the heartbeat may stand still; 0: it is not watched."""
        self._patience_ns = patience_ns
        self._value: int | None = None
        self._moved_ns = 0
        self.is_silent = False
        """It has stood still for too long."""

    def meet(self, now_ns: int) -> None:
        """A connection has been made: the PLC has its time to beat anew."""
        self._value, self._moved_ns = None, now_ns

    def look(self, now_ns: int, heartbeat: int) -> bool:
        """Take one look; whether `is_silent` changed."""
        was_silent = self.is_silent
        if self._value is not None and heartbeat != self._value:
            self._moved_ns = now_ns
            self.is_silent = False
        self._value = heartbeat
        is_overdue = now_ns - self._moved_ns > self._patience_ns
        self.is_silent = self.is_silent or (self._patience_ns > 0 and is_overdue)
        return self.is_silent is not was_silent
