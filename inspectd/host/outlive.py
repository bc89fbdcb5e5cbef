"""The record outlives its supervisor by a moment: what was told is committed, then it ends.

Every other process is killed by the kernel with its parent (`inspectd.host.tether`). The record is
tied like them until its memory is attached. From then on a thread of its own watches the parent.
When it dies, an alarm is set first, which ends the process whatever it is in; then the sinks are
waited for, which the kernel is killing; then the loop is told to stop. What the sinks' journals
hold by then is all that was ever told.
"""

import os
import select
import signal
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress

from inspectd.host import tether

__all__ = ["OUTLIVE_S", "SINKS_GONE_S", "watch_parent"]

OUTLIVE_S = 0.7
"""So long after its parent the record is gone, by SIGALRM if need be: a house that is killed leaves
nothing after one second. A commit takes some milliseconds."""
SINKS_GONE_S = 0.2
"""So long it waits for the sinks; a killed process is gone within a few milliseconds."""


def watch_parent(
    parent_pid: int, sinks: Callable[[], Iterable[int]], log: Callable[..., None]
) -> Callable[[], bool]:
    """Untie this process from its parent; answer whether the parent, and all sinks, are gone.

    On a kernel without process descriptors (before Linux 5.3) the tie stays.

    Args:
        parent_pid: of the supervisor.
        sinks: process ids of the sinks, asked when the parent is gone.
        log: `log(level, event, **fields)`.
    """
    try:
        parent = os.pidfd_open(parent_pid)
    except OSError:
        return lambda: False
    if os.getppid() != parent_pid:  # it has died, and the descriptor is of somebody else
        os._exit(1)
    is_orphaned = threading.Event()

    def watch() -> None:
        select.select((parent,), (), ())
        signal.setitimer(signal.ITIMER_REAL, OUTLIVE_S)
        for pid in sinks():
            _wait_for_end(pid)
        is_orphaned.set()
        with suppress(OSError):  # whoever read our log may be gone as well
            log("warning", "supervisor_died")

    threading.Thread(target=watch, name="watch-parent", daemon=True).start()
    tether.untie()
    return is_orphaned.is_set


def _wait_for_end(pid: int) -> None:
    try:
        fd = os.pidfd_open(pid)
    except OSError:  # it has ended
        return
    select.select((fd,), (), (), SINKS_GONE_S)
    os.close(fd)
