"""`inspectd export`: a checkpoint becomes a model directory."""

import argparse
import importlib
import sys
from pathlib import Path

from inspectd.train.machine import prepare_cpu, shown_command

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `inspectd export`."""
    parser.add_argument("checkpoint", help=".pdparams written by inspectd train")
    parser.add_argument("--out", required=True, help="model directory to write")
    parser.add_argument(
        "--format",
        choices=("json", "pdmodel"),
        default="json",
        help="json for Paddle 3, pdmodel for Paddle 2.6, TensorRT and the OpenVINO engine",
    )
    parser.add_argument(
        "--legacy-python",
        help="python of a Paddle 2.6 environment for pdmodel; without it, one is made in the cache",
    )
    parser.add_argument("--test", help="COCO folder to score the export on, for the model card")
    parser.add_argument("--threads", type=int, default=0, help="CPU threads, 0 means all cores")


def run(args: argparse.Namespace) -> int:
    """Write the directory with its card; answers the exit code.

    Raises:
        UsageFault: checkpoint or test data are wrong, or no Paddle 2.6 can be had.
    """
    prepare_cpu(args.threads)
    # Only now: paddle reads the environment when it is imported.
    publish = importlib.import_module("inspectd.train.publish").publish
    report = publish(
        Path(args.checkpoint),
        Path(args.out),
        is_legacy=args.format == "pdmodel",
        legacy_python=args.legacy_python,
        test=Path(args.test) if args.test else None,
        command=shown_command(sys.argv[1:]),
    )
    print(report)
    return 0
