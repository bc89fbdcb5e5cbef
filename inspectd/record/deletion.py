"""Which events may be deleted now: old ones, unless a receiver still wants them."""

import sqlite3
from collections.abc import Sequence

from inspectd.record.unsent import Hold

__all__ = ["delete_events"]

_LATEST = "~"
"""After every moment, as text."""


def delete_events(
    connection: sqlite3.Connection, before_utc: str, limit: int, holds: Sequence[Hold]
) -> list[int]:
    """Delete the oldest events before a moment, in one transaction.

    Args:
        connection: to the record's database.
        before_utc: only older ones; those with a picture stay until it is gone.
        limit: at most so many.
        holds: what receivers still want.

    Returns:
        Their numbers, the smallest first.
    """
    wanted_from = min((_wanted_from(connection, hold) for hold in holds), default=_LATEST)
    free = " AND (sequence <= ? OR recorded_utc < ?)" * len(holds)
    values = [value for hold in holds for value in (hold.sequence, hold.until_utc)]
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        chosen = connection.execute(
            "SELECT sequence FROM events WHERE recorded_utc < ? AND recorded_utc <= ?"  # noqa: S608
            f" AND archive IS NULL{free} ORDER BY recorded_utc LIMIT ?",
            (before_utc, wanted_from, *values, limit),
        ).fetchall()
        connection.executemany("DELETE FROM events WHERE sequence = ?", chosen)
    return sorted(number for (number,) in chosen)


def _wanted_from(connection: sqlite3.Connection, hold: Hold) -> str:
    """From which moment on a receiver wants events: keeps the search short when many wait."""
    row = connection.execute(
        "SELECT recorded_utc FROM events WHERE sequence > ? ORDER BY sequence LIMIT 1",
        (hold.sequence,),
    ).fetchone()
    return max(row[0], hold.until_utc) if row else _LATEST
