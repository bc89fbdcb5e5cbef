"""Whether a changed station file can be run, found out beside the running line.

`inspectd check --prove` in a process of its own: every check of the file and the disk, then the
engine loads each model and must give the golden outputs. The line goes on meanwhile, and never
waits: the trial is looked at once a turn, and bounded.
"""

import os
import subprocess
import sys
import time
from typing import NamedTuple

__all__ = ["Finding", "Trial"]

_LIMIT_S = 3600
"""An engine may have to be built."""
_TEXT_MAX = 2000
_NICE = ("nice", "-n", "5")


class Finding(NamedTuple):
    """What a trial found."""

    is_fit: bool
    text: str
    """Its faults, when it is not."""


class Trial:
    """One file, tried once."""

    def __init__(self, file: str) -> None:
        """Start to try."""
        tied = [sys.executable, "-m", "inspectd.host.tether", str(os.getpid()), "insp-trial"]
        command = [*_NICE, *tied, "inspectd", "check", "--prove", file]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._until_s = time.monotonic() + _LIMIT_S

    def look(self) -> Finding | None:
        """What it found; None: not yet."""
        if self._process.poll() is None:
            if time.monotonic() < self._until_s:
                return None
            self.close()
            return Finding(is_fit=False, text=f"the check took longer than {_LIMIT_S} s")
        _, text = self._process.communicate()
        return Finding(self._process.returncode == 0, text.strip()[-_TEXT_MAX:])

    def close(self) -> None:
        """Give it up."""
        self._process.kill()
        self._process.communicate()
