"""`inspectd check FILE...`: every fault of station files, found as the start of a line does."""

import argparse
import sys

from inspectd.config.load import ExtraCheck, load
from inspectd.config.schema import Line, PaddleEngine
from inspectd.errors import Exit, StationFaults
from inspectd.forward import receivers
from inspectd.host.log import make_log
from inspectd.metrics import checks as metrics_checks
from inspectd.model import checks, distributions
from inspectd.stages.camera import checks as camera_checks
from inspectd.stages.infer import checks as engine_checks
from inspectd.stages.infer.loading import prove_line
from inspectd.stages.sink import opcua_checks, peers

__all__ = ["EXTRA_CHECKS", "add_arguments", "load_checked", "load_to_run", "run"]

_OF_FILE: tuple[ExtraCheck, ...] = (
    checks.check,
    camera_checks.check,
    receivers.check,
    opcua_checks.check,
    metrics_checks.check,
)
EXTRA_CHECKS: tuple[ExtraCheck, ...] = (*_OF_FILE, engine_checks.check, peers.check)
"""Checks of higher floors, made when the file itself is right."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the files."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="station file")
    parser.add_argument(
        "--elsewhere",
        action="store_true",
        help="the line runs on another machine: do not ask what the Paddle installed here can do",
    )
    parser.add_argument(
        "--prove",
        action="store_true",
        help="load the models as well, and have them give their golden outputs",
    )


def run(args: argparse.Namespace) -> int:
    """Check all files; one line for each that is right, all faults of the others to stderr."""
    code = max([_check(file, is_elsewhere=args.elsewhere) for file in args.files])
    if args.prove and code == Exit.OK:
        for file in args.files:
            prove_line(load_to_run(file), make_log("check", "", "warning"))
    return code


def load_checked(file: str) -> Line:
    """Load a station file that need not run here: all checks but what the Paddle here can do."""
    return load(file, extra=_OF_FILE)


def load_to_run(file: str) -> Line:
    """Load a station file that is to run here: the way in of every command that starts a line.

    Raises:
        StationFaults: the file is wrong.
        EngineRefused: Paddle is not installed as the engine needs it.
    """
    line = load(file, extra=EXTRA_CHECKS)
    if isinstance(line.engine, PaddleEngine):
        distributions.require(line.models[0].name, line.engine.device)
    return line


def _check(file: str, *, is_elsewhere: bool) -> Exit:
    try:
        line = load(file, extra=_OF_FILE if is_elsewhere else EXTRA_CHECKS)
    except StationFaults as faults:
        print(faults, file=sys.stderr)
        return faults.exit_code
    print(f"{file}: ok: {_summary(line)}")
    if isinstance(line.engine, PaddleEngine) and not is_elsewhere:
        trouble = distributions.trouble(line.engine.device, distributions.installed())
        if trouble:
            print(f"{file}: note: it cannot run here: {trouble}", file=sys.stderr)
    return Exit.OK


def _summary(line: Line) -> str:
    stations = _counted(len(line.stations), "station")
    return f"{stations}, {_counted(len(line.models), 'model')}, digest {line.digest}"


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
