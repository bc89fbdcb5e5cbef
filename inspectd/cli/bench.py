"""`inspectd bench`: measure the pipeline against baselines of the same run."""

import argparse
import json
import os
import platform
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from inspectd import __version__
from inspectd.bench import throughput, transport
from inspectd.errors import Exit, UsageFault
from inspectd.outfile import check_writable, write

__all__ = ["add_arguments", "run"]

HOPS_MIN = 100
"""Fewer say nothing of a median."""
HOP_RATIO_MAX = 2.0
"""Aim: the median of one hop at most twice a bare ZeroMQ ping."""
THROUGHPUT_SHARE_MIN = 0.95
"""Aim: so much of the engine's own limit."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--only", choices=("transport", "throughput"), help="one of the two")
    parser.add_argument("--hops", type=int, default=5000, help="default: %(default)s")
    parser.add_argument(
        "--seconds", type=float, default=10, help="of throughput (default: %(default)s)"
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
    results: dict[str, dict[str, Any]] = {}
    if args.only != "throughput":
        results["transport"] = _transport(transport.measure(args.hops))
    if args.only != "transport":
        with tempfile.TemporaryDirectory(prefix="inspectd-bench-") as folder:
            measured = throughput.measure(Path(folder), args.seconds, args.batch_max)
        results["throughput"] = _throughput(measured, args.batch_max)
    _print(results)
    if args.json:
        text = json.dumps({**_machine(), **results}, indent=1)
        write(args.json, text + "\n")
    is_met = all(result["is_met"] for result in results.values())
    return Exit.OK if is_met else Exit.FAULT


def _transport(hops: transport.Hops) -> dict[str, Any]:
    return {
        "hop_us": _quantiles(hops.ours_us),
        "bare_us": _quantiles(hops.bare_us),
        "message_bytes": hops.message_bytes,
        "ratio_p50": round(hops.ratio, 3),
        "aim": f"at most {HOP_RATIO_MAX}",
        "is_met": hops.ratio <= HOP_RATIO_MAX,
    }


def _throughput(measured: throughput.Throughput, batch_max: int) -> dict[str, Any]:
    return {
        "rate_hz": round(measured.rate_hz, 1),
        "limit_hz": round(measured.limit_hz, 1),
        "script_hz": round(measured.script_hz, 1),
        "batch_max": batch_max,
        "batch_mean": round(measured.parts / max(1, measured.batches), 2),
        "parts": measured.parts,
        "share": round(measured.share, 4),
        "aim": f"at least {THROUGHPUT_SHARE_MIN}",
        "is_met": measured.share >= THROUGHPUT_SHARE_MIN,
    }


def _quantiles(times_us: Sequence[float]) -> dict[str, float]:
    cuts = statistics.quantiles(times_us, n=100)
    return {"p50": round(cuts[49], 1), "p99": round(cuts[98], 1)}


def _machine() -> dict[str, Any]:
    return {
        "inspectd": __version__,
        "measured_utc": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "cores": os.cpu_count(),
        "load_1_min": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "kernel": platform.release(),
    }


def _print(results: Mapping[str, Mapping[str, Any]]) -> None:
    """One line per number, with what it is held against."""
    machine = _machine()
    print(f"{machine['cores']} cores, load {machine['load_1_min']}, Python {machine['python']}")
    if "transport" in results:
        found = results["transport"]
        hop, bare = found["hop_us"], found["bare_us"]
        print(f"one hop of a ticket ({found['message_bytes']} bytes), microseconds")
        print(f"  inspectd     p50 {hop['p50']:8.1f}   p99 {hop['p99']:8.1f}")
        print(f"  bare ZeroMQ  p50 {bare['p50']:8.1f}   p99 {bare['p99']:8.1f}")
        print(f"  ratio of p50     {found['ratio_p50']:8.2f}   aim {found['aim']}")
    if "throughput" in results:
        found = results["throughput"]
        print(f"throughput with a scripted engine (batches of at most {found['batch_max']})")
        print(f"  parts a second   {found['rate_hz']:8.1f}   mean batch {found['batch_mean']}")
        print(f"  engine alone     {found['limit_hz']:8.1f}   by its script {found['script_hz']}")
        print(f"  share            {found['share']:8.3f}   aim {found['aim']}")
