"""`inspectd forward FILE`: how far the receivers of a line are; their table; sending by hand."""

import argparse
import asyncio
import random
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from inspectd.config.load import load
from inspectd.config.schema import Forward, Line, PostgresqlForward
from inspectd.cursor import Cursor, cursor_path, read
from inspectd.errors import Exit, UsageFault
from inspectd.forward.courier import Courier
from inspectd.forward.ledger import Ledger
from inspectd.forward.outbox import FILE_NAME, Outbox
from inspectd.forward.pace import Pace
from inspectd.forward.receivers import receiver_of
from inspectd.forward.table import ddl
from inspectd.host.lock import only_run
from inspectd.ports import Counter

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the file, and what to do."""
    parser.add_argument("file", help="station file (YAML)")
    parser.add_argument("--name", metavar="NAME", help="only this entry of `forward`")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--ddl", action="store_true", help="print the SQL that makes the table")
    what.add_argument(
        "--send", action="store_true", help="send what waits, while the line does not run, and end"
    )
    parser.add_argument(
        "--database",
        type=Path,
        metavar="PATH",
        help="with --send: a database that was moved aside, instead of the record's own",
    )


def run(args: argparse.Namespace) -> int:
    """Do what was asked; 0 when all is sent or said, 1 when something waits on."""
    line = load(args.file, must_exist=False)
    entries = _chosen(line, args)
    if args.database and not args.send:
        raise UsageFault("goes with --send", "--database", "add --send")
    if args.ddl:
        return _print_ddl(entries, args.file)
    if args.send:
        return _send(line, entries, args.database)
    return _print_places(line, entries)


def _chosen(line: Line, args: argparse.Namespace) -> list[Forward]:
    chosen = [entry for entry in line.forward if args.name in (None, entry.name)]
    if not chosen:
        known = ", ".join(entry.name for entry in line.forward) or "none"
        what = f"has no receiver {args.name}" if args.name else "has no receivers"
        raise UsageFault(what, args.file, f"add it under `forward` (known: {known})")
    return chosen


def _print_ddl(entries: Sequence[Forward], file: str) -> int:
    tables = [entry for entry in entries if isinstance(entry, PostgresqlForward)]
    if not tables:
        remedy = "name an entry of kind postgresql"
        raise UsageFault("has no table to make among these receivers", file, remedy)
    print("\n".join(ddl(entry.table, entry.dsn) for entry in tables), end="")
    return Exit.OK


def _print_places(line: Line, entries: Sequence[Forward]) -> int:
    """One row for each receiver."""
    folder = Path(line.record.folder)
    try:
        outbox = Outbox(folder / FILE_NAME)
    except (sqlite3.Error, OSError, LookupError) as error:
        where = str(folder / FILE_NAME)
        raise UsageFault(f"cannot be read ({error})", where, "run the line once") from error
    with closing(outbox):
        for entry in entries:
            found = read(cursor_path(folder, entry.name, outbox.database_id))
            cursor = found or Cursor(outbox.database_id)
            waiting = outbox.waiting(cursor)
            print(f"{entry.name} ({entry.kind}): sent up to {cursor.sequence}, {waiting} waiting")
    return Exit.OK


def _send(line: Line, entries: Sequence[Forward], database: Path | None) -> int:
    """Send everything that waits to one receiver after the other."""
    if database is not None:
        return max(_sent(line, entry, database) for entry in entries)
    with only_run(Path(line.record.folder)):
        return max(_sent(line, entry, None) for entry in entries)


def _sent(line: Line, entry: Forward, database: Path | None) -> int:
    counts = dict.fromkeys(Counter, 0)

    def count(counter: Counter, number: int) -> None:
        counts[counter] += number

    place = Ledger(
        Path(line.record.folder),
        entry.name,
        _say,
        send_backlog=database is not None or entry.send_backlog,
        database=database,
    )
    stopping = asyncio.Event()
    stopping.set()
    courier = Courier(
        entry.name,
        receiver_of(entry, line.line),
        place,
        Pace(random.random),
        stopping=stopping,
        count=count,
        log=_say,
        states=dict,
    )
    asyncio.run(courier.run())
    print(f"{entry.name} ({entry.kind}): {counts[Counter.FORWARDED]} sent")
    if courier.trouble:
        print(courier.trouble, file=sys.stderr)
    is_complete = not courier.trouble and not counts[Counter.FORWARD_LOST]
    return Exit.OK if is_complete else Exit.FAULT


def _say(level: str, event: str, **fields: Any) -> None:
    """Print what a line would log."""
    words = ", ".join(f"{name} {value}" for name, value in fields.items())
    print(f"{level}: {event}: {words}", file=sys.stderr)
