"""EDGE sqlite3: reads the record's database while a line writes it, and never writes it itself."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from inspectd.errors import UsageFault
from inspectd.record.database import SCHEMA_VERSION, Run

__all__ = ["STAGE_NAMES", "Part", "Reading"]

STAGE_NAMES: tuple[str, ...] = ("camera", "gate", "infer", "judge", "sink", "total")
"""Each has a column `<name>_ms`."""


@dataclass(frozen=True, slots=True)
class Part:
    """One event as it stands in the database; names are those of the columns."""

    sequence: int
    """Order in which the record got them: per station the order in which verdicts left."""
    station: str
    trigger_id: int
    part_id: str
    verdict: str
    """What the PLC was told; NONE: a stray, see `is_stray`."""
    reason: str
    judged: str
    deadline_ns: int
    fired_ns: int
    decided_ns: int
    sent_ns: int
    """0: the verdict never left (no PLC confirmed it)."""
    batch: int
    archive: str | None
    detail: str
    """JSON object; empty where it was not asked for."""
    camera_ms: float | None
    gate_ms: float | None
    infer_ms: float | None
    judge_ms: float | None
    sink_ms: float | None
    total_ms: float | None
    sink_queued_ns: int = 0
    """When the verdict came to the sink, monotonic."""

    @property
    def times_ms(self) -> tuple[float | None, ...]:
        """In the order of `STAGE_NAMES`; None: the part never was there."""
        return (
            self.camera_ms,
            self.gate_ms,
            self.infer_ms,
            self.judge_ms,
            self.sink_ms,
            self.total_ms,
        )

    @property
    def is_stray(self) -> bool:
        """Whether the stages judged a part that the sink does not know (of an earlier life)."""
        return self.verdict == "NONE"

    @property
    def is_late_unmarked(self) -> bool:
        """Whether the verdict left after the deadline without saying so."""
        return 0 < self.deadline_ns < self.sent_ns and self.verdict != "LATE"


_NAMES = tuple(field.name for field in fields(Part))
_ALL = ", ".join(_NAMES)
_WITHOUT_DETAIL = ", ".join("''" if name == "detail" else name for name in _NAMES)


class Reading:
    """A database open for reading; for `contextlib.closing`."""

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises:
            UsageFault: There is none, it is no record, or one of another version.
        """
        self._path = path
        if not path.is_file():
            raise UsageFault(
                "there is no record", str(path), "run the line first, or name its events.sqlite"
            )
        self._connection = _connected(path)
        try:
            version = int(self._connection.execute("PRAGMA user_version").fetchone()[0])
        except sqlite3.Error as error:
            self._connection.close()
            raise _unreadable(path, error) from error
        if version != SCHEMA_VERSION:
            self._connection.close()
            raise UsageFault(
                f"the record has version {version}, this inspectd reads {SCHEMA_VERSION}",
                str(path),
                "use the inspectd that wrote it",
            )

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def run(self, run_id: str = "") -> Run:
        """A run by its name, or the latest: the one noted last, whatever the clock said.

        Raises:
            UsageFault: There is none of that name.
        """
        where = "WHERE run_id = ?" if run_id else "ORDER BY rowid DESC"
        query = f"SELECT run_id, line, station_file, recipe_digest, started_utc FROM runs {where}"  # noqa: S608 - two constants
        rows = self._rows(query, (run_id,) if run_id else ())
        if not rows:
            what = f"no run {run_id!r}" if run_id else "no run at all"
            raise UsageFault(f"the record has {what}", str(self._path), self._remedy())
        return Run(*rows[0])

    def span_utc(self, run_id: str) -> tuple[str, str]:
        """Wall-clock time of a run's first and last event; empty for a run without."""
        query = "SELECT min(recorded_utc), max(recorded_utc) FROM events WHERE run_id = ?"
        ((first, last),) = self._rows(query, (run_id,))
        return first or "", last or ""

    def parts(self, run_id: str, *, after: int = 0, with_detail: bool = False) -> Iterator[Part]:
        """The events of a run in the order of their arrival.

        Args:
            run_id: Of the run.
            after: Only those of a larger `sequence`.
            with_detail: Whether `detail` is read as well; it is most of the file.
        """
        columns = _ALL if with_detail else _WITHOUT_DETAIL
        query = (
            f"SELECT {columns} FROM events"  # noqa: S608 - our names
            " WHERE run_id = ? AND sequence > ? ORDER BY sequence"
        )
        try:
            with closing(self._connection.execute(query, (run_id, after))) as rows:
                for row in rows:
                    yield Part(*row)
        except sqlite3.Error as error:
            raise _unreadable(self._path, error) from error

    def newest(self) -> int:
        """The largest `sequence` of all runs; 0: there is no event."""
        ((newest,),) = self._rows("SELECT max(sequence) FROM events", ())
        return newest or 0

    def _rows(self, query: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise _unreadable(self._path, error) from error

    def _remedy(self) -> str:
        rows = self._rows("SELECT run_id FROM runs ORDER BY rowid DESC LIMIT 5", ())
        known = ", ".join(str(row[0]) for row in rows)
        return f"the latest are {known}" if known else "run the line first"


def _connected(path: Path) -> sqlite3.Connection:
    """Open without the right to write; from a disk that cannot be written, as a file at rest."""
    uri = f"{path.absolute().as_uri()}?mode=ro"
    try:
        return _tried(uri)
    except sqlite3.OperationalError:
        return sqlite3.connect(f"{uri}&immutable=1", uri=True)
    except sqlite3.DatabaseError as error:
        raise _unreadable(path, error) from error


def _tried(uri: str) -> sqlite3.Connection:
    """Open, and read for a first time; a connection that fails is closed."""
    connection = sqlite3.connect(uri, uri=True, timeout=1.0)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _unreadable(path: Path, error: Exception) -> UsageFault:
    return UsageFault(
        f"cannot be read as a record ({error})", str(path), "name the events.sqlite of a line"
    )
