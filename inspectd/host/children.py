"""Births and ends of the processes of a line, one at a time.

Started anew (spawn), never forked: a child has nothing of its parent but the descriptors it is
given, which are the manifest, the board, and the frame memory it works on.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from inspectd.host.board import Row
from inspectd.host.journey import Member
from inspectd.host.patience import PATIENCE
from inspectd.ports import Status

__all__ = ["Child", "Inheritance", "is_overdue"]


@dataclass(frozen=True, slots=True)
class Inheritance:
    """The descriptors that children are given."""

    manifest_fd: int
    board_fd: int
    arena_fds: Mapping[int, int]
    """By station; a station's own process gets its own only."""


@dataclass(slots=True)
class Child:
    """A process that was started."""

    member: Member
    row: Row
    process: "subprocess.Popen[bytes]"
    was_ready: bool = False
    """Whether it has said READY since its birth."""

    @classmethod
    def spawn(
        cls, member: Member, row: Row, restarts: int, given: Inheritance, now_ns: int
    ) -> "Child":
        """Start a process; it shows on the board how it gets on."""
        role, station = member
        arenas = {i: fd for i, fd in given.arena_fds.items() if station in (-1, i)}
        command = [
            *(sys.executable, "-m", "inspectd.host.child"),
            *("--parent", str(os.getpid())),
            *("--role", role.name.lower()),
            *("--station", str(station)),
            *("--manifest", str(given.manifest_fd)),
            *("--board", str(given.board_fd)),
        ]
        for i, fd in arenas.items():
            command += ["--arena", f"{i}:{fd}"]
        row.born(restarts, now_ns)
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=(given.manifest_fd, given.board_fd, *arenas.values()),
            start_new_session=True,  # Ctrl-C is for the supervisor, which knows the order
        )
        return cls(member, row, process)

    def code(self) -> int | None:
        """Exit code, or minus the signal that killed it; None while it lives. Reaps it."""
        return self.process.poll()

    def has_begun(self) -> bool:
        """Whether its loop has turned."""
        return self.row.state().status not in (Status.ABSENT, Status.STARTING)

    def kill(self) -> None:
        """Kill it (SIGKILL) and reap it."""
        self.process.kill()
        self.process.wait()


def is_overdue(row: Row, now_ns: int) -> bool:
    """Whether a process is surely stuck: it is to be killed and started again."""
    state = row.state()
    patience = PATIENCE[state.role]
    limit_s = patience.start_s if state.status is Status.STARTING else patience.kill_s
    return now_ns - state.moved_ns > limit_s * 1e9
