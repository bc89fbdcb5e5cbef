"""Files that a command is asked to write: refused before the work, not after it."""

import os
from pathlib import Path

from inspectd.errors import UsageFault

__all__ = ["check_writable", "write"]


def check_writable(path: str | Path | None) -> None:
    """Refuse a file that cannot be written; nothing is written, and None is nothing to refuse.

    Raises:
        UsageFault: it is a folder, its folder does not exist, or neither may be written to.
    """
    if path is None or str(path).startswith("/proc/self/fd/"):
        return
    file = Path(path)
    if file.is_dir():
        raise UsageFault("is a folder", str(file), "name a file in it")
    if not file.absolute().parent.is_dir():
        raise UsageFault("its folder does not exist", str(file), "make the folder first")
    if not os.access(file if file.exists() else file.absolute().parent, os.W_OK):
        raise UsageFault("may not be written", str(file), "name another, or change its rights")


def write(path: str | Path, text: str) -> None:
    """Write a text file.

    Raises:
        UsageFault: the system does not let us.
    """
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageFault(
            f"cannot be written ({error.strerror})", str(path), "make room, or name another"
        ) from error
