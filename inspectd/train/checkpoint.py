"""A training run on disk: weights, averaged weights, optimiser, place in the budget, recipe.

Written whole to a temporary file and renamed, so a kill leaves the previous one.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import paddle
from numpy.typing import NDArray

from inspectd.errors import UsageFault
from inspectd.train.recipe import Recipe, recipe_from_dict, recipe_to_dict

__all__ = ["Checkpoint", "load_checkpoint", "save_checkpoint", "weights_of"]

_KIND = "inspectd-training-1"


@dataclass(slots=True)
class Checkpoint:
    """Everything a run needs to go on exactly where it was."""

    recipe: Recipe
    model: dict[str, Any]
    """Weights as they are trained."""
    average: dict[str, Any]
    """Weights averaged over steps: these are evaluated and exported."""
    optimiser: dict[str, Any]
    step: int
    """Weight updates done."""
    seconds: float
    """Wall time spent in training so far, over all runs."""
    notes: dict[str, Any]
    """For the model card: command, pictures, versions."""


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write `path` atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".tmp")
    content: Any = {
        "kind": _KIND,
        "recipe": recipe_to_dict(checkpoint.recipe),
        "model": checkpoint.model,
        "average": checkpoint.average,
        "optimiser": checkpoint.optimiser,
        "step": checkpoint.step,
        "seconds": checkpoint.seconds,
        "notes": checkpoint.notes,
    }
    paddle.save(content, str(fresh))
    fresh.replace(path)


def load_checkpoint(path: Path, expected: Recipe | None = None) -> Checkpoint:
    """Read a checkpoint.

    Raises:
        UsageFault: missing, not one of ours, or of a recipe with another network, classes or input
            than `expected`.
    """
    if not path.is_file():
        raise UsageFault(
            "no such checkpoint", str(path), "give a .pdparams written by inspectd train"
        )
    try:
        data = paddle.load(str(path))
    except (ValueError, RuntimeError, EOFError, OSError, ImportError) as fault:
        raise UsageFault(
            f"cannot be read ({fault})", str(path), "give another checkpoint"
        ) from fault
    except Exception as fault:  # pickle raises almost anything on foreign bytes
        raise UsageFault(
            "is no checkpoint", str(path), "give one written by inspectd train"
        ) from fault
    if not isinstance(data, dict) or data.get("kind") != _KIND:
        raise UsageFault(
            "is no inspectd checkpoint", str(path), "give one written by inspectd train"
        )
    recipe = recipe_from_dict(data["recipe"], str(path))
    if expected is not None:
        for key in ("name", "classes", "template", "network"):
            theirs, ours = getattr(recipe, key), getattr(expected, key)
            if theirs != ours:
                raise UsageFault(
                    f"is of another recipe: {key} is {theirs}, not {ours}",
                    str(path),
                    "resume with its own recipe or train into an empty folder",
                )
    return Checkpoint(
        recipe,
        data["model"],
        data["average"],
        data["optimiser"],
        int(data["step"]),
        float(data["seconds"]),
        dict(data["notes"]),
    )


def weights_of(state: dict[str, Any]) -> dict[str, NDArray[np.float32]]:
    """Answer the tensors of a state as numpy arrays, which any Paddle version can read."""
    return {name: np.asarray(value) for name, value in state.items()}
