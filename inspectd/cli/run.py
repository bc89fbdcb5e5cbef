"""`inspectd run FILE`: run a line until it is stopped, or until so many parts are judged."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from inspectd.cli.check import load_to_run
from inspectd.cli.live import Live
from inspectd.cli.report import report_of
from inspectd.config.schema import Line
from inspectd.errors import Exit, InspectdError, UsageFault
from inspectd.host.board import State
from inspectd.host.build import STEPS
from inspectd.host.lock import only_run
from inspectd.host.log import LEVELS, make_log
from inspectd.host.supervisor import Outcome, Plan, Supervisor
from inspectd.outfile import check_writable, write
from inspectd.record.database import FILE_NAME

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", help="station file (YAML)")
    parser.add_argument(
        "--parts",
        type=int,
        default=0,
        metavar="N",
        help="end after N parts per station; 0: do not end",
    )
    parser.add_argument("--report", metavar="FILE", help="write what happened as JSON at the end")
    parser.add_argument(
        "--quiet", action="store_true", help="show no verdicts; log warnings and errors only"
    )
    parser.add_argument(
        "--log-level",
        choices=LEVELS,
        help="default: info; warning while a terminal shows the verdicts",
    )
    parser.add_argument(
        "--step",
        action="append",
        default=[],
        metavar="ROLE=MODULE:FUNCTION",
        help="for trials: another step for a role (`inspectd chaos` starts its line so)",
    )


def run(args: argparse.Namespace) -> int:
    """Run the line; answer 0 after an orderly end, 1 after a fault, 2 for a wrong file."""
    _check(args)
    line, former = load_to_run(args.file), None
    while True:
        plan = Plan(part_limit=args.parts, log_level=_log_level(args), steps=_steps(args.step))
        log = make_log("supervisor", plan.run_id, plan.log_level)
        database = Path(line.record.folder) / FILE_NAME
        try:
            with only_run(database.parent):
                outcome = _run(args, line, plan, log, database)
        except InspectdError as fault:
            if former is None:
                raise
            log("error", "reload_rolled_back", error=str(fault))
            line, former = former, None
            continue
        if outcome.is_reload:
            line, former = _changed(args.file, line, log), line
        elif former is not None and outcome.code != Exit.OK and not outcome.was_ready:
            log("error", "reload_rolled_back", error=outcome.why)
            line, former = former, None
        else:
            return int(outcome.code)


def _changed(file: str, line: Line, log: Callable[..., None]) -> Line:
    """The station file as it is now; the old line when it has become wrong since it was tried."""
    try:
        return load_to_run(file)
    except InspectdError as fault:
        log("error", "reload_refused", error=str(fault))
        return line


def _run(
    args: argparse.Namespace,
    line: Line,
    plan: Plan,
    log: Callable[..., None],
    database: Path,
) -> Outcome:
    """Run the line with its view, then sum up."""
    live = None if args.quiet else Live(line, plan.run_id, database)

    def show(states: Sequence[State]) -> None:
        if live is not None:
            live.update(time.monotonic_ns(), states)

    if live is not None:
        live.start()
    report: Mapping[str, Any] | None = None
    try:
        outcome = Supervisor(line, plan, log, on_turn=show).run()
        report = _report(line, outcome, database)
    finally:
        if live is not None:
            live.stop(report if report and report.get("parts") else None)
    if args.report:
        write(args.report, json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    if outcome.code != Exit.OK:
        print(f"line {line.line} ended: {outcome.why}; the errors are above", file=sys.stderr)
    return outcome


def _report(line: Line, outcome: Outcome, database: Path) -> dict[str, Any]:
    """The report of the record, with how the run ended; that alone when it never got that far."""
    ending = {"exit": int(outcome.code), "why": outcome.why}
    try:
        report = report_of(line, outcome.run_id, database, outcome.states, outcome.simulators)
    except UsageFault:
        return {"run_id": outcome.run_id, **ending}
    return {**report, **ending}


def _log_level(args: argparse.Namespace) -> str:
    if args.quiet:
        return "warning"
    return args.log_level or ("warning" if sys.stdout.isatty() else "info")


def _steps(given: Sequence[str]) -> dict[str, str]:
    """By role name; of one that is given twice the last counts."""
    steps = {}
    roles = [role.name.lower() for role in STEPS]
    for text in given:
        role, _, step = text.partition("=")
        if role not in roles or not all(step.partition(":")):
            raise UsageFault(
                f"{text!r}", "--step", f"give ROLE=MODULE:FUNCTION, ROLE one of {', '.join(roles)}"
            )
        steps[role] = step
    return steps


def _check(args: argparse.Namespace) -> None:
    """Refuse before anything is started."""
    if args.parts < 0:
        raise UsageFault(f"{args.parts} parts", "--parts", "give 0 (no limit) or more")
    check_writable(args.report)
