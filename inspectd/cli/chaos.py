"""`inspectd chaos FILE`: strike a running line at random, and audit what the PLC saw of it."""

import argparse
import json
import secrets
import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Any

from inspectd.chaos.audit import RULES
from inspectd.chaos.campaign import Campaign, Outcome
from inspectd.chaos.kinds import KINDS, Kind, Needs, chosen
from inspectd.chaos.plan import Fault, describe, plan
from inspectd.chaos.recovery import table
from inspectd.chaos.station import places_of
from inspectd.chaos.world import Settings, World
from inspectd.cli.check import load_to_run
from inspectd.errors import Exit, UsageFault
from inspectd.outfile import check_writable, write

__all__ = ["add_arguments", "ending_like_ctrl_c", "run"]

_FAULTS = 30
_FAULTS_MAX = 100_000
_BREACHES_SHOWN = 40


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("file", help="station file (YAML); its stations are triggered by a Modbus PLC")
    add("--faults", type=int, help=f"how many (default {_FAULTS}; with --minutes: no limit)")
    add("--minutes", type=float, help="strike no more after so long")
    add("--seed", type=int, help="the same seed gives the same faults (default: drawn, printed)")
    add("--kinds", default="", metavar="A,B", help="only these kinds or families, e.g. kill,wire")
    add("--rate-hz", type=float, default=0.0, help="parts a second (default: the file's simulator)")
    add("--report", type=Path, metavar="FILE", help="write everything found as JSON")
    add("--keep", type=Path, metavar="FOLDER", help="keep record, books and log of the trial here")
    add("--plan", action="store_true", help="print the faults of this seed, strike nobody")


def run(args: argparse.Namespace) -> int:
    """Strike and audit; answer 1 on any breach."""
    check_writable(args.report)
    line = load_to_run(args.file)
    kinds = _kinds(args.kinds)
    seed = secrets.randbelow(1 << 31) if args.seed is None else args.seed
    count = _count(args)
    if args.plan:
        for fault in plan(seed, count, kinds, len(places_of(line))):
            print(describe(fault))
        return Exit.OK
    settings = Settings(
        rate_hz=args.rate_hz,
        has_small_disk=any(Needs.SMALL_DISK in kind.needs for kind in kinds),
        folder=args.keep,
    )
    print(f"seed {seed}, at most {count} faults of {len(kinds)} kinds", flush=True)
    with ExitStack() as rest, ending_like_ctrl_c():
        world = World(line, settings, rest)
        kinds = _possible(kinds, world)
        faults = plan(seed, count, kinds, len(world.places))
        outcome = _strike(world, faults, args.minutes)
    _print(outcome, kinds)
    again = _again(args, seed, len(outcome.done) + len(outcome.missed))
    if args.report:
        write(args.report, json.dumps(_as_json(outcome, kinds, seed, again), indent=1) + "\n")
    if outcome.breaches:
        print(f"again: {again}")
        return Exit.FAULT
    return Exit.OK


def _strike(world: World, faults: Sequence[Fault], minutes: float | None) -> Outcome:
    """Fault after fault; Ctrl-C ends the campaign early, and what was done is audited."""
    campaign = Campaign(world, lambda text: print(text, flush=True))
    campaign.begin()
    ends_at = time.monotonic() + 60 * minutes if minutes else float("inf")
    try:
        for fault in faults:
            if time.monotonic() >= ends_at:
                break
            done = len(campaign.outcome.done)
            campaign.strike(fault)
            _print_fault(fault, campaign.outcome, is_done=len(campaign.outcome.done) > done)
    except KeyboardInterrupt:
        print("interrupted: auditing what was done", flush=True)
    return campaign.end()


@contextmanager
def ending_like_ctrl_c() -> Iterator[None]:
    """Have SIGTERM end a campaign as Ctrl-C does: cleanly."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)


# ---------------------------------------------------------------- arguments


def _kinds(given: str) -> tuple[Kind, ...]:
    if not given:
        return KINDS
    kinds, unknown = chosen(name.strip() for name in given.split(","))
    if unknown:
        known = ", ".join(kind.name for kind in KINDS)
        raise UsageFault(f"no kind {', '.join(unknown)}", "--kinds", f"give some of: {known}")
    return kinds


def _count(args: argparse.Namespace) -> int:
    count = args.faults
    if count is None:
        count = _FAULTS_MAX if args.minutes else _FAULTS
    if not 0 <= count <= _FAULTS_MAX:
        raise UsageFault(f"{count} faults", "--faults", f"give 0 to {_FAULTS_MAX}")
    if args.minutes is not None and args.minutes <= 0:
        raise UsageFault(f"{args.minutes} minutes", "--minutes", "give more than 0")
    return int(count)


def _possible(kinds: Sequence[Kind], world: World) -> tuple[Kind, ...]:
    """Leave out what this machine does not offer, and say so."""
    left = tuple(
        kind for kind in kinds if world.disk is not None or Needs.SMALL_DISK not in kind.needs
    )
    for kind in kinds:
        if kind not in left:
            print(f"left out: {kind.name}: {world.no_disk}")
    if not left:
        raise UsageFault("nothing is left to do", "--kinds", "give other kinds")
    return left


def _again(args: argparse.Namespace, seed: int, count: int) -> str:
    """The command that does the same faults again."""
    words = ["inspectd", "chaos", args.file, "--seed", str(seed), "--faults", str(count)]
    if args.kinds:
        words += ["--kinds", args.kinds]
    if args.rate_hz:
        words += ["--rate-hz", str(args.rate_hz)]
    return " ".join(words)


# ---------------------------------------------------------------- words


def _print_fault(fault: Fault, outcome: Outcome, *, is_done: bool) -> None:
    if not is_done:
        print(f"{describe(fault)}: not done: {outcome.missed[-1][2]}", flush=True)
        return
    recovery_s = outcome.done[-1].recovery_s
    words = "no OK came" if recovery_s is None else f"next OK after {recovery_s:.2f} s"
    print(f"{describe(fault)}: {words}", flush=True)


def _print(outcome: Outcome, kinds: Iterable[Kind]) -> None:
    head = f"{'fault':<22}{'done':>5}{'breaches':>10}{'next OK after, s: p50':>23}"
    print(f"\n{head}{'p99':>8}{'max':>8}")
    for row in table(kinds, outcome.done, outcome.breaches):
        times = "".join(
            f"{'-' if value is None else format(value, '.2f'):>{width}}"
            for value, width in ((row.p50_s, 23), (row.p99_s, 8), (row.longest_s, 8))
        )
        print(f"{row.kind:<22}{row.count:>5}{row.breaches:>10}{times}")
    for number, name, why in outcome.missed:
        print(f"not done: #{number} {name}: {why}")
    print(
        f"\n{outcome.parts} triggers, {outcome.told} told; {outcome.unasked} parts passed while"
        f" vision was not ready; the line was started {outcome.starts} times"
    )
    if outcome.exceptions:
        words = ", ".join(f"{number} {name}" for name, number in outcome.exceptions.items())
        print(f"allowed by the fault in progress, and rejected by the PLC's window: {words}")
    _print_breaches(outcome)


def _print_breaches(outcome: Outcome) -> None:
    print(f"{len(outcome.done)} faults, {len(outcome.breaches)} breaches")
    names = {done.number: done.kind for done in outcome.done}
    for breach in outcome.breaches[:_BREACHES_SHOWN]:
        at_s = (breach.at_ns - outcome.began_ns) / 1e9
        during = f"#{breach.fault} {names.get(breach.fault, '')}" if breach.fault else "no fault"
        print(f"  {at_s:8.2f} s  {during}: {RULES[breach.rule]}: {breach.what}")
    if len(outcome.breaches) > _BREACHES_SHOWN:
        print(f"  ... and {len(outcome.breaches) - _BREACHES_SHOWN} more (--report has them all)")


def _as_json(outcome: Outcome, kinds: Sequence[Kind], seed: int, again: str) -> dict[str, Any]:
    began_ns = outcome.began_ns
    return {
        "format": 1,
        "seed": seed,
        "again": again,
        "kinds": [kind.name for kind in kinds],
        "table": [asdict(row) for row in table(kinds, outcome.done, outcome.breaches)],
        "faults": [
            {
                "number": done.number,
                "kind": done.kind,
                "begin_s": (done.begin_ns - began_ns) / 1e9,
                "end_s": (done.end_ns - began_ns) / 1e9,
                "recovery_s": done.recovery_s,
            }
            for done in outcome.done
        ],
        "missed": [list(one) for one in outcome.missed],
        "breaches": [
            {**breach._asdict(), "at_s": (breach.at_ns - began_ns) / 1e9}
            for breach in outcome.breaches
        ],
        "exceptions": outcome.exceptions,
        "parts": outcome.parts,
        "told": outcome.told,
        "unasked": outcome.unasked,
        "starts": outcome.starts,
        "holdings": {
            name: [then._asdict(), now._asdict()] for name, (then, now) in outcome.holdings.items()
        },
        "simulators": outcome.simulators,
    }
