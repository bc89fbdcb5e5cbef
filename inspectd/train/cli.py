"""`inspectd train`: from a recipe and a data folder to a checkpoint with its scores."""

import argparse
from pathlib import Path

from inspectd.errors import UsageFault
from inspectd.train.dataset import read_coco, split
from inspectd.train.machine import prepare_cpu
from inspectd.train.recipe import Recipe, load_recipe, recipe_from_dict, recipe_to_dict

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `inspectd train`."""
    parser.add_argument("recipe", help="recipe file, or a shipped recipe (bottle_cap, deeppcb)")
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
    parser.add_argument("--amp", action="store_true", help="bfloat16 on a GPU; a CPU ignores it")
    parser.add_argument("--threads", type=int, default=0, help="CPU threads, 0 means all cores")
    parser.add_argument("--no-validation", action="store_true", help="train on the held-out part")


def run(args: argparse.Namespace) -> int:
    """Train, save, print scores on the held-out part; answers the exit code.

    Raises:
        UsageFault: anything wrong with recipe, data or checkpoint, in one sentence.
    """
    recipe = _changed(load_recipe(args.recipe), args)
    if not (recipe.minutes or recipe.steps or recipe.epochs):
        raise UsageFault("no budget", args.recipe, "give --minutes, --steps or --epochs")
    data = Path(args.data)
    if Path(args.out).exists() and not Path(args.out).is_dir():
        raise UsageFault("is a file", args.out, "name a folder as --out")
    coco = read_coco(data)
    train_ids, held_ids = split(coco, recipe)
    if args.no_validation:
        train_ids, held_ids = train_ids + held_ids, []
    if not train_ids:
        raise UsageFault("no picture to train on", args.data, "check the recipe's validate_* keys")
    prepare_cpu(args.threads)
    from inspectd.train.session import Session  # noqa: PLC0415  paddle reads the environment then

    session = Session(recipe, data, coco, train_ids=train_ids, held_ids=held_ids)
    session.train(Path(args.out), resume=args.resume, amp=args.amp)
    return 0


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
        shape["widths"] = [_multiple_of_8(width * args.width) for width in shape["widths"]]
        shape["neck_width"] = _multiple_of_8(shape["neck_width"] * args.width)
    return recipe_from_dict(values, "command line")


def _multiple_of_8(channels: float) -> int:
    """Round to what vector units like."""
    return max(8, round(channels / 8) * 8)
