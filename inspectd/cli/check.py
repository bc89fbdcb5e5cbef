"""`inspectd check FILE...`: every fault of station files, found as the start of a line does."""

import argparse
import sys

from inspectd.config.load import ExtraCheck, load
from inspectd.config.schema import Line
from inspectd.errors import Exit, StationFaults
from inspectd.model import checks

__all__ = ["EXTRA_CHECKS", "add_arguments", "load_checked", "run"]

EXTRA_CHECKS: tuple[ExtraCheck, ...] = (checks.check,)
"""Checks of higher floors, made when the file itself is right."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the files."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="station file")


def run(args: argparse.Namespace) -> int:
    """Check all files; one line for each that is right, all faults of the others to stderr."""
    return max([_check(file) for file in args.files])


def load_checked(file: str) -> Line:
    """Load a station file with all checks: the way in of every command that starts a line."""
    return load(file, extra=EXTRA_CHECKS)


def _check(file: str) -> Exit:
    try:
        line = load_checked(file)
    except StationFaults as faults:
        print(faults, file=sys.stderr)
        return faults.exit_code
    print(f"{file}: ok: {_summary(line)}")
    return Exit.OK


def _summary(line: Line) -> str:
    stations = _counted(len(line.stations), "station")
    return f"{stations}, {_counted(len(line.models), 'model')}, digest {line.digest}"


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
