"""EDGE psutil, os: what the kernel says of processes, disk and archive."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import psutil

from inspectd.metrics.snapshot import ArchiveSize, DiskSize, Usage
from inspectd.record.archive import FOLDER_NAME
from inspectd.record.database import FILE_NAME

__all__ = ["Walk", "disk_of", "usage_of"]


def usage_of(pid: int) -> Usage | None:
    """What a process uses; None: it is gone, or not ours."""
    try:
        process = psutil.Process(pid)
        with process.oneshot():
            times = process.cpu_times()
            resident = process.memory_info().rss
            return Usage(times.user + times.system, resident, process.num_fds())
    except (psutil.Error, OSError):
        return None


def disk_of(folder: Path) -> DiskSize | None:
    """The disk of the record, and its database; None: it does not answer, or is not there yet."""
    try:
        disk = shutil.disk_usage(folder)
    except OSError:
        return None
    names = (FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-shm")
    return DiskSize(disk.free, disk.total, sum(_size(folder / name) for name in names))


class Walk:
    """Adds up the archive, some hundred files at a time: it may have very many."""

    def __init__(self, folder: Path) -> None:
        """Args: folder: The record's."""
        self._folder = folder / FOLDER_NAME
        self._sizes: Iterator[int] | None = None
        self._bytes = self._files = 0

    def go_on(self, files: int) -> ArchiveSize | None:
        """Look at so many more; the sum when the end is reached, and the next call begins anew."""
        if self._sizes is None:
            self._sizes = _sizes(self._folder)
            self._bytes = self._files = 0
        for _ in range(files):
            size = next(self._sizes, None)
            if size is None:
                self._sizes = None
                return ArchiveSize(self._bytes, self._files)
            self._bytes += size
            self._files += 1
        return None


def _sizes(folder: Path) -> Iterator[int]:
    """Bytes of every file below; what is deleted meanwhile is left out, links are not followed."""
    for root, _, names in os.walk(folder):
        for name in names:
            yield _size(Path(root) / name)


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0
