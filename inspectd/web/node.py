"""EDGE psutil: how loaded this machine and the processes of the line are."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import psutil

__all__ = ["Node"]


class Node:
    """Looks at the machine; each look tells of the time since the one before."""

    def __init__(self, folder: Path) -> None:
        """Args: folder: The record's, whose disk is watched."""
        self._folder = folder
        self._known: dict[int, psutil.Process] = {}
        psutil.cpu_percent()

    def look(self, pids: Iterable[int]) -> dict[str, Any]:
        """The machine, and each process by its id: CPU in percent of one core, memory in MiB.

        Memory of a process is what it has alone (without the shared frames).
        """
        living = {pid: self._process(pid) for pid in pids if pid}
        self._known = {pid: one for pid, one in living.items() if one is not None}
        memory = psutil.virtual_memory()
        return {
            "cpu_percent": psutil.cpu_percent(),
            "cores": psutil.cpu_count() or 1,
            "load_1min": psutil.getloadavg()[0],
            "memory_used_mb": (memory.total - memory.available) / 2**20,
            "memory_total_mb": memory.total / 2**20,
            "disk_free_mb": self._disk_free_mb(),
            "processes": {pid: _of(one) for pid, one in self._known.items()},
        }

    def _process(self, pid: int) -> psutil.Process | None:
        known = self._known.get(pid)
        if known is not None and known.is_running():
            return known
        try:
            return psutil.Process(pid)
        except psutil.Error:
            return None

    def _disk_free_mb(self) -> float | None:
        try:
            return float(psutil.disk_usage(str(self._folder)).free / 2**20)
        except OSError:
            return None


def _of(process: psutil.Process) -> dict[str, float] | None:
    try:
        with process.oneshot():
            memory = process.memory_info()
            return {
                "cpu_percent": process.cpu_percent(),
                "memory_mb": (memory.rss - getattr(memory, "shared", 0)) / 2**20,
            }
    except psutil.Error:
        return None
