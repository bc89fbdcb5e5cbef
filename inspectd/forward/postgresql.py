"""EDGE psycopg: a PostgreSQL table as a receiver of events.

A bite is one transaction, so it is there as a whole or not at all. What is sent twice is one row:
the key of an event is the table's primary key (`inspectd.forward.table`).
"""

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import psycopg
from psycopg import conninfo

from inspectd.config.schema import PostgresqlForward
from inspectd.errors import ForwardFault
from inspectd.forward.event import Outgoing, as_row
from inspectd.forward.receiver import Delivered, Refused
from inspectd.forward.secret import password_of
from inspectd.forward.table import COMMENT, insertion

__all__ = ["PostgresqlReceiver", "build", "complaints"]

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # its words are in our sentences

CONNECT_S = 5
STATEMENT_MS = 10_000
"""After so long the server gives a statement up, even if we are gone."""

_REMEDIES: tuple[tuple[str, str], ...] = (
    ("password authentication failed", "correct `user` in `dsn` and the password"),
    ("no password supplied", "give `password_file` or `password_env`"),
    ("no pg_hba.conf entry", "let this machine in: pg_hba.conf of the server"),
    ("certificate", "see `sslmode` and `sslrootcert` in `dsn`, and the server's certificate"),
    ("does not support ssl", "the server speaks no TLS: set it up there, or change `sslmode`"),
    ("definition of service", "add the service to the service file (PGSERVICEFILE)"),
    ("database", "correct `dbname` in `dsn`, or make the database"),
    ("role", "correct `user` in `dsn`, or make the role"),
    ("resolve", "correct `host` in `dsn`, or see the name server"),
    ("refused", "see whether the server runs, and `host` and `port` in `dsn`"),
)
"""Words in the server's or libpq's sentence, and what helps. The first that fits counts."""
_STATES: Mapping[str, str] = {
    "42501": "give the rights: `inspectd forward FILE --ddl` prints them",
    "42P01": "make the table: `inspectd forward FILE --ddl` prints it",
    "42703": "make the table anew: `inspectd forward FILE --ddl` prints it",
    "42P10": "the table lacks its primary key: `inspectd forward FILE --ddl` prints it",
    "25006": "the server only answers reads: name its primary in `dsn`",
    "53100": "make room on the server's disk",
    "57014": "the server was too slow: see its load and locks on the table",
}
"""By SQLSTATE."""
_REMEDY = "see whether the server runs and can be reached; events wait in the record"
_COMMENT_OF = (
    "SELECT to_regclass(%s) IS NOT NULL, obj_description(to_regclass(%s)::oid, 'pg_class')"
)


def build(entry: PostgresqlForward, _line: str) -> "PostgresqlReceiver":
    """Make the receiver of an entry."""
    return PostgresqlReceiver(entry)


def complaints(entry: PostgresqlForward) -> Iterator[tuple[str, str]]:
    """What libpq has against an entry."""
    try:
        conninfo.conninfo_to_dict(entry.dsn)
    except psycopg.ProgrammingError as error:
        words = " ".join(str(error).split())
        yield "dsn", f"{words}; write it like host=NAME dbname=NAME user=NAME, or as a URL"


class PostgresqlReceiver:
    """One table."""

    def __init__(self, entry: PostgresqlForward) -> None:
        """Args: entry: of the station file."""
        self._entry = entry
        self._insertion = insertion(entry.table).encode()
        self._connection: psycopg.AsyncConnection[Any] | None = None

    async def open(self) -> None:
        """See `Receiver.open`; also looks at the table."""
        entry = self._entry
        password = password_of(entry.name, entry.password_file, entry.password_env)
        dsn = (
            entry.dsn if password is None else conninfo.make_conninfo(entry.dsn, password=password)
        )
        try:
            self._connection = await psycopg.AsyncConnection.connect(
                dsn,
                autocommit=True,
                prepare_threshold=None,  # poolers between us and the server do not like it
                connect_timeout=CONNECT_S,
                application_name="inspectd",
            )
            await self._connection.execute(f"SET statement_timeout = {STATEMENT_MS}")
            cursor = await self._connection.execute(_COMMENT_OF, (entry.table, entry.table))
            self._look_at_table(await cursor.fetchone())
        except psycopg.Error as error:
            raise self._fault(error) from error

    async def deliver(self, events: Sequence[Outgoing]) -> Delivered:
        """See `Receiver.deliver`; all or none, but for an event that no table can take."""
        try:
            await self._insert([as_row(event) for event in events])
        except psycopg.DataError:
            return await self._one_by_one(events)
        except psycopg.Error as error:
            raise self._fault(error) from error
        return Delivered(len(events))

    async def tell(self, states: Mapping[str, str]) -> None:
        """See `Receiver.tell`: a table has no use for it."""

    async def close(self) -> None:
        """See `Receiver.close`."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                await connection.close()

    # ---------------------------------------------------------------- within

    async def _insert(self, rows: Sequence[tuple[Any, ...]]) -> None:
        connection = self._connection
        if connection is None:
            raise psycopg.OperationalError("not connected")
        async with connection.transaction(), connection.cursor() as cursor:
            await cursor.executemany(self._insertion, rows)

    async def _one_by_one(self, events: Sequence[Outgoing]) -> Delivered:
        """Find the event that the table does not take; without its detail it may."""
        refused: list[Refused] = []
        done = 0
        try:
            for event in events:
                refused += await self._alone(event)
                done += 1
        except psycopg.Error as error:
            if not done:
                raise self._fault(error) from error
        return Delivered(done, tuple(refused))

    async def _alone(self, event: Outgoing) -> list[Refused]:
        """Insert one event, if need be without its detail; answer it when neither goes."""
        with suppress(psycopg.DataError):
            await self._insert([as_row(event)])
            return []
        try:
            await self._insert([as_row(event, with_detail=False)])
        except psycopg.DataError as error:
            return [Refused(event.mark, " ".join(str(error).split()))]
        return []

    def _look_at_table(self, row: Sequence[Any] | None) -> None:
        exists, comment = row or (False, None)
        table = self._entry.table
        remedy = "make it: `inspectd forward FILE --ddl` prints what is needed"
        if not exists:
            raise ForwardFault(self._entry.name, f"there is no table {table}", remedy)
        if comment != COMMENT:
            what = f"the comment of table {table} is {comment!r}, expected {COMMENT!r}"
            remedy = "it is of another version or not ours: name another `table`, or make it anew"
            raise ForwardFault(self._entry.name, what, remedy)

    def _fault(self, error: psycopg.Error) -> ForwardFault:
        words = re.sub(r"\s+", " ", str(error)).strip() or type(error).__name__
        lower = words.lower()
        by_words = (remedy for part, remedy in _REMEDIES if part in lower)
        remedy = _STATES.get(error.sqlstate or "") or next(by_words, _REMEDY)
        return ForwardFault(
            self._entry.name, f"the database does not take events ({words})", remedy
        )
