"""EDGE sqlite3: the record's database as a queue; only read, in short transactions.

What is relied on is written in `docs/record.md`: tables `events`, `identity` and `amended`. New
events come first in the order of their numbers; an event that is amended after it was sent comes
again, with a higher revision.
"""

import os
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from inspectd.cursor import Cursor
from inspectd.forward.event import FIELDS, Outgoing

__all__ = ["FILE_NAME", "Outbox", "Pending"]

FILE_NAME = "events.sqlite"
_BUSY_S = 0.5
_OWN = {
    "database_id": "identity.database_id",
    "revision": "coalesce((SELECT max(number) FROM amended"
    " WHERE amended.sequence = events.sequence), 0)",
}
_COLUMNS = ", ".join(_OWN.get(name, f"events.{name}") for name in FIELDS)
_NEW = f"SELECT {_COLUMNS} FROM events, identity WHERE sequence > ? ORDER BY sequence LIMIT ?"  # noqa: S608
_AGAIN = (
    f"SELECT {_COLUMNS}, amended.number FROM amended"  # noqa: S608 - our names
    " JOIN events ON events.sequence = amended.sequence, identity"
    " WHERE amended.number > ? AND amended.sequence <= ? ORDER BY amended.number LIMIT ?"
)
_MARK = (
    "SELECT run_id || '/' || station || '/' || trigger_id || '/' || epoch_ns"
    " FROM events WHERE sequence = ?"
)


class Pending(NamedTuple):
    """An event to send, and how far its receiver is when it has it."""

    event: Outgoing
    cursor: Cursor


class Outbox:
    """One database, open for reading."""

    def __init__(self, path: Path) -> None:
        """Open a file.

        Raises:
            sqlite3.Error: there is none, or none that can be read.
            LookupError: the file has no name yet (of an older inspectd, or begun on a full disk).
        """
        self._path = path
        uri = f"{path.absolute().as_uri()}?mode=ro"
        self._connection = sqlite3.connect(uri, uri=True, timeout=_BUSY_S)
        try:
            self._inode = os.stat(path).st_ino  # noqa: PTH116  beside is_current
            self.database_id = self._name()
        except (sqlite3.Error, OSError, LookupError):
            self._connection.close()
            raise

    def is_current(self) -> bool:
        """Whether the path still leads to this file (it may have been moved aside)."""
        try:
            return os.stat(self._path).st_ino == self._inode  # noqa: PTH116
        except OSError:
            return False

    def verified(self, cursor: Cursor | None, *, with_backlog: bool) -> Cursor:
        """Answer where to go on.

        Args:
            cursor: as it was kept; None: this receiver is new here.
            with_backlog: whether a new receiver gets what is there already.

        Returns:
            The cursor; set back, when this file lost commits after they had been sent.
        """
        if cursor is None or cursor.database_id != self.database_id:
            return self._end() if cursor is None and not with_backlog else Cursor(self.database_id)
        mark = self._mark(cursor.sequence)
        if mark == cursor.mark or (not mark and self._last("events") >= cursor.sequence):
            return replace(cursor, amended=min(cursor.amended, self._last("amended")))
        run_id = cursor.mark.split("/", 1)[0]
        last = self._one("SELECT max(sequence) FROM events WHERE run_id = ?", run_id) or 0
        return Cursor(self.database_id, last, 0, self._mark(last))

    def bite(self, cursor: Cursor, limit: int) -> tuple[list[Pending], Cursor]:
        """Read the next events to send.

        Args:
            cursor: how far the receiver is.
            limit: most events.

        Returns:
            The events, and the cursor to go on from when there are none.
        """
        newest = self._last("amended")
        if newest > cursor.amended:
            rows = self._connection.execute(_AGAIN, (cursor.amended, cursor.sequence, limit))
            again = [_amended(cursor, row) for row in rows.fetchall()]
            if again:
                return again, cursor
            cursor = replace(cursor, amended=newest)
        rows = self._connection.execute(_NEW, (cursor.sequence, limit))
        return [_new(cursor, row) for row in rows.fetchall()], cursor

    def waiting(self, cursor: Cursor) -> int:
        """How many events are not sent yet."""
        return int(
            self._one("SELECT count(*) FROM events WHERE sequence > ?", cursor.sequence) or 0
        )

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _name(self) -> str:
        row = self._one("SELECT name FROM sqlite_master WHERE name = 'identity'")
        found = self._one("SELECT database_id FROM identity") if row else None
        if found is None:
            raise LookupError("it has no name yet; start the line once with room on the disk")
        return str(found)

    def _end(self) -> Cursor:
        last = self._one("SELECT max(sequence) FROM events") or 0
        return Cursor(self.database_id, last, self._last("amended"), self._mark(last))

    def _last(self, table: str) -> int:
        """The highest number that a table has ever given."""
        return int(self._one("SELECT seq FROM sqlite_sequence WHERE name = ?", table) or 0)

    def _mark(self, sequence: int) -> str:
        return str(self._one(_MARK, sequence) or "")

    def _one(self, query: str, *values: object) -> Any:
        """The first value of the first row; None when there is none."""
        row = self._connection.execute(query, values).fetchone()
        return None if row is None else row[0]


def _new(before: Cursor, row: Sequence[Any]) -> Pending:
    event = Outgoing(dict(zip(FIELDS, row, strict=True)))
    return Pending(event, replace(before, sequence=event.sequence, mark=event.mark))


def _amended(before: Cursor, row: Sequence[Any]) -> Pending:
    *values, number = row
    return Pending(
        Outgoing(dict(zip(FIELDS, values, strict=True))), replace(before, amended=number)
    )
