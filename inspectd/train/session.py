"""One call of `inspectd train`: reads the pictures, trains, tells, saves and scores."""

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import paddle
from tqdm import tqdm

from inspectd.errors import UsageFault
from inspectd.train.checkpoint import load_checkpoint
from inspectd.train.dataset import load_pictures
from inspectd.train.evaluate import evaluate_detector
from inspectd.train.machine import shown_command
from inspectd.train.recipe import Recipe
from inspectd.train.trainer import Told, Trainer

__all__ = ["CHECKPOINT_NAME", "Session"]

CHECKPOINT_NAME = "last.pdparams"
_CACHE_ZOOM = 1.25
"""Colour pictures are kept this much larger than the input, so that zooming in stays sharp."""
_SAY_EVERY_S = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class _Split:
    """Image ids by what they are for."""

    train: list[int]
    held_out: list[int]


class Session:
    """A recipe, its data and what is held out."""

    def __init__(
        self,
        recipe: Recipe,
        data: Path,
        coco: dict[str, Any],
        *,
        train_ids: list[int],
        held_ids: list[int],
    ) -> None:
        """Keep the parts; reads nothing yet."""
        self.recipe, self.data, self.coco = recipe, data, coco
        self.ids = _Split(train=train_ids, held_out=held_ids)

    def train(self, out: Path, *, resume: bool, amp: bool) -> None:
        """Train into `out`, then print the scores on the held-out part.

        Raises:
            UsageFault: a picture or the checkpoint cannot be used.
        """
        path = out / CHECKPOINT_NAME
        if path.exists() and not resume:
            raise UsageFault(
                "holds a checkpoint already", str(out), "give --resume or another folder"
            )
        start = load_checkpoint(path, self.recipe) if resume else None
        _say(f"reading {len(self.ids.train)} pictures from {self.data}")
        pictures = load_pictures(
            self.data, self.coco, self.ids.train, self.recipe, self._cache_px()
        )
        trainer = Trainer(self.recipe, pictures, start, _amp_here(wanted=amp))
        _say(_headline(trainer))
        with _Bar() as bar:
            trainer.run(bar.tell, path, self._notes())
        _say(f"{trainer.step} updates in {trainer.seconds / 60:.1f} min, saved {path}")
        held = self.ids.held_out
        if held:
            detector = trainer.averaged()
            scores = evaluate_detector(detector, self.recipe, self.data, self.coco, held)
            _say(f"held-out part, {len(held)} pictures:\n{scores.report()}")

    def _cache_px(self) -> int:
        side = self.recipe.input_px
        return side if self.recipe.template else round(side * _CACHE_ZOOM)

    def _notes(self) -> dict[str, Any]:
        """For the model card."""
        return {
            "command": shown_command(sys.argv[1:]),
            "pictures": len(self.ids.train),
            "held_out": len(self.ids.held_out),
            "cores": os.cpu_count(),
            "paddle": str(paddle.version.full_version),
        }


def _amp_here(*, wanted: bool) -> bool:
    """Say no where mixed precision does nothing, and tell the person."""
    possible = bool(paddle.device.is_compiled_with_cuda())
    if wanted and not possible:
        _say("--amp has no effect: this Paddle runs on the CPU; training in float32")
    return wanted and possible


def _headline(trainer: Trainer) -> str:
    size = sum(int(parameter.size) for parameter in trainer.detector.parameters())
    return (
        f"{trainer.recipe.name}: {size / 1e6:.2f} M parameters, {len(trainer.pictures)} pictures, "
        f"{trainer.steps_per_epoch:.0f} updates an epoch, starting after update {trainer.step}"
    )


def _say(text: str) -> None:
    print(text, flush=True)


class _Bar:
    """A progress bar on a terminal, a line every half minute elsewhere."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._bar = tqdm(total=1000, unit="permille", disable=not self._live)
        self._loss = 0.0
        self._said = time.monotonic()

    def __enter__(self) -> "_Bar":  # noqa: PYI034  typing.Self is 3.11
        return self

    def tell(self, told: Told) -> None:
        """Show one step; the loss is smoothed."""
        self._loss = told.loss if not self._loss else 0.98 * self._loss + 0.02 * told.loss
        if self._live:
            self._bar.set_postfix(step=told.step, loss=f"{self._loss:.3f}", refresh=False)
            self._bar.update(round(told.progress * 1000) - self._bar.n)
        elif time.monotonic() - self._said > _SAY_EVERY_S:
            self._said = time.monotonic()
            place = f"step {told.step} {told.progress:.1%} {told.seconds / 60:.1f} min"
            _say(f"{place} loss {self._loss:.3f} rate {told.rate:.2e}")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.close()
