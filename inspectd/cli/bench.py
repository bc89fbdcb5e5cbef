"""`inspectd bench`: measure the pipeline against baselines of the same run."""

import argparse
import json
import os
import platform
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from typing import Any

from inspectd import __version__
from inspectd.bench import house, latency, loop, pieces, suppression, throughput, transport
from inspectd.bench.finding import Finding
from inspectd.errors import Exit, UsageFault
from inspectd.outfile import check_writable, write

__all__ = ["add_arguments", "run"]

HOPS_MIN = 100
"""Fewer say nothing of a median."""

_SECTIONS: Mapping[str, Callable[[argparse.Namespace], Finding]] = {
    "transport": lambda args: transport.find(args.hops),
    "throughput": lambda args: throughput.find(args.seconds, args.batch_max),
    "latency": lambda args: latency.find(args.seconds, args.batch_max),
    "loop": lambda args: loop.find(args.seconds),
    "tiles": lambda _: pieces.find(),
    "nms": lambda _: suppression.find(),
    "house": lambda args: house.find(args.seconds, args.batch_max),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--only",
        action="append",
        choices=tuple(_SECTIONS),
        help="one section; may be given several times (default: all)",
    )
    parser.add_argument("--hops", type=int, default=5000, help="default: %(default)s")
    parser.add_argument(
        "--seconds", type=float, default=8, help="of each run of a line (default: %(default)s)"
    )
    parser.add_argument(
        "--batch-max", type=int, default=8, help="of the scripted engine (default: %(default)s)"
    )
    parser.add_argument("--json", metavar="FILE", help="write the numbers as JSON as well")


def run(args: argparse.Namespace) -> int:
    """Measure and print; answer 1 when an aim is missed."""
    check_writable(args.json)
    if args.hops < HOPS_MIN:
        raise UsageFault(f"{args.hops} hops", "--hops", f"give at least {HOPS_MIN}")
    machine = _machine()
    print(f"{machine['cores']} cores, load {machine['load_1_min']}, Python {machine['python']}")
    found: dict[str, Finding] = {}
    for name, measure in _SECTIONS.items():
        if not args.only or name in args.only:
            found[name] = measure(args)
            print(found[name].text(), flush=True)
    if args.json:
        sections = {name: one.as_json() for name, one in found.items()}
        write(args.json, json.dumps({**machine, **sections}, indent=1) + "\n")
    return Exit.OK if all(one.is_met for one in found.values()) else Exit.FAULT


def _machine() -> dict[str, Any]:
    return {
        "inspectd": __version__,
        "measured_utc": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "cores": os.cpu_count(),
        "load_1_min": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "kernel": platform.release(),
    }
