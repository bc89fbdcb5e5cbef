"""EDGE sqlite3: events by their number or their time, whatever run they are of; only read."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path

from inspectd.errors import UsageFault
from inspectd.record.identity import database_id
from inspectd.record.reading import Reading

__all__ = ["History", "Recorded"]


@dataclass(frozen=True, slots=True)
class Recorded:
    """One event; names are those of the columns (`docs/record.md`)."""

    sequence: int
    run_id: str
    line: str
    station: str
    trigger_id: int
    part_id: str
    recorded_utc: str
    verdict: str
    reason: str
    judged: str
    deadline_ns: int
    fired_ns: int
    sent_ns: int
    """0: the verdict never left."""
    total_ms: float | None
    model_digest: str
    recipe_digest: str
    archive: str | None
    """Path of the picture, relative to the record's folder."""
    detail: str
    """JSON object."""


_COLUMNS = ", ".join(field.name for field in fields(Recorded))


class History(Reading):
    """A database open for reading; for `contextlib.closing`."""

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises:
            UsageFault: There is none, it is no record, or one of another version.
        """
        super().__init__(path)
        self.database_id = database_id(self._connection)
        """Names the file: numbers begin again when a damaged one is moved aside. Empty: no name."""

    def event(self, sequence: int) -> Recorded:
        """The event of a number.

        Raises:
            UsageFault: there is none (any more), or it is a stray, of which nobody was told.
        """
        query = f"SELECT {_COLUMNS} FROM events WHERE sequence = ? AND verdict <> 'NONE'"  # noqa: S608 - our names
        rows = self._rows(query, (sequence,))
        if not rows:
            remedy = "take a number of `inspectd review FILE list`, or of the column `sequence`"
            raise UsageFault(f"has no event {sequence}", str(self._path), remedy)
        return Recorded(*rows[0])

    def latest(self, limit: int, verdicts: tuple[str, ...], station: str = "") -> list[Recorded]:
        """The newest events of these verdicts, the newest first; of one station when it is named.

        Never more than `limit`.
        """
        places = ", ".join("?" * len(verdicts))
        query = (
            f"SELECT {_COLUMNS} FROM events WHERE verdict IN ({places})"  # noqa: S608 - our names
            " AND (? = '' OR station = ?) ORDER BY sequence DESC LIMIT ?"
        )
        return [Recorded(*row) for row in self._rows(query, (*verdicts, station, station, limit))]

    def between(self, since_utc: str, until_utc: str) -> Iterator[Recorded]:
        """Events that were recorded from `since_utc` on and before `until_utc`, strays left out.

        In the order of their numbers, one at a time: a shift may have a hundred thousand.
        """
        query = (
            f"SELECT {_COLUMNS} FROM events"  # noqa: S608 - our names
            " WHERE recorded_utc >= ? AND recorded_utc < ? AND verdict <> 'NONE' ORDER BY sequence"
        )
        try:
            with closing(self._connection.execute(query, (since_utc, until_utc))) as rows:
                for row in rows:
                    yield Recorded(*row)
        except sqlite3.Error as error:
            remedy = "name the events.sqlite of a line"
            raise UsageFault(f"cannot be read ({error})", str(self._path), remedy) from error
