"""The door of the command line: finds the command, calls it, turns errors into one sentence."""

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import NamedTuple

from inspectd import __version__
from inspectd.errors import Exit, InspectdError, UsageFault

__all__ = ["COMMANDS", "Command", "main"]

_INTERRUPTED = 130
"""What a shell expects of a command that Ctrl-C ended."""


class Command(NamedTuple):
    """One word of the command line and the module that does it (loaded only when asked for)."""

    name: str
    module: str
    summary: str


COMMANDS: tuple[Command, ...] = (
    Command("run", "inspectd.cli.run", "run the line of a station file until stopped"),
    Command("check", "inspectd.cli.check", "say every fault of a station file, with its place"),
    Command("report", "inspectd.cli.report", "sum up a run from its record"),
    Command("review", "inspectd.cli.review", "false calls and escapes: list, mark, export as COCO"),
    Command(
        "forward", "inspectd.cli.forward", "receivers of events: how far, SQL, sending by hand"
    ),
    Command("metrics", "inspectd.cli.metrics", "one scrape of a running line; alert rules"),
    Command("gate", "inspectd.cli.gate", "learn limits from good pictures; measure pictures"),
    Command("model", "inspectd.cli.model", "show a model directory, try it, store golden outputs"),
    Command(
        "engine", "inspectd.cli.engine", "build TensorRT engines, show them, compare with FP32"
    ),
    Command("plan", "inspectd.cli.plan", "estimate memory and time of a line on a card, with sums"),
    Command("plc-map", "inspectd.cli.plc_map", "print the register map for the controls engineer"),
    Command("opcua-cert", "inspectd.cli.opcua_cert", "make a certificate and key for OPC UA"),
    Command("web-user", "inspectd.cli.web_user", "say who may use the operator's view"),
    Command("plc-sim", "inspectd.cli.plc_sim", "play the PLC: a Modbus server for trials"),
    Command(
        "bench", "inspectd.cli.bench", "measure the pipeline against baselines of the same run"
    ),
    Command("chaos", "inspectd.cli.chaos", "strike a running line at random, audit its verdicts"),
    Command(
        "soak", "inspectd.cli.soak", "run a line near its capacity and see whether it stays flat"
    ),
    Command("train", "inspectd.train.cli", "train a detector of ours by a recipe"),
    Command("export", "inspectd.train.export_cli", "write a checkpoint as a model directory"),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; answer its exit code: 0 ok, 1 fault, 2 wrong file or wrong arguments."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser, chosen = _parser(arguments)
    options = parser.parse_args(arguments)
    if chosen is None:
        parser.print_help()
        return 2
    try:
        return int(importlib.import_module(chosen.module).run(options))
    except InspectdError as fault:
        print(fault, file=sys.stderr)  # noqa: T201  the one place where errors meet a person
        return int(Exit.WRONG_FILE if isinstance(fault, UsageFault) else fault.exit_code)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"{where}{error.strerror or error}", file=sys.stderr)  # noqa: T201
        return int(Exit.FAULT)


def _parser(arguments: Sequence[str]) -> tuple[argparse.ArgumentParser, Command | None]:
    """Build the parser; only the chosen command's module is imported, for its options."""
    parser = argparse.ArgumentParser(
        prog="inspectd",
        description="Judges parts on a production line and tells the PLC, inside the cycle time.",
        epilog="Exit codes: 0 ok, 1 fault, 2 wrong station file, model directory or arguments.",
    )
    parser.add_argument("--version", action="version", version=f"inspectd {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND")
    chosen = None
    for command in COMMANDS:
        sub = commands.add_parser(command.name, help=command.summary, description=command.summary)
        if arguments[:1] == [command.name]:
            chosen = command
            importlib.import_module(command.module).add_arguments(sub)
    return parser, chosen


if __name__ == "__main__":
    sys.exit(main())
