"""The training loop: batches in, better weights out, for as long as the budget says.

The place in the budget is the only clock of the learning rate: `minutes` means wall time (a busy
machine trains fewer steps, and still ends on the last part of the cosine), `steps` and `epochs` are
exact. What a step sees depends on seed and step number alone, so a resumed run repeats an
uninterrupted one.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import paddle
from numpy.typing import NDArray

from inspectd.train.augment import Sample, crop, warp
from inspectd.train.checkpoint import Checkpoint, save_checkpoint
from inspectd.train.dataset import Picture
from inspectd.train.losses import detection_loss, make_targets
from inspectd.train.network import Detector, anchor_centres
from inspectd.train.recipe import Recipe

__all__ = ["Trainer", "build_detector", "learning_rate", "normalise"]

_WARM_UP = 0.02
"""Share of the budget in which the learning rate rises."""
_FINAL_RATE = 0.01
"""Share of the peak that is left at the end."""
_CLIP_NORM = 10.0


def learning_rate(progress: float, peak: float) -> float:
    """Answer the rate at `progress` (0..1) through the budget: linear warm-up, then cosine."""
    if progress < _WARM_UP:
        return peak * (0.05 + 0.95 * progress / _WARM_UP)
    done = min((progress - _WARM_UP) / (1 - _WARM_UP), 1.0)
    return peak * (_FINAL_RATE + (1 - _FINAL_RATE) * 0.5 * (1 + math.cos(math.pi * done)))


def build_detector(recipe: Recipe) -> Detector:
    """Make the network with fresh weights drawn from the recipe's seed."""
    paddle.seed(recipe.seed)
    with paddle.utils.unique_name.guard():
        shape = recipe.network
        return Detector(
            len(recipe.classes), shape.widths, shape.depths, shape.neck_width, shape.levels
        )


def normalise(pixels: NDArray[np.uint8], recipe: Recipe) -> NDArray[np.float32]:
    """Turn (B, H, W, 3) uint8 into the network input (B, 3, H, W) float32."""
    scale = (1.0 / (255.0 * np.array(recipe.std))).astype(np.float32)
    offset = (np.array(recipe.mean) / np.array(recipe.std)).astype(np.float32)
    return np.ascontiguousarray((pixels * scale - offset).transpose(0, 3, 1, 2), np.float32)


@dataclass(frozen=True, slots=True)
class Told:
    """What a step says about itself."""

    step: int
    progress: float
    loss: float
    rate: float
    seconds: float


class Trainer:
    """One run over `pictures`; `resume` goes on from a checkpoint."""

    def __init__(
        self,
        recipe: Recipe,
        pictures: list[Picture],
        resume: Checkpoint | None = None,
        amp: bool = False,
    ) -> None:
        """Build network and optimiser; touches no disk."""
        self.recipe, self.pictures, self.amp = recipe, pictures, amp
        self.side = recipe.train_px or recipe.input_px
        centres, strides = anchor_centres(self.side, self.side, recipe.network.levels)
        self.centres = np.array(centres, np.float32)
        self.strides = np.array(strides, np.float32)
        self.detector = build_detector(recipe)
        self.optimiser = paddle.optimizer.AdamW(
            recipe.learning_rate,
            parameters=self.detector.parameters(),
            weight_decay=recipe.weight_decay,
            apply_decay_param_fun=lambda name: ".w_" in name and "batch_norm" not in name,
            grad_clip=paddle.nn.ClipGradByGlobalNorm(_CLIP_NORM),
        )
        self.step, self.seconds = 0, 0.0
        self.average = {k: v.numpy().copy() for k, v in self.detector.state_dict().items()}
        self.units = self._units()
        self._epoch, self._shuffle = -1, np.zeros(0, np.int64)
        if resume is not None:
            self.detector.set_state_dict(resume.model)
            self.optimiser.set_state_dict(resume.optimiser)
            self.average = {k: np.array(v) for k, v in resume.average.items()}
            self.step, self.seconds = resume.step, resume.seconds

    def _units(self) -> NDArray[np.int64]:
        """What an epoch goes through: (picture, box) for crops, (picture, 0) for whole pictures."""
        rows = []
        for index, picture in enumerate(self.pictures):
            count = len(picture.boxes) if self.recipe.template else 1
            rows += [(index, box) for box in range(max(count, 1))]
        return np.array(rows, np.int64)

    @property
    def steps_per_epoch(self) -> float:
        """Weight updates that show each unit once."""
        return len(self.units) / (self.recipe.batch * self.recipe.accumulate)

    @property
    def progress(self) -> float:
        """Place in the budget, 0..1."""
        recipe = self.recipe
        if recipe.minutes:
            return min(self.seconds / (recipe.minutes * 60), 1.0)
        steps = recipe.steps or math.ceil(recipe.epochs * self.steps_per_epoch)
        return min(self.step / steps, 1.0) if steps else 1.0

    def batch(self, number: int) -> list[Sample]:
        """Draw micro-batch `number` of the run; the same number always gives the same samples."""
        rng = np.random.default_rng((self.recipe.seed, number))
        samples = []
        first = number * self.recipe.batch
        for place in range(first, first + self.recipe.batch):
            epoch, offset = divmod(place, len(self.units))
            picture, box = self.units[self._order(epoch)[offset]]
            samples.append(self._look(self.pictures[picture], int(box), rng))
        return samples

    def _look(self, picture: Picture, box: int, rng: np.random.Generator) -> Sample:
        if self.recipe.template:
            return crop(picture, box, self.side, self.recipe, rng)
        return warp(picture, self.side, self.recipe, rng)

    def _order(self, epoch: int) -> NDArray[np.int64]:
        """Answer the order of the units in `epoch`; the last one is kept."""
        if epoch != self._epoch:
            shuffled = np.random.default_rng((self.recipe.seed, 1, epoch))
            self._epoch, self._shuffle = epoch, shuffled.permutation(len(self.units))
        return self._shuffle

    def train_step(self) -> Told:
        """Do one weight update of `accumulate` micro-batches."""
        began = time.monotonic()
        recipe = self.recipe
        rate = learning_rate(self.progress, recipe.learning_rate)
        self.optimiser.set_lr(rate)
        total, weight = 0.0, 0.0
        for part in range(recipe.accumulate):
            loss, quality = self._backward(self.batch(self.step * recipe.accumulate + part))
            total, weight = total + loss, weight + quality
        weight = max(weight, 1.0)
        with paddle.no_grad():
            for parameter in self.detector.parameters():
                if parameter.grad is not None:
                    parameter.grad.scale_(1.0 / weight)
        with paddle.utils.unique_name.guard():  # moments get the same names in every run
            self.optimiser.step()
        self.optimiser.clear_grad()
        self.step += 1
        self._follow()
        self.seconds += time.monotonic() - began
        return Told(self.step, self.progress, total / weight, rate, self.seconds)

    def _backward(self, samples: list[Sample]) -> tuple[float, float]:
        """Add the gradients of one micro-batch; answer summed loss and summed target quality."""
        pixels = normalise(np.stack([s.pixels for s in samples]), self.recipe)
        with paddle.amp.auto_cast(enable=self.amp, dtype="bfloat16"):
            logits, distances = self.detector(paddle.to_tensor(pixels))
        logits, distances = logits.astype("float32"), distances.astype("float32")
        labelled = [(s.boxes, s.labels, s.ignored) for s in samples]
        targets = make_targets(
            logits.numpy(), distances.numpy(), self.centres, self.strides, labelled
        )
        loss = detection_loss(logits, distances, self.centres, self.strides, targets=targets)
        loss.backward()
        return float(loss), float(targets.weights.sum())

    def _follow(self) -> None:
        """Move the averaged weights; their memory is short at first, to forget the start."""
        decay = min(self.recipe.ema, (1 + self.step) / (10 + self.step))
        for name, value in self.detector.state_dict().items():
            self.average[name] += (1 - decay) * (value.numpy() - self.average[name])

    def averaged(self) -> Detector:
        """Answer a detector with the averaged weights, in evaluation mode."""
        detector = build_detector(self.recipe)
        detector.set_state_dict({k: paddle.to_tensor(v) for k, v in self.average.items()})
        detector.eval()
        return detector

    def checkpoint(self, notes: dict[str, Any]) -> Checkpoint:
        """Answer the run as it is now."""
        return Checkpoint(
            self.recipe,
            self.detector.state_dict(),
            dict(self.average),
            self.optimiser.state_dict(),
            self.step,
            self.seconds,
            notes,
        )

    def run(
        self,
        tell: Callable[[Told], None],
        path: Path,
        notes: dict[str, Any],
        save_every_s: float = 120.0,
    ) -> None:
        """Train to the end of the budget, saving to `path` now and then and at the end."""
        self.detector.train()
        saved = time.monotonic()
        while self.progress < 1.0:
            tell(self.train_step())
            if time.monotonic() - saved > save_every_s:
                save_checkpoint(path, self.checkpoint(notes))
                saved = time.monotonic()
        save_checkpoint(path, self.checkpoint(notes))
