"""One page of shared memory on which every process says how it is: a row each.

A row has one writer, its process (before it is born and after it died, the supervisor). Readers see
whole 8-byte words; the sentence of trouble may be read while it changes, and is for people only.
The page is an anonymous memfd like the arenas: nothing to unlink.
"""

import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass

from inspectd.errors import ArenaFault
from inspectd.frame import Role
from inspectd.host.journey import LINE_WIDE, Member
from inspectd.host.patience import PATIENCE, SILENCE_NS
from inspectd.ports import Counter, Status

__all__ = ["Board", "Row", "State"]

_MAGIC = int.from_bytes(b"inspBRD1", "little")
_HEADER_WORDS = 8
_MAGIC_AT, _ROWS, _EPOCH = range(3)
"""Places in the header, in 8-byte words."""
_ROW_WORDS = 64
_STATUS, _LOOP, _BUSY, _PID, _RESTARTS, _TROUBLE_BYTES = range(6)
_COUNTERS = 8
_COUNTERS_MAX = 32
_TROUBLE = _COUNTERS + _COUNTERS_MAX
_TROUBLE_MAX_BYTES = (_ROW_WORDS - _TROUBLE) * 8
_NEEDED = (Role.CAMERA, Role.GATE, Role.INFER, Role.JUDGE)
"""Whom a station needs for a verdict. The sink asks, so it moves; a record that is away must never
stop verdicts."""
_NEEDED_IF_THERE = (Role.REJECT,)
"""Whom it needs as well, where it has one: without its ejector no part may be triggered."""


@dataclass(frozen=True, slots=True)
class State:
    """What stood in a row."""

    role: Role
    station: int
    status: Status
    loop_ns: int
    """Last turn of the loop, monotonic."""
    busy_since_ns: int
    """Begin of the call of the step that is under way; 0: none is."""
    pid: int
    restarts: int
    trouble: str
    counters: tuple[int, ...]
    """Per `Counter`; they go on over restarts."""

    @property
    def moved_ns(self) -> int:
        """Last sign of movement, monotonic."""
        return self.busy_since_ns or self.loop_ns

    def is_ready(self, now_ns: int) -> bool:
        """Whether the process says READY and moves."""
        if self.status is not Status.READY:
            return False
        limit_ns = PATIENCE[self.role].busy_s * 1e9 if self.busy_since_ns else SILENCE_NS
        return now_ns - self.moved_ns < limit_ns


class Row:
    """A process's own row: the only one it writes."""

    def __init__(self, words: "memoryview[int]", text: memoryview, member: Member) -> None:
        """Wrap the memory of a row; `Board.row` makes it."""
        self._words = words
        self._text = text
        self.member = member
        self._trouble = ""

    def beat(self, now_ns: int) -> None:
        """Show that the loop turns."""
        self._words[_LOOP] = now_ns

    def busy(self, since_ns: int) -> None:
        """Show that the step is called; 0: it has answered."""
        self._words[_BUSY] = since_ns

    def say(self, status: Status, trouble: str = "") -> None:
        """Set the status, with one sentence when something is wrong."""
        if trouble != self._trouble:
            text = trouble.encode()[:_TROUBLE_MAX_BYTES]
            self._text[: len(text)] = text
            self._words[_TROUBLE_BYTES] = len(text)
            self._trouble = trouble
        self._words[_STATUS] = status

    def building(self, what: str, now_ns: int) -> None:
        """Say that an engine is being built; empty: it is not any more."""
        self._words[_LOOP] = now_ns
        self.say(Status.BUILDING if what else Status.STARTING, what)

    def alive(self, pid: int) -> None:
        """Name the process; its first words."""
        self._words[_PID] = pid

    def born(self, restarts: int, now_ns: int) -> None:
        """Begin the life of a process (the supervisor, before it starts the process)."""
        self._words[_PID] = 0
        self._words[_RESTARTS] = restarts
        self._words[_LOOP] = now_ns
        self._words[_BUSY] = 0
        self.say(Status.STARTING)

    def gone(self) -> None:
        """End it (the supervisor, when the process is reaped)."""
        self._words[_PID] = 0
        self._words[_BUSY] = 0
        self.say(Status.ABSENT)

    def count(self, counter: Counter, number: int = 1) -> None:
        """Add to a counter of this process."""
        self._words[_COUNTERS + counter] += number

    def close(self) -> None:
        """Let go of the memory of the row."""
        self._words.release()
        self._text.release()

    @property
    def restarts(self) -> int:
        """How often the process was started again."""
        return self._words[_RESTARTS]

    def state(self) -> State:
        """Read the row."""
        words = self._words
        role, station = self.member
        return State(
            role=role,
            station=station,
            status=Status(words[_STATUS]),
            loop_ns=words[_LOOP],
            busy_since_ns=words[_BUSY],
            pid=words[_PID],
            restarts=words[_RESTARTS],
            trouble=bytes(self._text[: words[_TROUBLE_BYTES]]).decode(errors="replace"),
            counters=tuple(words[_COUNTERS : _COUNTERS + len(Counter)]),
        )


class Board:
    """All rows of a line."""

    def __init__(self, fd: int, crew: Sequence[Member]) -> None:
        """Map the page; use `create` or `attach`."""
        self.fd = fd
        self.members = tuple(crew)
        self._map = mmap.mmap(fd, _size(crew))
        self._memory = memoryview(self._map)
        self._words = self._memory.cast("Q")
        self._rows = {member: self._row(i, member) for i, member in enumerate(self.members)}

    @classmethod
    def create(cls, crew: Sequence[Member]) -> "Board":
        """Make the page for a line; every row says ABSENT."""
        fd = os.memfd_create("inspectd-board", os.MFD_CLOEXEC)
        try:
            os.posix_fallocate(fd, 0, _size(crew))
        except OSError as error:
            os.close(fd)
            raise ArenaFault(f"the board cannot be made ({error})", "free memory") from error
        board = cls(fd, crew)
        board._words[_MAGIC_AT] = _MAGIC
        board._words[_ROWS] = len(crew)
        return board

    @classmethod
    def attach(cls, fd: int, crew: Sequence[Member]) -> "Board":
        """Use an inherited page.

        Raises:
            ArenaFault: it is not a board of this version for so many processes.
        """
        found = os.pread(fd, 16, 0)
        expected = _MAGIC.to_bytes(8, "little") + len(crew).to_bytes(8, "little")
        if found != expected or os.fstat(fd).st_size != _size(crew):
            raise ArenaFault(
                "the board is of another version or line", "start the line anew: versions are mixed"
            )
        return cls(fd, crew)

    def begin(self, now_ns: int) -> None:
        """Note when the first camera was started; later calls change nothing."""
        if self._words[_EPOCH] == 0:
            self._words[_EPOCH] = now_ns

    @property
    def epoch_ns(self) -> int:
        """When the line began to see parts, monotonic; 0: it has not yet."""
        return self._words[_EPOCH]

    def row(self, role: Role, station: int) -> Row:
        """Answer the row of a process."""
        return self._rows[role, station]

    def states(self) -> tuple[State, ...]:
        """Read all rows, in the order of `members`."""
        return tuple(row.state() for row in self._rows.values())

    def is_ready(self, role: Role, station: int, now_ns: int) -> bool:
        """Whether a process says READY and moves; False for one that this line does not have."""
        row = self._rows.get((role, station))
        return row is not None and row.state().is_ready(now_ns)

    def is_line_healthy(self, station: int, now_ns: int) -> bool:
        """Whether camera, gate, infer, judge and, if it has one, ejector of a station are ready."""
        there = tuple(role for role in _NEEDED_IF_THERE if (role, station) in self._rows)
        return all(
            self.is_ready(role, -1 if role in LINE_WIDE else station, now_ns)
            for role in (*_NEEDED, *there)
        )

    def close(self) -> None:
        """Let go of the page."""
        for row in self._rows.values():
            row.close()
        self._words.release()
        self._memory.release()
        self._map.close()
        os.close(self.fd)

    def _row(self, index: int, member: Member) -> Row:
        start = _HEADER_WORDS + index * _ROW_WORDS
        end = start + _ROW_WORDS
        text = self._memory[(start + _TROUBLE) * 8 : end * 8]
        return Row(self._words[start:end], text, member)


def _size(crew: Sequence[Member]) -> int:
    """Bytes of the page, whole pages."""
    size = (_HEADER_WORDS + len(crew) * _ROW_WORDS) * 8
    return -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
