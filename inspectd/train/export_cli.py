"""`inspectd export`: a checkpoint becomes a model directory."""

import argparse
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
        help="python of a Paddle 2.6 environment for pdmodel; made in the cache folder when not given",
    )
    parser.add_argument("--test", help="COCO folder to score the export on, for the model card")
    parser.add_argument("--threads", type=int, default=0, help="CPU threads, 0 means all cores")


def run(args: argparse.Namespace) -> int:
    """Write the directory with its card; answers the exit code.

    Raises:
        UsageFault: checkpoint or test data are wrong, or no Paddle 2.6 can be had.
    """
    prepare_cpu(args.threads)
    from inspectd.train.checkpoint import load_checkpoint
    from inspectd.train.evaluate import evaluate_directory
    from inspectd.train.export import export_model, model_card
    from inspectd.train.legacy import legacy_python

    checkpoint = load_checkpoint(Path(args.checkpoint))
    legacy = legacy_python(args.legacy_python) if args.format == "pdmodel" else None
    out = Path(args.out)
    export_model(checkpoint, out, legacy)
    scores = None
    if args.test:
        test = Path(args.test)
        scores = evaluate_directory(out, test), "/".join(test.resolve().parts[-2:])
        print(scores[0].report())
    size = (out / "model.pdiparams").stat().st_size
    card = model_card(checkpoint, shown_command(sys.argv[1:]), scores, size)
    (out / "MODEL_CARD.md").write_text(card)
    print(f"wrote {out}: {', '.join(sorted(path.name for path in out.iterdir()))}")
    return 0
