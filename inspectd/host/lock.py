"""One run of a line at a time: a lock in the record's folder, held by the supervisor.

The kernel lets it go when the process ends, however it ends; the file stays and says nothing.
"""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from inspectd.errors import PortBusy, UsageFault

__all__ = ["only_run"]

_FILE = "run.lock"


@contextmanager
def only_run(folder: Path) -> Iterator[None]:
    """Hold the lock of a record's folder; the folder is made when it is not there.

    Raises:
        UsageFault: the folder cannot be made or written.
        PortBusy: another run keeps its record here.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        fd = os.open(folder / _FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise UsageFault(
            f"the record cannot be kept here ({error.strerror})",
            str(folder),
            "let the user of inspectd write this folder, or name another as record.folder",
        ) from error
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(fd)
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise
        raise PortBusy(
            str(folder), "another run keeps its record here: stop it, or name another record.folder"
        ) from error
    try:
        yield
    finally:
        os.close(fd)
