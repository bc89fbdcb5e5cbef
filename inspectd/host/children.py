"""Births and ends of the processes of a line, one at a time.

Started anew (spawn), never forked: a child has nothing of its parent but the descriptors it is
given, which are the manifest, the board, the frame memory it works on, and the journals of sinks.
"""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inspectd.frame import Role
from inspectd.host.board import Row
from inspectd.host.journey import Member
from inspectd.host.patience import PATIENCE
from inspectd.host.signals import HURRY
from inspectd.ports import Status

__all__ = ["Child", "Inheritance", "is_overdue"]


@dataclass(frozen=True, slots=True)
class Inheritance:
    """The descriptors that children are given."""

    manifest_fd: int
    board_fd: int
    arena_fds: Mapping[int, int]
    """By station; a station's own process gets its own only."""
    journal_fds: Mapping[int, int]
    """By station; the sink gets its own, the record all, nobody else any."""
    former_fds: Sequence[int] = ()
    """Journals of a run that was killed whole; for the record."""

    def arenas_for(self, member: Member) -> dict[int, int]:
        """The frame memory of a process."""
        return {i: fd for i, fd in self.arena_fds.items() if member[1] in (-1, i)}

    def journals_for(self, member: Member) -> dict[int, int]:
        """The journals of a process."""
        if member[0] not in (Role.SINK, Role.RECORD):
            return {}
        return {i: fd for i, fd in self.journal_fds.items() if member[1] in (-1, i)}


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
        arenas, journals = given.arenas_for(member), given.journals_for(member)
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
        for i, fd in journals.items():
            command += ["--journal", f"{i}:{fd}"]
        former = given.former_fds if role is Role.RECORD else ()
        for fd in former:
            command += ["--former", str(fd)]
        row.born(restarts, now_ns)
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=(
                *(given.manifest_fd, given.board_fd),
                *(*arenas.values(), *journals.values(), *former),
            ),
            start_new_session=True,  # Ctrl-C is for the supervisor, which knows the order
        )
        return cls(member, row, process)

    def code(self) -> int | None:
        """Exit code, or minus the signal that killed it; None while it lives. Reaps it."""
        return self.process.poll()

    def has_begun(self) -> bool:
        """Whether its loop has turned."""
        return self.row.state().status not in (Status.ABSENT, Status.STARTING, Status.BUILDING)

    def hurry(self) -> None:
        """Ask it to leave what it holds, and to close its devices at once."""
        self.process.send_signal(HURRY)

    def kill(self) -> None:
        """Kill it (SIGKILL) and reap it."""
        self.process.kill()
        self.process.wait()


def is_overdue(row: Row, now_ns: int) -> bool:
    """Whether a process is surely stuck: it is to be killed and started again."""
    state = row.state()
    patience = PATIENCE[state.role]
    limits_s = {Status.STARTING: patience.start_s, Status.BUILDING: patience.build_s}
    return now_ns - state.moved_ns > limits_s.get(state.status, patience.kill_s) * 1e9
