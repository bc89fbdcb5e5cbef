"""What does each process hold, and is it more than before? Descriptors, threads, memory.

`compare` is pure; `look` asks the kernel.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

__all__ = ["Holding", "compare", "left_behind", "look"]

_FDS_MORE = 6
_THREADS_MORE = 3
_MEMORY_SHARE = 1.5
_MEMORY_MORE_MB = 40.0
"""What a process may hold more than before: a connection that is being made, a reader's cache."""


class Holding(NamedTuple):
    """What one process holds."""

    fds: int
    threads: int
    pss_mb: float
    """Memory, what is shared counted by its share."""


def look(pids: Mapping[str, int]) -> dict[str, Holding]:
    """Look at processes, by name; those that are gone are left out."""
    found = {}
    for name, pid in pids.items():
        with suppress(psutil.Error, OSError):
            process = psutil.Process(pid)
            pss_mb = process.memory_full_info().pss / 1e6
            found[name] = Holding(process.num_fds(), process.num_threads(), round(pss_mb, 1))
    return found


def compare(before: Mapping[str, Holding], after: Mapping[str, Holding]) -> Iterator[str]:
    """Say what has grown by more than it may."""
    for name, then in before.items():
        now = after.get(name)
        if now is None:
            yield f"{name} is not there at the end"
            continue
        if now.fds > then.fds + _FDS_MORE:
            yield f"{name} holds {now.fds} descriptors, {then.fds} at the beginning"
        if now.threads > then.threads + _THREADS_MORE:
            yield f"{name} has {now.threads} threads, {then.threads} at the beginning"
        if now.pss_mb > then.pss_mb * _MEMORY_SHARE + _MEMORY_MORE_MB:
            yield f"{name} takes {now.pss_mb} MB, {then.pss_mb} MB at the beginning"


def left_behind(pids: Iterable[int], run_ids: Iterable[str]) -> Iterator[str]:
    """Say what is left of a line that has ended: processes and sockets."""
    for pid in pids:
        with suppress(psutil.Error):
            process = psutil.Process(pid)
            if process.status() != psutil.STATUS_ZOMBIE and "inspectd" in " ".join(
                process.cmdline()
            ):
                yield f"process {pid} ({process.name()}) still lives"
    sockets = Path("/proc/net/unix").read_text(encoding="utf-8")
    for run_id in run_ids:
        if run_id in sockets:
            yield f"sockets of run {run_id} are still bound"
