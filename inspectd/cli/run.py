"""`inspectd run FILE`: run a line until it is stopped, or until so many parts are judged."""

import argparse
import json
from pathlib import Path
from typing import Any

from inspectd.config.load import load
from inspectd.errors import UsageFault
from inspectd.host.log import LEVELS, make_log
from inspectd.host.supervisor import Outcome, Plan, Supervisor

__all__ = ["add_arguments", "outcome_values", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", help="station file (YAML)")
    parser.add_argument(
        "--parts", type=int, default=0, metavar="N", help="end after N parts per station"
    )
    parser.add_argument("--report", metavar="FILE", help="write what happened as JSON at the end")
    parser.add_argument("--quiet", action="store_true", help="log warnings and errors only")
    parser.add_argument("--log-level", choices=LEVELS, default="info", help="default: info")


def run(args: argparse.Namespace) -> int:
    """Run the line; answer 0 after an orderly end, 1 after a fault, 2 for a wrong file."""
    _check(args)
    line = load(args.file)
    level = "warning" if args.quiet else args.log_level
    plan = Plan(part_limit=args.parts, log_level=level)
    log = make_log("supervisor", plan.run_id, level)
    outcome = Supervisor(line, plan, log).run()
    if args.report:
        text = json.dumps(outcome_values(outcome), indent=2)
        Path(args.report).write_text(text + "\n", encoding="utf-8")
    return int(outcome.code)


def outcome_values(outcome: Outcome) -> dict[str, Any]:
    """Answer what the supervisor knows of a run, ready for JSON."""
    return {
        "run": outcome.run_id,
        "exit": int(outcome.code),
        "why": outcome.why,
    }


def _check(args: argparse.Namespace) -> None:
    """Refuse before anything is started."""
    if args.parts < 0:
        raise UsageFault(f"{args.parts} parts", "--parts", "give 0 (no limit) or more")
    if args.report and not Path(args.report).resolve().parent.is_dir():
        raise UsageFault("its folder does not exist", args.report, "make the folder first")
