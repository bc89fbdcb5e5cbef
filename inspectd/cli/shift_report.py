"""`inspectd report RECORD --from T --until T --html FILE --csv FILE`: a shift of whatever runs."""

import argparse
import csv
import io
from contextlib import closing
from datetime import datetime
from pathlib import Path

from inspectd import outfile
from inspectd.config.schema import Line
from inspectd.errors import Exit, UsageFault
from inspectd.record.event import utc_text
from inspectd.record.history import History
from inspectd.review.shift import rows, summed
from inspectd.review.shift_page import page
from inspectd.review.store import FILE_NAME, Reviews

__all__ = ["add_arguments", "is_wanted", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the span of the shift, and the files to write."""
    shift = parser.add_argument_group("a shift instead of a run")
    shift.add_argument("--from", dest="since", metavar="TIME", help="2026-12-01T06:00, local time")
    shift.add_argument("--until", metavar="TIME", help="not included")
    shift.add_argument("--html", type=Path, metavar="FILE", help="write one page, for the printer")
    shift.add_argument("--csv", type=Path, metavar="FILE", help="write a table; the default: print")
    shift.add_argument(
        "--pause-s", type=float, default=60.0, metavar="S", help="longer without parts: a stop (60)"
    )


def is_wanted(args: argparse.Namespace) -> bool:
    """Whether a shift is asked for."""
    return any((args.since, args.until, args.html, args.csv))


def run(args: argparse.Namespace, line: Line | None, database: Path) -> int:
    """Write the report of a shift."""
    since, until = _moment(args.since, "--from"), _moment(args.until, "--until")
    if since >= until:
        raise UsageFault("is not after --from", "--until", "give the end of the shift")
    if not args.pause_s > 0:
        raise UsageFault("must be above 0", "--pause-s", "give seconds")
    for path in (args.html, args.csv):
        outfile.check_writable(path)
    span = utc_text(since), utc_text(until)
    with closing(History(database)) as history:
        events = list(history.between(*span))
        name = line.line if line else history.run().line
    stations = [one.name for one in line.stations] if line else []
    known = dict.fromkeys([*stations, *(event.station for event in events)])
    reviews = Reviews(database.parent / FILE_NAME)
    counts = {station: reviews.counts(*span, station) for station in known}
    shift = summed(name, span, events, stations, counts, args.pause_s)
    table = io.StringIO()
    csv.writer(table, lineterminator="\n").writerows(rows(shift))
    if args.html:
        outfile.write(args.html, page(shift))
    if args.csv:
        outfile.write(args.csv, table.getvalue())
    if not (args.html or args.csv):
        print(table.getvalue(), end="")
    return Exit.OK


def _moment(text: str | None, option: str) -> datetime:
    """A moment with its zone; without one it is local time."""
    remedy = "give one like 2026-12-01T06:00, or with a zone 2026-12-01T06:00+08:00"
    if not text:
        raise UsageFault("is missing", option, remedy)
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError) as error:
        raise UsageFault(f"{text!r} is no moment", option, remedy) from error
