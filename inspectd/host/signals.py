"""What the supervisor is told by signals: to end, to end at once, to read its file again.

A handler only notes; a socket pair wakes whoever waits, so that nothing is noticed late.
"""

import select
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["HURRY", "Signals", "listening"]

HURRY = signal.SIGUSR1
"""To a process of the line: leave what you hold, put your outputs in safety, and end."""
_ENDINGS = (signal.SIGTERM, signal.SIGINT)
_HEARD = (*_ENDINGS, signal.SIGHUP, signal.SIGCHLD)


class Signals:
    """The notes; `listening` makes it."""

    def __init__(self, woken: socket.socket) -> None:
        """Wait on `woken`, to which the interpreter writes a byte per signal."""
        self.endings = 0
        """How often somebody asked to end: once, in order; twice, at once."""
        self.reloads = 0
        """How often somebody asked to read the station file again (SIGHUP)."""
        self._woken = woken

    def wait(self, timeout_s: float) -> None:
        """Wait until a signal comes, at most so long."""
        select.select((self._woken,), (), (), timeout_s)
        try:
            while self._woken.recv(4096):
                pass
        except BlockingIOError:
            return

    def note(self, number: int, _frame: FrameType | None) -> None:
        """Handle a signal."""
        if number in _ENDINGS:
            self.endings += 1
        elif number == signal.SIGHUP:
            self.reloads += 1


@contextmanager
def listening() -> Iterator[Signals]:
    """Take over SIGTERM, SIGINT, SIGHUP and SIGCHLD, give them back later; main thread only."""
    waker, woken = socket.socketpair()
    with waker, woken:
        waker.settimeout(0)
        woken.settimeout(0)
        signals = Signals(woken)
        former_fd = signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        former = {n: signal.signal(n, signals.note) for n in _HEARD}
        try:
            yield signals
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(former_fd)
