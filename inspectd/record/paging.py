"""EDGE sqlite3: the record in pages and totals, for the operator's view; only read.

Every question has a limit of rows and of time: a record of millions of events must not keep a
reader busy for minutes because a browser asked something rare of it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

from inspectd.record.reading import Reading

__all__ = ["PAGE_MAX", "Listed", "Pages", "Total"]

PAGE_MAX = 200
"""Rows of one page."""
QUESTION_S = 2.0
"""A question that takes longer is given up."""
_STEPS = 20_000
"""SQLite looks at the clock every so many of its instructions; about a millisecond."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One event as a list shows it; names are those of the columns (`docs/record.md`)."""

    sequence: int
    run_id: str
    station: str
    trigger_id: int
    part_id: str
    recorded_utc: str
    verdict: str
    reason: str
    judged: str
    total_ms: float | None
    archive: str | None
    model_digest: str
    recipe_digest: str
    detail: str


@dataclass(frozen=True, slots=True)
class Total:
    """How many parts of a run have a verdict for a reason."""

    station: str
    verdict: str
    reason: str
    count: int
    last: int
    """Highest `sequence` among them."""


_COLUMNS = ", ".join(field.name for field in fields(Listed))


class Pages(Reading):
    """A database open for reading; for `contextlib.closing`."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        """Open the file; each `Pages` may be used for so long as one question may take.

        Raises:
            UsageFault: There is none, it is no record, or one of another version.
        """
        super().__init__(path)
        by = clock() + QUESTION_S
        self._connection.set_progress_handler(lambda: int(clock() > by), _STEPS)

    def totals(self, run_id: str) -> list[Total]:
        """All parts of a run, counted."""
        query = (
            "SELECT station, verdict, reason, count(*), max(sequence) FROM events"
            " WHERE run_id = ? GROUP BY station, verdict, reason"
        )
        return [Total(*row) for row in self._rows(query, (run_id,))]

    def page(
        self, *, before: int = 0, station: str = "", verdict: str = "", limit: int = 50
    ) -> list[Listed]:
        """Events of all runs, the newest first.

        Args:
            before: Only those of a smaller `sequence`; 0: from the newest.
            station: Only of this one.
            verdict: Only these; `REJECTS`: everything but OK.
            limit: Rows, at most `PAGE_MAX`.

        Raises:
            UsageFault: It took too long, or the file cannot be read.
        """
        where, values = ["verdict <> 'NONE'"], []
        for condition, value in (("sequence < ?", before), ("station = ?", station)):
            if value:
                where.append(condition)
                values.append(value)
        if verdict == "REJECTS":
            where.append("verdict <> 'OK'")
        elif verdict:
            where.append("verdict = ?")
            values.append(verdict)
        query = (
            f"SELECT {_COLUMNS} FROM events WHERE {' AND '.join(where)}"  # noqa: S608 - our words
            " ORDER BY sequence DESC LIMIT ?"
        )
        return [Listed(*row) for row in self._rows(query, (*values, min(limit, PAGE_MAX)))]

    def event(self, sequence: int) -> Listed | None:
        """One event; None when it is not there (any more)."""
        rows = self._rows(f"SELECT {_COLUMNS} FROM events WHERE sequence = ?", (sequence,))  # noqa: S608 - our words
        return Listed(*rows[0]) if rows else None

    def series(self, station: str, limit: int) -> list[tuple[int, str, str, float | None]]:
        """The latest parts of a station: sequence, time, verdict, total ms; the oldest first."""
        query = (
            "SELECT sequence, recorded_utc, verdict, total_ms FROM events"
            " WHERE station = ? AND verdict <> 'NONE' ORDER BY sequence DESC LIMIT ?"
        )
        return [tuple(row) for row in reversed(self._rows(query, (station, limit)))]
