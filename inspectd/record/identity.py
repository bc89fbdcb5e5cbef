"""What lets receivers outside the line follow a database: its name, and what changed in it.

The name (`identity.database_id`) is made once: numbers begin again when a file is moved aside.
An event that is changed after it was written (a verdict that came too late, a stray that got its
verdict) gets a row in `amended`, so that a receiver who has it already is told again.
Both are additions to version 1 of the file: an older file gets them when it is next opened.
"""

import sqlite3

__all__ = ["database_id", "ensure"]

_TOLD = "verdict, reason, judged, sent_ns, batch, model_digest, detail"
"""Columns whose change matters outside; a path that is taken back does not."""


def _row(name: str) -> str:
    return ", ".join(f"{name}.{column}" for column in _TOLD.split(", "))


_ADDITIONS = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS identity (database_id TEXT NOT NULL);
INSERT INTO identity SELECT lower(hex(randomblob(16))) WHERE NOT EXISTS (SELECT 1 FROM identity);
CREATE TABLE IF NOT EXISTS amended (
 number INTEGER PRIMARY KEY AUTOINCREMENT,
 sequence INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS amended_by_sequence ON amended (sequence);
CREATE TRIGGER IF NOT EXISTS events_amended AFTER UPDATE OF {_TOLD} ON events
WHEN ({_row("OLD")}) IS NOT ({_row("NEW")})
BEGIN INSERT INTO amended (sequence) VALUES (NEW.sequence); END;
CREATE TRIGGER IF NOT EXISTS events_forgotten AFTER DELETE ON events
BEGIN DELETE FROM amended WHERE sequence = OLD.sequence; END;
COMMIT;
"""  # noqa: S608 - our names


def ensure(connection: sqlite3.Connection) -> None:
    """Make the additions where they are missing; a disk that refuses them stops nothing."""
    if database_id(connection):
        return
    try:
        connection.executescript(_ADDITIONS)
    except sqlite3.OperationalError:
        connection.rollback()


def database_id(connection: sqlite3.Connection) -> str:
    """The name of the file, 32 hex digits; empty when it has none yet."""
    try:
        row = connection.execute("SELECT database_id FROM identity").fetchone()
    except sqlite3.OperationalError:
        return ""
    return str(row[0]) if row else ""
