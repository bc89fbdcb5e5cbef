"""A small disk for the record, which can be filled to the last byte and emptied again.

A tmpfs mounted in the trial's folder: that takes the right to mount. Without it the kind is left
out; nobody's own disk is ever filled.
"""

import errno
import os
import subprocess
from contextlib import suppress
from pathlib import Path

__all__ = ["SmallDisk", "mount"]

_SIZE_MB = 96
_STEP_BYTES = 1 << 20
_MOUNT_S = 20


class SmallDisk:
    """A mounted folder."""

    def __init__(self, folder: Path) -> None:
        """Take over a folder that `mount` has made."""
        self.folder = folder
        self._filler = folder / "filler"

    def fill(self) -> None:
        """Leave not a byte."""
        fd = os.open(self._filler, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            at, step = 0, _STEP_BYTES
            while step:
                if _has_grown(fd, at, step):
                    at += step
                else:
                    step //= 2
        finally:
            os.close(fd)

    def empty(self) -> None:
        """Give the room back."""
        self._filler.unlink(missing_ok=True)

    def keep(self, beside: Path) -> None:
        """Copy what lies on it, for it goes with the mount."""
        self.empty()
        subprocess.run(["cp", "-a", f"{self.folder}/.", str(beside)], check=False)  # noqa: S607 - of the system

    def close(self) -> None:
        """Unmount; also when somebody still looks at it."""
        self.empty()
        subprocess.run(
            ["umount", "--lazy", str(self.folder)],  # noqa: S607 - of the system
            check=False,
            capture_output=True,
            timeout=_MOUNT_S,
        )


def _has_grown(fd: int, at: int, size: int) -> bool:
    """Add so many bytes to a file; False when there is no room for them."""
    try:
        os.posix_fallocate(fd, at, size)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        return False
    return True


def mount(folder: Path) -> SmallDisk | str:
    """Mount a small disk at an empty folder, or answer why it cannot be."""
    folder.mkdir(parents=True, exist_ok=True)
    if os.geteuid() != 0:
        return "only root may mount a small disk for the record"
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={_SIZE_MB}m,mode=0700", "inspectd-chaos", folder],  # noqa: S607
            check=False,
            capture_output=True,
            text=True,
            timeout=_MOUNT_S,
        )
        if done.returncode == 0:
            return SmallDisk(folder)
        return f"no small disk for the record can be mounted ({done.stderr.strip()})"
    return "no small disk for the record can be mounted (there is no mount command)"
