"""EDGE sqlite3: the reviews of a line, `reviews.sqlite` in the record's folder, append-only.

A file of its own: the record has one writer, and what people say must outlive a record that was
moved aside or cleared. Reviews are few and each is a person's work, so a commit is on the disk
before it is answered (rollback journal, `synchronous = FULL`), and there is one file to copy. Each
call opens the file and closes it: any number of processes and threads may use it at once, and a
process that dies leaves the review whole or not at all. Rows cannot be changed or deleted
(triggers).
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from inspectd.errors import UsageFault
from inspectd.record.event import utc_text
from inspectd.record.history import Recorded
from inspectd.review.judgement import (
    Counts,
    EventKey,
    Judgement,
    Review,
    checked,
    counted,
    latest_of,
)

__all__ = ["FILE_NAME", "Reviews"]

FILE_NAME = "reviews.sqlite"
SCHEMA_VERSION = 1
"""Kept as `user_version` in the file."""
BUSY_S = 5.0
"""Wait so long for another writer."""

_COLUMNS = tuple(field.name for field in fields(Review))
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM reviews"  # noqa: S608 - our names
_CREATION = f"""
CREATE TABLE reviews (
 number INTEGER PRIMARY KEY AUTOINCREMENT,
 database_id TEXT NOT NULL,
 sequence INTEGER NOT NULL,
 run_id TEXT NOT NULL,
 line TEXT NOT NULL,
 station TEXT NOT NULL,
 trigger_id INTEGER NOT NULL,
 recorded_utc TEXT NOT NULL,
 verdict TEXT NOT NULL,
 reason TEXT NOT NULL,
 judgement TEXT NOT NULL CHECK (judgement IN ('confirmed', 'false_call', 'escape')),
 reviewer TEXT NOT NULL CHECK (reviewer <> ''),
 reviewed_utc TEXT NOT NULL,
 note TEXT NOT NULL
);
CREATE INDEX reviews_by_event ON reviews (database_id, sequence);
CREATE INDEX reviews_by_time ON reviews (recorded_utc);
CREATE TRIGGER reviews_stay BEFORE UPDATE ON reviews
BEGIN SELECT RAISE(ABORT, 'reviews are never changed: add another'); END;
CREATE TRIGGER reviews_are_kept BEFORE DELETE ON reviews
BEGIN SELECT RAISE(ABORT, 'reviews are never deleted: add another'); END;
PRAGMA user_version = {SCHEMA_VERSION};
"""


def _utc_now() -> datetime:
    return datetime.now(timezone.utc)


class Reviews:
    """The reviews of one line. Cheap to make; nothing is open between calls."""

    def __init__(self, path: Path, utc: Callable[[], datetime] = _utc_now) -> None:
        """Use a file; it is made with the first review.

        Args:
            path: `reviews.sqlite`, or the record's folder that holds it.
            utc: Wall clock.
        """
        self.path = path / FILE_NAME if path.is_dir() else path
        self._utc = utc

    def add(
        self,
        event: Recorded,
        database_id: str,
        judgement: Judgement,
        *,
        reviewer: str,
        note: str = "",
    ) -> Review:
        """Store what a person says of an event; it is on the disk when this answers.

        Args:
            event: Of `inspectd.record.history.History.event`.
            database_id: Of the same `History`.
            judgement: What was found.
            reviewer: Who found it.
            note: Anything else.

        Returns:
            The review with its number.

        Raises:
            UsageFault: it cannot be said of this event, or the file cannot be written.
        """
        now = utc_text(self._utc())
        review = checked(event, database_id, judgement, reviewer, now, note)
        values = {name: getattr(review, name) for name in _COLUMNS[1:]}
        values["judgement"] = judgement.value
        names = ", ".join(values)
        places = ", ".join(f":{name}" for name in values)
        with self._open("rwc") as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            _ensure(connection, self.path)
            number = connection.execute(
                f"INSERT INTO reviews ({names}) VALUES ({places})",  # noqa: S608 - our names
                values,
            ).lastrowid
        return replace(review, number=number or 0)

    def latest(
        self, since_utc: str = "", until_utc: str = "~", station: str = ""
    ) -> dict[EventKey, Review]:
        """The review that counts of each reviewed event.

        Args:
            since_utc: Only of events recorded from then on, as the record writes moments.
            until_utc: And before then.
            station: Only of this one; empty: of all.
        """
        return latest_of(self._between(since_utc, until_utc, station))

    def history(self, database_id: str, sequence: int) -> list[Review]:
        """Everything that was ever said of an event, the oldest first."""
        query = f"{_SELECT} WHERE database_id = ? AND sequence = ? ORDER BY number"
        return self._read(query, database_id, sequence)

    def trail(self, limit: int, after: int = 0) -> list[Review]:
        """The audit trail: reviews of higher numbers than `after`, the newest first."""
        query = f"{_SELECT} WHERE number > ? ORDER BY number DESC LIMIT ?"
        return self._read(query, after, limit)

    def counts(self, since_utc: str = "", until_utc: str = "~", station: str = "") -> Counts:
        """Count events by their last review; arguments as of `latest`."""
        return counted(self._between(since_utc, until_utc, station))

    # ---------------------------------------------------------------- file

    def _between(self, since_utc: str, until_utc: str, station: str) -> list[Review]:
        query = (
            f"{_SELECT} WHERE recorded_utc >= ? AND recorded_utc < ?"
            " AND (? = '' OR station = ?) ORDER BY number"
        )
        return self._read(query, since_utc, until_utc, station, station)

    def _read(self, query: str, *values: Any) -> list[Review]:
        """Answer rows; none while nothing was ever reviewed."""
        if not self.path.exists():
            return []
        with self._open("rw") as connection:
            if _is_new(connection, self.path):
                return []
            rows = connection.execute(query, values).fetchall()
        return [_review(row) for row in rows]

    @contextmanager
    def _open(self, mode: str) -> Iterator[sqlite3.Connection]:
        """Open the file for one call.

        With the right to write where there is one: only then what a dead process left half is
        taken back.

        Raises:
            UsageFault: SQLite's words, and the remedy.
        """
        connection = None
        try:
            connection = sqlite3.connect(
                f"{self.path.absolute().as_uri()}?mode={mode}",
                uri=True,
                timeout=BUSY_S,
                isolation_level=None,
            )
            connection.execute("PRAGMA synchronous = FULL")
            yield connection
        except sqlite3.Error as error:
            remedy = (
                "let this user read and write the file and its folder, and make room on the disk"
            )
            raise UsageFault(f"cannot keep reviews ({error})", str(self.path), remedy) from error
        finally:
            if connection is not None:
                connection.close()


def _review(row: tuple[Any, ...]) -> Review:
    values = dict(zip(_COLUMNS, row, strict=True))
    return Review(**{**values, "judgement": Judgement(values["judgement"])})


def _ensure(connection: sqlite3.Connection, path: Path) -> None:
    """Make the table where there is none; inside the transaction of the caller."""
    if _is_new(connection, path):
        for statement in _statements():
            connection.execute(statement)


def _statements() -> Iterator[str]:
    """The creation, statement by statement: `executescript` would commit what is under way."""
    pending = ""
    for part in _CREATION.splitlines(keepends=True):
        pending += part
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""


def _is_new(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the file is still empty.

    Raises:
        UsageFault: it is of another version.
    """
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version not in {0, SCHEMA_VERSION}:
        raise UsageFault(
            f"the reviews have version {version}, this inspectd knows {SCHEMA_VERSION}",
            str(path),
            "use the inspectd that wrote them",
        )
    return version == 0
