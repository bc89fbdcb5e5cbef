"""From a station file's `engine` and a model to what is asked of Paddle, as one value; pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from inspectd.config.schema import Gpu, PaddleEngine, Tensorrt
from inspectd.errors import EngineRefused
from inspectd.model.spec import ModelSpec, Program
from inspectd.stages.infer.routes import (
    Artefact,
    Build,
    Precision,
    Refusal,
    Route,
    Wish,
    choose,
)

__all__ = ["Asked", "Shapes", "asked_of", "shapes_of", "wish_of"]

_SIDE_INPUT = 2
"""`scale_factor` and `im_shape` have two numbers for each frame."""


@dataclass(frozen=True, slots=True)
class Shapes:
    """Of one input: what a TensorRT engine must take."""

    smallest: tuple[int, ...]
    best: tuple[int, ...]
    """What it is tuned for."""
    largest: tuple[int, ...]

    def __str__(self) -> str:
        """Read as `1x3x640x640..8x3x640x640`."""
        ends = ("x".join(map(str, shape)) for shape in (self.smallest, self.largest))
        return "..".join(ends)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Everything that a predictor is made from."""

    model: str
    """Its name, for messages."""
    program: Program
    route: Route
    precision: Precision = "fp32"
    threads: int = 1
    memory_optim: bool = True
    gpu: Gpu = field(default_factory=Gpu)
    tensorrt: Tensorrt = field(default_factory=Tensorrt)
    is_quantised: bool = False
    shapes: Mapping[str, Shapes] = field(default_factory=dict)
    """By input."""
    cache: Path | None = None
    """Folder for what the backend may keep; for TensorRT the folder of its engines."""

    @property
    def is_calibrated(self) -> bool:
        """Whether int8 takes its ranges from pictures (a quantised program brings its own)."""
        return self.precision == "int8" and not self.is_quantised


def wish_of(settings: PaddleEngine, *, has_calibration: bool) -> Wish:
    """What a station file asks for, as the decision table reads it."""
    return Wish(
        device=settings.device,
        backend=settings.backend,
        precision=settings.precision,
        route=(settings.tensorrt or Tensorrt()).route,
        has_calibration=has_calibration,
        gpu_id=(settings.gpu or Gpu()).id,
    )


def asked_of(
    spec: ModelSpec,
    settings: PaddleEngine,
    build: Build | None,
    *,
    batch_max: int = 1,
    has_calibration: bool = False,
    is_quantised: bool = False,
) -> Asked:
    """Decide the way, and answer what is asked on it.

    Args:
        spec: the model.
        settings: of the station file.
        build: the installed Paddle; None: not known.
        batch_max: largest batch that will be run.
        has_calibration: whether pictures for int8 are given.
        is_quantised: whether the program was quantised before its export.

    Raises:
        EngineRefused: this Paddle, or any, cannot do that with this model.
    """
    artefacts = [Artefact(one.format, is_quantised) for one in spec.programs]
    answer = choose(artefacts, build, wish_of(settings, has_calibration=has_calibration))
    if isinstance(answer, Refusal):
        raise EngineRefused(spec.name, answer.what, answer.remedy)
    at, route = answer
    return Asked(
        model=spec.name,
        program=spec.programs[at],
        route=route,
        precision=settings.precision,
        threads=settings.threads,
        memory_optim=settings.memory_optim,
        gpu=settings.gpu or Gpu(),
        tensorrt=settings.tensorrt or Tensorrt(),
        is_quantised=is_quantised,
        shapes=shapes_of(spec, batch_max),
    )


def shapes_of(spec: ModelSpec, batch_max: int) -> dict[str, Shapes]:
    """Answer the shapes of every input: one frame, and the largest batch, which is the best one.

    Under load batches are full; a single frame in an idle line has time.
    """
    frames = {
        name: spec.tensor_shape if name == "image" else (_SIDE_INPUT,) for name in spec.inputs
    }
    return {
        name: Shapes((1, *frame), (batch_max, *frame), (batch_max, *frame))
        for name, frame in frames.items()
    }
