"""`inspectd soak FILE`: run a line near its capacity for a while, and see whether it stays flat."""

import argparse
import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from inspectd.chaos.audit import RULES
from inspectd.chaos.soak import Soak, Soaked
from inspectd.chaos.world import Settings, World
from inspectd.cli.chaos import ending_like_ctrl_c
from inspectd.cli.check import load_to_run
from inspectd.errors import Exit, UsageFault
from inspectd.outfile import check_writable, write

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("file", help="station file (YAML); its stations are triggered by a Modbus PLC")
    add("--minutes", type=float, default=15.0, help="how long (default: %(default)s)")
    add("--load", type=float, default=0.85, help="share of the capacity (default: %(default)s)")
    add("--rate-hz", type=float, default=0.0, help="parts a second instead of a share")
    add("--report", type=Path, metavar="FILE", help="write all samples as JSON")
    add("--keep", type=Path, metavar="FOLDER", help="keep record, books and log of the trial here")


def run(args: argparse.Namespace) -> int:
    """Soak and judge; answer 1 when something grew, was late, or broke a promise."""
    check_writable(args.report)
    _check(args)
    line = load_to_run(args.file)
    settings = Settings(has_small_disk=False, folder=args.keep)
    with ExitStack() as rest, ending_like_ctrl_c():
        world = World(line, settings, rest)
        soak = Soak(world, lambda text: print(text, flush=True))
        found = soak.run(args.minutes * 60, args.load, args.rate_hz)
    _print(found)
    if args.report:
        write(args.report, json.dumps(_as_json(found), indent=1) + "\n")
    return Exit.OK if found.is_good else Exit.FAULT


def _check(args: argparse.Namespace) -> None:
    for option, value, highest in (
        ("--minutes", args.minutes, 60 * 24 * 30),
        ("--load", args.load, 1.5),
        ("--rate-hz", args.rate_hz or 1.0, 1000),
    ):
        if not 0 < value <= highest:
            raise UsageFault(f"got {value}", option, f"give more than 0, at most {highest}")


def _print(found: Soaked) -> None:
    print(f"\n{'process':<22}{'':<9}{'first':>9}{'last':>9}{'growth':>9}{'an hour':>10}")
    for row in found.flat:
        verdict = "" if row.is_flat else "  GROWS"
        growth, slope = row.trend.growth, row.trend.slope_per_hour
        print(
            f"{row.process:<22}{row.what:<9}{row.first:>9.1f}{row.last:>9.1f}"
            f"{growth:>9.2f}{slope:>10.2f}{verdict}"
        )
    print(
        f"\n{found.parts} parts in {found.seconds:.0f} s at {found.rate_hz:.1f} a second,"
        f" {found.late} late, {found.not_judged} not judged;"
        f" slots in use: at most {max(found.slots, default=0)}"
    )
    for breach in found.outcome.breaches:
        print(f"  {RULES[breach.rule]}: {breach.what}")
    print("good" if found.is_good else "NOT good")


def _as_json(found: Soaked) -> dict[str, Any]:
    return {
        "format": 1,
        "capacity_hz": found.capacity_hz,
        "rate_hz": found.rate_hz,
        "seconds": found.seconds,
        "parts": found.parts,
        "late": found.late,
        "not_judged": found.not_judged,
        "is_good": found.is_good,
        "flat": [{**row._asdict(), "trend": row.trend._asdict()} for row in found.flat],
        "breaches": [breach._asdict() for breach in found.outcome.breaches],
        "times_s": found.times_s,
        "slots": found.slots,
        "samples": {
            name: [holding._asdict() for holding in holdings]
            for name, holdings in found.samples.items()
        },
    }
