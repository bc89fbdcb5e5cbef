"""Ties the life of a process to its parent's, and names it: the first thing a child does.

    python -m inspectd.host.tether PARENT_PID NAME MODULE ARGUMENTS...

runs a module as `python -m MODULE` would, tied. Imports next to nothing, so that the tie is there
some milliseconds after the birth.
"""

import ctypes
import faulthandler
import os
import runpy
import signal
import sys

__all__ = ["tie", "untie"]

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15
_NAME_MAX_BYTES = 15
"""prctl(2)."""


def tie(parent_pid: int, name: str) -> None:
    """Die by SIGKILL when the parent dies, in whatever way; be listed as `name` (15 bytes)."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    libc.prctl(_PR_SET_NAME, name.encode()[:_NAME_MAX_BYTES], 0, 0, 0)
    if os.getppid() != parent_pid:  # it died before the tie was made
        os._exit(1)
    faulthandler.enable()


def untie() -> None:
    """Live on when the parent dies: for who watches it otherwise (`inspectd.host.outlive`)."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, 0, 0, 0, 0)


if __name__ == "__main__":
    tie(int(sys.argv[1]), sys.argv[2])
    module = sys.argv[3]
    sys.argv[:] = sys.argv[3:]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
