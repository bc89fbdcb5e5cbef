"""`inspectd report RECORD`: sum up a run from its record, while it runs or long after."""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from inspectd.cli import shift_report
from inspectd.config.load import load
from inspectd.config.schema import Line
from inspectd.errors import Exit, StationFaults
from inspectd.record.archive import FOLDER_NAME
from inspectd.record.database import FILE_NAME
from inspectd.record.reading import Reading
from inspectd.record.report import BoardRow, build_report
from inspectd.record.summary import summary_lines
from inspectd.stages.judge.rules import evaluate

__all__ = ["add_arguments", "print_summary", "report_of", "run"]

_STATION_FILES = (".yaml", ".yml")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the record, the run, and the form."""
    parser.add_argument(
        "record", metavar="RECORD", type=Path, help="station file, record folder or events.sqlite"
    )
    parser.add_argument("--run", metavar="ID", default="", help="name of a run (the latest)")
    parser.add_argument("--json", action="store_true", help="everything, as JSON")
    shift_report.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Print the report of one run."""
    line, database = _found(args.record, args.run)
    if shift_report.is_wanted(args):
        return shift_report.run(args, line, database)
    report = report_of(line, args.run, database)
    if args.json:
        print(json.dumps(report, indent=1, ensure_ascii=False))
    else:
        print_summary(report, database)
    return Exit.OK


def report_of(
    line: Line | None,
    run_id: str,
    database: Path,
    board_rows: Sequence[BoardRow] = (),
    simulator_reports: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """The report with the judge's rules in it; arguments as of `build_report`."""
    return build_report(line, run_id, database, board_rows, simulator_reports, evaluate=evaluate)


def print_summary(report: Mapping[str, Any], database: Path) -> None:
    """Print a report for a person."""
    print("\n".join(summary_lines(report, str(database.parent / FOLDER_NAME))))


def _found(given: Path, run_id: str) -> tuple[Line | None, Path]:
    """The station file and the database that were meant."""
    if given.suffix in _STATION_FILES:
        line = load(given, must_exist=False)
        return line, Path(line.record.folder) / FILE_NAME
    database = given / FILE_NAME if given.is_dir() else given
    return _line_of(database, run_id), database


def _line_of(database: Path, run_id: str) -> Line | None:
    """The station file of a run, if it still lies there as it was."""
    reading = Reading(database)
    try:
        known = reading.run(run_id)
    finally:
        reading.close()
    if not known.station_file or not Path(known.station_file).is_file():
        return None
    try:
        line = load(known.station_file, must_exist=False)
    except StationFaults:
        return None
    return line if line.digest == known.recipe_digest else None
