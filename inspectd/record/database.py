"""EDGE sqlite3: the only module that writes the record's database.

One file, `events.sqlite`, in WAL mode: readers (`inspectd report`, the live view, anybody's SQL)
never block the writer. `synchronous = NORMAL`: a commit survives the death of the process, a power
cut may take the last ones (never the file). Writing is idempotent: a part has one row, keyed by
run, station, trigger id and the moment of its trigger (ids of a PLC wrap, and begin again when it
restarts; of a trigger that nobody saw, the moment of its decision). A later event of the same part
adds what came after its deadline; what the PLC was told stays as it was.

A file that is damaged or of another version is moved aside, never deleted, and a new one begun.
"""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from inspectd.errors import UsageFault
from inspectd.record import identity
from inspectd.record.deletion import delete_events
from inspectd.record.event import COLUMNS, STAMP_COLUMNS, Event, row_of, utc_text
from inspectd.record.unsent import Hold

__all__ = ["FILE_NAME", "SCHEMA_VERSION", "Archived", "Database", "Run", "Written"]

FILE_NAME = "events.sqlite"
SCHEMA_VERSION = 1
"""Kept as `user_version` in the file."""
CHECKED_MAX_BYTES = 64 * 2**20
"""Larger files are not read through at start: a restart must not take seconds."""
BUSY_S = 0.5
"""Wait so long for another writer."""

_STAGES: tuple[tuple[str, str, str], ...] = (
    ("camera_ms", "fired_ns", "captured_ns"),
    ("gate_ms", "captured_ns", "coalesce(nullif(prepared_ns, 0), measured_ns)"),
    ("infer_ms", "prepared_ns", "infer_end_ns"),
    ("judge_ms", "infer_end_ns", "decided_ns"),
    ("sink_ms", "decided_ns", "sent_ns"),
    ("total_ms", "fired_ns", "sent_ns"),
)
"""Column, from, to; empty when one of them was never reached, or in the wrong order (the sink
decided before the stages did)."""


class Run(NamedTuple):
    """One start of a line."""

    run_id: str
    line: str
    station_file: str
    recipe_digest: str
    started_utc: str


class Archived(NamedTuple):
    """A picture that the index knows."""

    path: str
    """Relative to the record's folder."""
    recorded_utc: str


class Written(Enum):
    """How a transaction ended."""

    DONE = "done"
    RETRY = "retry"
    """Nothing was written (disk full, locked); the same may be tried again."""


def _ms(name: str, begin: str, end: str) -> str:
    return (
        f"{name} REAL GENERATED ALWAYS AS (CASE WHEN {begin} > 0 AND {end} >= {begin}"
        f" THEN ({end} - {begin}) / 1e6 END) VIRTUAL"
    )


def _creation() -> str:
    stamps = ",\n ".join(f"{name} INTEGER NOT NULL" for name in STAMP_COLUMNS)
    stages = ",\n ".join(_ms(*stage) for stage in _STAGES)
    return f"""
CREATE TABLE events (
 sequence INTEGER PRIMARY KEY AUTOINCREMENT,
 run_id TEXT NOT NULL,
 line TEXT NOT NULL,
 station TEXT NOT NULL,
 trigger_id INTEGER NOT NULL,
 part_id TEXT NOT NULL,
 recorded_utc TEXT NOT NULL,
 verdict TEXT NOT NULL,
 reason TEXT NOT NULL,
 judged TEXT NOT NULL,
 deadline_ns INTEGER NOT NULL,
 {stamps},
 batch INTEGER NOT NULL,
 model TEXT NOT NULL,
 model_digest TEXT NOT NULL,
 recipe_digest TEXT NOT NULL,
 detail TEXT NOT NULL,
 archive TEXT,
 {stages},
 epoch_ns INTEGER GENERATED ALWAYS AS (coalesce(nullif(fired_ns, 0), decided_ns)) VIRTUAL,
 UNIQUE (run_id, station, trigger_id, epoch_ns)
);
CREATE INDEX events_by_time ON events (recorded_utc);
CREATE INDEX events_by_archive ON events (archive) WHERE archive IS NOT NULL;
CREATE TABLE runs (
 run_id TEXT PRIMARY KEY,
 line TEXT NOT NULL,
 station_file TEXT NOT NULL,
 recipe_digest TEXT NOT NULL,
 started_utc TEXT NOT NULL
);
PRAGMA user_version = {SCHEMA_VERSION};
"""


def _upsert() -> str:
    """Insert a part; of one that is there only what is missing is filled in."""
    filled = [f"{name} = coalesce(nullif({name}, 0), excluded.{name})" for name in STAMP_COLUMNS]
    changes = ", ".join(
        [
            "verdict = coalesce(nullif(verdict, 'NONE'), excluded.verdict)",
            "reason = CASE WHEN verdict = 'NONE' THEN excluded.reason ELSE reason END",
            "judged = coalesce(nullif(excluded.judged, ''), judged)",
            *filled,
            "batch = max(batch, excluded.batch)",
            "model_digest = coalesce(nullif(excluded.model_digest, ''), model_digest)",
            "detail = json_patch(detail, excluded.detail)",
            "archive = coalesce(archive, excluded.archive)",
        ]
    )
    places = ", ".join("?" * len(COLUMNS))
    return (
        f"INSERT INTO events ({', '.join(COLUMNS)}) VALUES ({places})"  # noqa: S608 - our names
        f" ON CONFLICT (run_id, station, trigger_id, epoch_ns) DO UPDATE SET {changes}"
    )


_UPSERT = _upsert()


class Database:
    """The open database of one record process."""

    def __init__(self, folder: Path, utc: Callable[[], datetime], log: Callable[..., None]) -> None:
        """Open, or begin, `folder/events.sqlite`.

        Args:
            folder: Made when it is not there.
            utc: Wall clock, for the name of a file moved aside.
            log: As in `inspectd.ports.Context`.

        Raises:
            UsageFault: The folder cannot be made or written.
        """
        self._path = folder / FILE_NAME
        self._utc = utc
        self._log = log
        self._run: Run | None = None
        self.refusal = ""
        """Why the last transaction was refused, in SQLite's words."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._connection = self._opened()
        except (OSError, sqlite3.Error) as error:
            raise UsageFault(
                f"cannot keep the record here ({error})",
                str(self._path),
                "let the user of inspectd write this folder, or name another as record.folder",
            ) from error

    def begin_run(self, run: Run) -> None:
        """Note the start of a run; a restarted record process notes nothing new.

        A disk that refuses it now is asked again with the next events, and so is a file that is
        begun anew.
        """
        self._run = run
        with suppress(sqlite3.OperationalError), self._connection:
            self._note_run(self._connection)

    def write(self, events: Sequence[Event], forgotten: Iterable[str] = ()) -> Written:
        """Write parts, then take back the paths of pictures that are not there, in one commit."""
        rows = [row_of(event) for event in events]
        paths = [(path,) for path in forgotten]
        try:
            return self._committed(rows, paths)
        except sqlite3.OperationalError as error:
            return self._refused(error)
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:
                raise  # a mistake of ours, not a damaged file
            return self._begun_anew(error, rows, paths)

    def oldest_archived(self, limit: int) -> list[Archived]:
        """The pictures that the index knows, oldest first."""
        try:
            rows = self._connection.execute(
                "SELECT archive, recorded_utc FROM events WHERE archive IS NOT NULL"
                " ORDER BY recorded_utc LIMIT ?",
                (limit,),
            ).fetchall()
        except sqlite3.DatabaseError:
            return []  # the next write finds out what is wrong
        return [Archived(*row) for row in rows]

    def delete_events(self, before: datetime, limit: int, holds: Sequence[Hold] = ()) -> list[int]:
        """Delete the oldest events before a moment; answer their numbers.

        Those with a picture stay until it is gone, and those that a receiver wants (`holds`).
        """
        try:
            return delete_events(self._connection, utc_text(before), limit, holds)
        except sqlite3.DatabaseError:
            return []  # the next write finds out what is wrong

    @property
    def database_id(self) -> str:
        """The name of the file, see `inspectd.record.identity`."""
        return identity.database_id(self._connection)

    def close(self) -> None:
        """Close; the last reader or writer merges the log into the file."""
        self._connection.close()

    def _committed(self, rows: list[tuple[object, ...]], paths: list[tuple[str]]) -> Written:
        with self._connection as connection:
            self._note_run(connection)
            connection.executemany(_UPSERT, rows)
            connection.executemany("UPDATE events SET archive = NULL WHERE archive = ?", paths)
        return Written.DONE

    def _note_run(self, connection: sqlite3.Connection) -> None:
        if self._run is not None:
            connection.execute("INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?)", self._run)

    def _refused(self, error: sqlite3.OperationalError) -> Written:
        """Nothing of the transaction stays, whichever step failed."""
        with suppress(sqlite3.Error):
            self._connection.rollback()
        self.refusal = str(error)
        return Written.RETRY

    def _begun_anew(
        self, error: sqlite3.DatabaseError, rows: list[tuple[object, ...]], paths: list[tuple[str]]
    ) -> Written:
        """The file was damaged while in use: begin another, with what was to be written."""
        with suppress(sqlite3.Error):
            self._connection.close()
        self._move_aside(str(error))
        try:
            self._connection = self._created()
            return self._committed(rows, paths)
        except sqlite3.OperationalError as again:
            return self._refused(again)

    def _opened(self) -> sqlite3.Connection:
        fault = _fault_of(self._path)
        if fault:
            self._move_aside(fault)
        return self._created()

    def _created(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=BUSY_S)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            if _version(connection) == 0:
                connection.executescript(f"BEGIN; {_creation()} COMMIT;")
            identity.ensure(connection)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _move_aside(self, why: str) -> None:
        """Rename the file and its log; the suffix tells when."""
        suffix = self._utc().strftime(".aside-%Y%m%dT%H%M%S")
        for part in ("", "-wal", "-shm"):
            source = self._path.with_name(self._path.name + part)
            if source.exists():
                source.rename(source.with_name(FILE_NAME + suffix + part))
        aside = str(self._path) + suffix
        self._log("error", "record_database_moved_aside", reason=why, kept_as=aside)


def _fault_of(path: Path) -> str:
    """Why an existing file cannot be gone on with; empty when it can, or is not there."""
    if not path.exists():
        return ""
    try:
        with closing(sqlite3.connect(path, timeout=BUSY_S)) as connection:
            version = _version(connection)
            if version not in {0, SCHEMA_VERSION}:
                return f"it has version {version}, this inspectd writes {SCHEMA_VERSION}"
            return _damage(connection, path)
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        return str(error)


def _damage(connection: sqlite3.Connection, path: Path) -> str:
    """What a read through a file of moderate size finds."""
    if path.stat().st_size > CHECKED_MAX_BYTES:
        return ""
    found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    return "" if found == "ok" else found


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
