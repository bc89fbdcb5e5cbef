"""`inspectd train`: from a recipe and a data folder to a checkpoint with its scores."""

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

from inspectd.errors import UsageFault
from inspectd.train.dataset import load_pictures, read_coco, split
from inspectd.train.machine import prepare_cpu, shown_command
from inspectd.train.recipe import Recipe, load_recipe, recipe_from_dict, recipe_to_dict

__all__ = ["add_arguments", "run"]

_CACHE_ZOOM = 1.25
"""Colour pictures are kept this much larger than the input, so that zooming in stays sharp."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `inspectd train`."""
    parser.add_argument(
        "recipe", help="recipe file, or name of a shipped recipe (bottle_cap, deeppcb)"
    )
    parser.add_argument("--data", required=True, help="folder with annotations.json and images/")
    parser.add_argument("--out", required=True, help="folder for last.pdparams")
    parser.add_argument("--resume", action="store_true", help="go on from OUT/last.pdparams")
    budget = parser.add_mutually_exclusive_group()
    budget.add_argument("--minutes", type=float, help="wall-clock budget")
    budget.add_argument("--steps", type=int, help="budget in weight updates")
    budget.add_argument("--epochs", type=float, help="budget in passes over the data")
    parser.add_argument("--batch", type=int, help="pictures a step")
    parser.add_argument("--accumulate", type=int, help="steps whose gradients are summed")
    parser.add_argument("--learning-rate", type=float, help="peak learning rate")
    parser.add_argument("--input-px", type=int, help="side of the network input, a multiple of 32")
    parser.add_argument("--train-px", type=int, help="side of training crops, a multiple of 32")
    parser.add_argument("--width", type=float, default=1.0, help="factor on all channel counts")
    parser.add_argument("--seed", type=int, help="of weights, order and augmentation")
    parser.add_argument("--amp", action="store_true", help="bfloat16 on a GPU; no effect on a CPU")
    parser.add_argument("--threads", type=int, default=0, help="CPU threads, 0 means all cores")
    parser.add_argument(
        "--no-validation", action="store_true", help="train on the held-out part too"
    )


def run(args: argparse.Namespace) -> int:
    """Train, save, print scores on the held-out part; answers the exit code.

    Raises:
        UsageFault: anything wrong with recipe, data or checkpoint, in one sentence.
    """
    recipe = _changed(load_recipe(args.recipe), args)
    if not (recipe.minutes or recipe.steps or recipe.epochs):
        raise UsageFault("no budget", args.recipe, "give --minutes, --steps or --epochs")
    data, out = Path(args.data), Path(args.out)
    coco = read_coco(data)
    train_ids, held_ids = split(coco, recipe)
    if args.no_validation:
        train_ids, held_ids = train_ids + held_ids, []
    if not train_ids:
        raise UsageFault("no picture to train on", args.data, "check the recipe's validate_* keys")
    prepare_cpu(args.threads)
    return _train(recipe, data, coco, train_ids, held_ids, out, args)


def _changed(recipe: Recipe, args: argparse.Namespace) -> Recipe:
    """Apply the command line over the recipe."""
    values = recipe_to_dict(recipe)
    if args.minutes or args.steps or args.epochs:
        values.update(minutes=0.0, steps=0, epochs=0.0)
    for key in (
        "minutes", "steps", "epochs", "batch", "accumulate",
        "learning_rate", "input_px", "train_px", "seed",
    ):  # fmt: skip
        given = getattr(args, key)
        if given is not None:
            values[key] = given
    if args.width != 1.0:
        shape = values["network"]
        shape["widths"] = [max(8, round(w * args.width / 8) * 8) for w in shape["widths"]]
        shape["neck_width"] = max(8, round(shape["neck_width"] * args.width / 8) * 8)
    return recipe_from_dict(values, "command line")


def _train(
    recipe: Recipe,
    data: Path,
    coco: dict[str, Any],
    train_ids: list[int],
    held_ids: list[int],
    out: Path,
    args: argparse.Namespace,
) -> int:
    import paddle

    from inspectd.train.checkpoint import load_checkpoint
    from inspectd.train.trainer import Trainer

    path = out / "last.pdparams"
    resume = load_checkpoint(path, recipe) if args.resume else None
    if resume is None and path.exists():
        raise UsageFault("holds a checkpoint already", str(out), "give --resume or another folder")
    side = recipe.input_px if recipe.template else round(recipe.input_px * _CACHE_ZOOM)
    print(f"reading {len(train_ids)} pictures from {data}", flush=True)
    pictures = load_pictures(data, coco, train_ids, recipe, side)
    amp = args.amp and paddle.is_compiled_with_cuda()
    if args.amp and not amp:
        print("--amp has no effect: this is a CPU; training in float32", flush=True)
    trainer = Trainer(recipe, pictures, resume, amp)
    size = sum(int(p.size) for p in trainer.detector.parameters())
    print(
        f"{recipe.name}: {size / 1e6:.2f} M parameters, {len(pictures)} pictures, "
        f"{len(trainer.units)} units, {trainer.steps_per_epoch:.0f} updates an epoch, "
        f"starting at update {trainer.step}",
        flush=True,
    )
    notes = {
        "command": shown_command(sys.argv[1:]),
        "pictures": len(pictures),
        "held_out": len(held_ids),
        "cores": os.cpu_count(),
        "paddle": paddle.__version__,
    }
    with _Bar() as bar:
        trainer.run(bar.tell, path, notes)
    print(f"{trainer.step} updates in {trainer.seconds / 60:.1f} min, saved {path}", flush=True)
    if held_ids:
        from inspectd.train.evaluate import evaluate_detector

        scores = evaluate_detector(trainer.averaged(), recipe, data, coco, held_ids)
        print(f"held-out part, {len(held_ids)} pictures:\n{scores.report()}", flush=True)
    return 0


class _Bar:
    """A progress bar on a terminal, a line every 30 seconds elsewhere."""

    def __enter__(self) -> "_Bar":
        from tqdm import tqdm

        self._live = sys.stderr.isatty()
        self._bar = tqdm(total=1000, unit="permille", disable=not self._live)
        self._loss, self._said = 0.0, time.monotonic()
        return self

    def tell(self, told: Any) -> None:
        """Show one step."""
        self._loss = told.loss if not self._loss else 0.98 * self._loss + 0.02 * told.loss
        if self._live:
            self._bar.set_postfix(step=told.step, loss=f"{self._loss:.3f}", refresh=False)
            self._bar.update(round(told.progress * 1000) - self._bar.n)
        elif time.monotonic() - self._said > 30:
            self._said = time.monotonic()
            line = (
                f"step {told.step} {told.progress:.1%} loss {self._loss:.3f} rate {told.rate:.2e}"
            )
            print(f"{line} {told.seconds / 60:.1f} min", flush=True)

    def __exit__(self, *_: object) -> None:
        self._bar.close()
