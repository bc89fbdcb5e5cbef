"""The line under trial: `inspectd run` as its service manager would start it, again and again.

What is inside is found as a plant's engineer would find it: the supervisor's descriptors lie in
`/proc`, so its manifest, its board and its frame memory can be read without asking anybody.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from inspectd.bus.arena import MemfdArena
from inspectd.chaos.hooks import STEPS
from inspectd.chaos.page import VARIABLE
from inspectd.errors import InspectdError
from inspectd.frame import Role
from inspectd.host.board import Board, State
from inspectd.host.journey import LINE_WIDE, Member, crew_of
from inspectd.host.manifest import Manifest

__all__ = ["House", "Inside"]

_AGAIN_AFTER_S = 0.1
"""`RestartSec` of the service manager that is played here."""
_STOP_S = 90
"""Longest orderly end of a line."""


@dataclass(slots=True)
class Inside:
    """A running supervisor, seen through its descriptors."""

    pid: int
    manifest: Manifest
    board: Board
    arenas: list[MemfdArena]

    def pid_of(self, member: Member) -> int:
        """Process id; 0: it is not there at the moment."""
        return int(self.board.row(*member).state().pid)

    def states(self) -> tuple[State, ...]:
        """How everybody says he is."""
        return self.board.states()

    def slots_in_use(self) -> int:
        """Slots that somebody owns, over all stations."""
        roles = [role for role in Role if role not in (Role.NOBODY, Role.SUPERVISOR, Role.SINK)]
        return sum(len(arena.owned(role)) for arena in self.arenas for role in roles)

    def close(self) -> None:
        """Let go of the memory."""
        for arena in self.arenas:
            arena.close()
        self.board.close()


class House:
    """Starts the line, notices its end, starts it again."""

    def __init__(self, file: Path, page: Path, folder: Path) -> None:
        """Run the line of `file`; `folder` takes its log."""
        self._file, self._page = file, page
        self._log_path = folder / "line.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._inside: Inside | None = None
        self._start_at = 0.0
        self._is_wanted = False
        self.ends: list[tuple[int, int]] = []
        """Moment (monotonic ns) and exit code of every end that was noticed."""

    # ------------------------------------------------------------ the service manager

    def start(self) -> None:
        """Start the line; from now on `tend` keeps it running."""
        self._is_wanted = True
        self._spawn()

    def tend(self) -> None:
        """Start the line again when it has ended; call it often."""
        if self._process is None:
            if self._is_wanted and time.monotonic() >= self._start_at:
                self._spawn()
            return
        code = self._process.poll()
        if code is None:
            return
        self.ends.append((time.monotonic_ns(), code))
        self._forget()
        self._process = None
        self._start_at = time.monotonic() + _AGAIN_AFTER_S

    def stop(self) -> int | None:
        """End the line in order; answer its exit code, None when there was none or it hung."""
        self._is_wanted = False
        process = self._process
        if process is None:
            return None
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGCONT)
        process.terminate()
        try:
            code: int | None = process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            code = None
        self._forget()
        self._process = None
        return code

    def kill(self) -> None:
        """End the line at once, for good."""
        self._is_wanted = False
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._forget()
            self._process = None

    def _spawn(self) -> None:
        steps = [word for role, step in STEPS.items() for word in ("--step", f"{role}={step}")]
        with self._log_path.open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "inspectd.host.tether", str(os.getpid()), "insp-line"),
                    *("inspectd", "run", str(self._file), "--quiet", *steps),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                env={**os.environ, VARIABLE: str(self._page)},
                start_new_session=True,  # Ctrl-C is for the campaign, which knows the order
            )

    # ------------------------------------------------------------ inside

    @property
    def pid(self) -> int:
        """Of the supervisor; 0: there is none."""
        return 0 if self._process is None else self._process.pid

    def inside(self) -> Inside | None:
        """What can be seen of the line; None: nothing yet."""
        if self._process is None:
            return None
        if self._inside is None:
            with suppress(OSError, InspectdError, psutil.Error, ValueError):
                self._inside = _look_inside(self._process.pid)
        return self._inside

    def members(self) -> Sequence[Member]:
        """Of the running line; empty: it is not seen yet."""
        inside = self.inside()
        return () if inside is None else inside.board.members

    def target(self, role: Role, station: int) -> int:
        """Process id of a role; 0: it is not there at the moment."""
        if role is Role.SUPERVISOR:
            return self.pid
        inside = self.inside()
        if inside is None:
            return 0
        return inside.pid_of((role, -1 if role in LINE_WIDE else station))

    def _forget(self) -> None:
        if self._inside is not None:
            self._inside.close()
            self._inside = None


def _look_inside(pid: int) -> Inside | None:
    """Find the descriptors in the arguments of any child, and open them through /proc."""
    for child in psutil.Process(pid).children():
        words = child.cmdline()
        if "--manifest" in words and "--board" in words:
            return _opened(pid, words)
    return None


def _opened(pid: int, words: Sequence[str]) -> Inside | None:
    manifest_fd = _open(pid, words[words.index("--manifest") + 1])
    try:
        manifest = Manifest.read(manifest_fd)
    finally:
        os.close(manifest_fd)
    given = _arenas_of(pid)
    if len(given) < len(manifest.line.stations):
        return None
    board = Board.attach(_open(pid, words[words.index("--board") + 1]), crew_of(manifest.line))
    arenas = [
        MemfdArena.attach(_open(pid, given[index]), manifest.geometries[index], Role.RECORD)
        for index in range(len(manifest.line.stations))
    ]
    return Inside(pid, manifest, board, arenas)


def _arenas_of(pid: int) -> dict[int, str]:
    """Descriptors of the arenas by station, from the arguments of all children."""
    found: dict[int, str] = {}
    for child in psutil.Process(pid).children():
        words = child.cmdline()
        for at, word in enumerate(words[:-1]):
            if word == "--arena":
                station, _, fd = words[at + 1].partition(":")
                found[int(station)] = fd
    return found


def _open(pid: int, fd: str) -> int:
    return os.open(f"/proc/{pid}/fd/{fd}", os.O_RDWR | os.O_CLOEXEC)
