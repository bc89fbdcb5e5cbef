"""The text that goes with a model: where it is from, how good it is, what not to trust it with."""

import datetime as dt

from inspectd.scoring import Scores
from inspectd.train.checkpoint import Checkpoint

__all__ = ["model_card"]

_UNSAID = "Not stated in the recipe."


def model_card(
    checkpoint: Checkpoint, command: str, scores: tuple[Scores, str] | None, size: int
) -> str:
    """Answer the content of `MODEL_CARD.md`.

    `scores` come with the name of the data they were measured on; `command` is the export's; `size`
    is of the weights, in bytes.
    """
    recipe = checkpoint.recipe
    channels = "grey picture, template, absolute difference" if recipe.template else "RGB"
    parts = [
        f"# {recipe.name}",
        f"Finds {', '.join(recipe.classes)} at {recipe.input_px} px: {channels}; no NMS inside.",
        "## Data",
        recipe.credit.strip() or _UNSAID,
        "## Training",
        _training(checkpoint, command, size),
        "## Scores",
        _measured(scores),
        "## Limits",
        recipe.limits.strip() or _UNSAID,
    ]
    return "\n\n".join(parts) + "\n"


def _training(checkpoint: Checkpoint, command: str, size: int) -> str:
    recipe, notes = checkpoint.recipe, checkpoint.notes
    batch = recipe.batch * recipe.accumulate
    unit = f"crops of {recipe.train_px} px" if recipe.template else "pictures"
    today = dt.datetime.now(dt.timezone.utc)
    rows = [
        f"command: `{notes.get('command', 'unknown')}`, then `{command}`",
        f"{notes.get('pictures', '?')} pictures trained on, {notes.get('held_out', '?')} held out",
        f"{checkpoint.step} updates of {batch} {unit} ({checkpoint.step * batch} looks)",
        f"{checkpoint.seconds / 60:.0f} min, {notes.get('cores', '?')} shared CPU cores, no GPU",
        f"seed {recipe.seed}, Paddle {notes.get('paddle', '?')}, random start, no pretraining",
        f"weights {size / 1e6:.1f} MB, written {today:%Y-%m-%d}",
    ]
    return "\n".join(f"- {row}" for row in rows)


def _measured(scores: tuple[Scores, str] | None) -> str:
    if scores is None:
        return "Not measured at export (`--test DIR` does)."
    return f"On {scores[1]}, by `paddle.inference`:\n\n```text\n{scores[0].report()}\n```"
