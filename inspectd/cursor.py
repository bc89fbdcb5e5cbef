"""How far a receiver of events has got: a file of two slots, written in turns.

A slot is a line of JSON with its checksum. The newest whole one counts, so that a death in the
middle of a write costs one step at most, and a step costs duplicates only. The file is made in its
full size: going on needs no room on the disk. `inspectd.forward` writes it, the record reads it
before it deletes anything.
"""

import json
import os
import re
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

__all__ = [
    "SLOT_BYTES",
    "Cursor",
    "CursorFile",
    "Found",
    "cursor_path",
    "is_known",
    "newest",
    "read",
    "slot_of",
]

SLOT_BYTES = 512
_CHECK_DIGITS = 8
_SLOTS = 2


@dataclass(frozen=True, slots=True)
class Cursor:
    """What a receiver has of one database file."""

    database_id: str
    """Which file: numbers begin again when it is moved aside."""
    sequence: int = 0
    """It has every event up to this one."""
    amended: int = 0
    """And every amendment up to this one (`inspectd.record.identity`)."""
    mark: str = ""
    """Key of the event `sequence`: a file that lost its last commits in a power cut gives the same
    number to another event."""


class Found(NamedTuple):
    """The newest slot of a file."""

    turn: int
    """Counts the writes."""
    cursor: Cursor


def slot_of(turn: int, cursor: Cursor) -> bytes:
    """Write a slot.

    Raises:
        ValueError: it does not fit; the names in a mark are bounded, so this is a fault of ours.
    """
    text = json.dumps({"turn": turn, **asdict(cursor)}, separators=(",", ":"))
    body = text.encode().ljust(SLOT_BYTES - _CHECK_DIGITS - 1)
    if len(body) != SLOT_BYTES - _CHECK_DIGITS - 1:
        raise ValueError(f"a cursor of {len(text)} characters does not fit its slot")
    return body + b"%08x\n" % zlib.crc32(body)


def newest(content: bytes) -> Found | None:
    """Read the newest whole slot; None when there is none."""
    slots = (content[at : at + SLOT_BYTES] for at in range(0, _SLOTS * SLOT_BYTES, SLOT_BYTES))
    found = [one for one in map(_read_slot, slots) if one is not None]
    return max(found, key=lambda one: one.turn, default=None)


def cursor_path(folder: Path, name: str, database_id: str) -> Path:
    """Where the cursor of a receiver lies, in the record's `folder`."""
    return folder / "forward" / f"{name}-{database_id[:12]}.cursor"


def is_known(folder: Path, name: str) -> bool:
    """Whether a receiver has ever had a cursor here, of whatever database."""
    ours = re.compile(re.escape(name) + r"-[0-9a-f]{12}\.cursor")
    return any(ours.fullmatch(one.name) for one in (folder / "forward").glob("*.cursor"))


def read(path: Path) -> Cursor | None:
    """Read a cursor; None when there is none, or none that is whole."""
    try:
        found = newest(path.read_bytes())
    except OSError:
        return None
    return found.cursor if found else None


class CursorFile:
    """EDGE: the open file of one forwarder, its only writer."""

    def __init__(self, path: Path) -> None:
        """Open it, or make it in its full size.

        Raises:
            OSError: no room, no rights.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self.is_new = not path.exists()
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            os.posix_fallocate(self._fd, 0, _SLOTS * SLOT_BYTES)
            os.fsync(self._fd)
            found = newest(os.pread(self._fd, _SLOTS * SLOT_BYTES, 0))
        except OSError:
            os.close(self._fd)
            raise
        self._turn = found.turn if found else 0
        self.cursor = found.cursor if found else None
        """As it stood in the file; None: nothing was sent yet, or nobody knows."""

    def write(self, cursor: Cursor) -> None:
        """Keep a cursor; after a power cut it may be an older one.

        Raises:
            OSError: the disk refuses.
        """
        turn = self._turn + 1
        os.pwrite(self._fd, slot_of(turn, cursor), turn % _SLOTS * SLOT_BYTES)
        self._turn, self.cursor = turn, cursor

    def close(self) -> None:
        """Close it."""
        os.close(self._fd)


def _read_slot(slot: bytes) -> Found | None:
    body, check = slot[: -_CHECK_DIGITS - 1], slot[-_CHECK_DIGITS - 1 :]
    if len(slot) != SLOT_BYTES or check != b"%08x\n" % zlib.crc32(body):
        return None
    try:
        values = json.loads(body)
        return Found(int(values.pop("turn")), Cursor(**values))
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
