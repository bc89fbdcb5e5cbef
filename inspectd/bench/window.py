"""Runs a line for a while and reads its shared counters at the beginning and the end of a window.

The window opens when the line is ready and warm. What the processes used meanwhile (CPU time,
memory) is read with the counters.
"""

import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import psutil

from inspectd.config.schema import Line
from inspectd.errors import UsageFault
from inspectd.frame import Role
from inspectd.host.board import State
from inspectd.host.log import make_log
from inspectd.host.supervisor import Plan, Supervisor
from inspectd.ports import Counter, Status

__all__ = ["Glance", "Watched", "watched_run"]

_WARM_UP_NS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Glance:
    """The line at one moment."""

    now_ns: int
    states: Sequence[State]
    cpu_s: dict[int, float] = field(default_factory=dict)
    """Processor time used so far, by pid."""
    memory_mb: dict[int, float] = field(default_factory=dict)
    """Proportional set size, by pid: shared memory is shared out."""

    def total(self, role: Role, counter: Counter) -> int:
        """A counter of all processes of a role."""
        return sum(state.counters[counter] for state in self.states if state.role is role)


@dataclass(frozen=True, slots=True)
class Watched:
    """A run, seen twice."""

    run_id: str
    first: Glance
    last: Glance
    ready_s: float
    """From the start of the supervisor to the first camera's READY."""

    @property
    def seconds(self) -> float:
        """Length of the window."""
        return (self.last.now_ns - self.first.now_ns) / 1e9

    def gained(self, role: Role, counter: Counter) -> int:
        """How far a counter went within the window."""
        return self.last.total(role, counter) - self.first.total(role, counter)


def watched_run(line: Line, seconds: float) -> Watched:
    """Run a line, watch it for `seconds`, and end it.

    Raises:
        UsageFault: the line ended before the window was over.
    """
    window = _Window(int(seconds * 1e9))
    plan = Plan(log_level="error")
    log = make_log("supervisor", plan.run_id, "error")
    outcome = Supervisor(line, plan, log, on_turn=window.look).run()
    if window.last is None or window.first is None:
        raise UsageFault(f"the line ended early ({outcome.why})", "bench", "see its messages")
    return Watched(plan.run_id, window.first, window.last, window.ready_s)


class _Window:
    """Looks at the board as the supervisor shows it."""

    def __init__(self, length_ns: int) -> None:
        self._length_ns = length_ns
        self._begin_ns = time.monotonic_ns()
        self._ready_ns = 0
        self.ready_s = 0.0
        self.first: Glance | None = None
        self.last: Glance | None = None

    def look(self, states: Sequence[State]) -> None:
        """Note the first moment, the last one, and ask the supervisor to end."""
        now_ns = time.monotonic_ns()
        cameras = [state.status for state in states if state.role is Role.CAMERA]
        if any(status is not Status.READY for status in cameras):
            return
        if not self._ready_ns:
            self._ready_ns = now_ns
            self.ready_s = (now_ns - self._begin_ns) / 1e9
        if self.first is None:
            if now_ns - self._ready_ns >= _WARM_UP_NS:
                self.first = _glance(states)
        elif self.last is None and now_ns - self.first.now_ns >= self._length_ns:
            self.last = _glance(states)
            signal.raise_signal(signal.SIGTERM)


def _glance(states: Sequence[State]) -> Glance:
    cpu_s: dict[int, float] = {}
    memory_mb: dict[int, float] = {}
    now_ns = time.monotonic_ns()
    for state in states:
        if state.pid:
            process = psutil.Process(state.pid)
            times = process.cpu_times()
            cpu_s[state.pid] = times.user + times.system
            memory_mb[state.pid] = process.memory_full_info().pss / 1e6
    return Glance(now_ns, tuple(states), cpu_s, memory_mb)
