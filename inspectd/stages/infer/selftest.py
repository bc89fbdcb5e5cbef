"""An engine proves itself on the model's golden picture before it may judge parts.

Some graphs give wrong numbers or none with one backend and right ones with another, some only on
the last frame of a batch. So the golden picture is run alone and at every place of a batch, among
noise, and what is found is held against what the plain backend found when the golden outputs were
stored (`inspectd model golden DIR`).
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from inspectd.errors import EngineFault, EngineRefused, FrameFault, ModelFault
from inspectd.frame import Detection
from inspectd.model.spec import ModelSpec
from inspectd.stages.infer.engine import Array, Engine
from inspectd.stages.infer.look import Look, read_picture

__all__ = [
    "TOLERANCES",
    "Golden",
    "Tolerance",
    "difference",
    "golden_difference",
    "look_at",
    "picture_of",
    "prove",
    "raw_difference",
    "read_golden",
    "write_golden",
]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """By how much an engine may differ from the plain FP32 one."""

    score: float
    box_px: float


TOLERANCES: Mapping[str, Tolerance] = MappingProxyType(
    {
        "fp32": Tolerance(score=1e-3, box_px=0.5),
        "fp16": Tolerance(score=0.02, box_px=1.0),
        "int8": Tolerance(score=0.10, box_px=2.0),
    }
)
"""By precision. fp32: half a pixel decides no rule, and both are far above rounding (backends
differ by some 1e-6). fp16 and int8: chosen, not measured (there was no card): `inspectd engine
parity` shows what a model really loses."""
_BATCH_MAX = 4
"""Batches of this size show what a place in the batch does."""
_PICTURES = ("golden.png", "golden.jpg")
_TEMPLATE = "golden_template.png"
_OUTPUTS = "golden.json"
_Raw: TypeAlias = Mapping[str, Array]
_REMEDY = "store them again: inspectd model golden"


@dataclass(frozen=True, slots=True)
class Golden:
    """A picture whose detections are known."""

    look: Look
    detections: tuple[Detection, ...]


def picture_of(spec: ModelSpec) -> Path | None:
    """Answer the model's golden picture; None: it has none."""
    folder = Path(spec.path)
    return next((folder / name for name in _PICTURES if (folder / name).is_file()), None)


def look_at(spec: ModelSpec, picture: Path) -> Look:
    """Lay the golden picture out, with its template when the model wants one."""
    template = Path(spec.path) / _TEMPLATE if spec.wants_template else None
    return Look.at(spec, read_picture(picture, is_grey=spec.wants_template), template)


def read_golden(spec: ModelSpec) -> Golden | None:
    """Read the golden picture and its stored detections; None: the model has none.

    Raises:
        EngineRefused: they are of another state of the model, or cannot be read.
    """
    picture = picture_of(spec)
    outputs = Path(spec.path) / _OUTPUTS
    if picture is None or not outputs.is_file():
        return None
    try:
        stored = json.loads(outputs.read_text(encoding="utf-8"))
        if stored["digest"] != spec.digest:
            raise EngineRefused(
                spec.name,
                f"{outputs} was stored for model digest {stored['digest']}, it is {spec.digest}",
                f"{_REMEDY} {spec.path}",
            )
        found = tuple(Detection(**one) for one in stored["detections"])
        return Golden(look_at(spec, picture), found)
    except (OSError, ValueError, KeyError, TypeError, FrameFault) as error:
        raise EngineRefused(
            spec.name, f"its golden outputs cannot be used ({error})", f"{_REMEDY} {spec.path}"
        ) from error


def write_golden(spec: ModelSpec, plain: Engine, picture: Path) -> tuple[Detection, ...]:
    """Store what the plain backend finds in the golden picture; answer it.

    Raises:
        EngineRefused: it finds nothing: such a picture would prove nothing.
    """
    found = tuple(_told(spec, look_at(spec, picture).detections(plain)))
    if not found:
        raise EngineRefused(
            spec.name,
            f"nothing is found in {picture} with a score of {spec.draw_threshold} or more",
            "take a picture that shows what the model knows",
        )
    stored = {"digest": spec.digest, "picture": picture.name, "detections": [*map(asdict, found)]}
    text = json.dumps(stored, indent=1) + "\n"
    (Path(spec.path) / _OUTPUTS).write_text(text, encoding="utf-8")
    return found


def prove(
    spec: ModelSpec,
    engine: Engine,
    batch_max: int,
    plain: Engine | None = None,
    tolerance: Tolerance = TOLERANCES["fp32"],
) -> bool:
    """Run the self-test; answer whether stored golden outputs were there to compare with.

    Args:
        spec: the model.
        engine: the one that wants to judge.
        batch_max: largest batch that the station file allows.
        plain: without golden outputs, the engine to compare with; None: only finite is asked.
        tolerance: by how much it may differ.

    Raises:
        EngineRefused: it gives other values than it must.
    """
    golden = read_golden(spec)
    look = golden.look if golden else _synthetic(spec)
    try:
        compare = _comparison(spec, look, golden, plain, tolerance)
        for name, raw in _runs(look, engine, batch_max):
            wrong = compare(raw)
            if wrong:
                raise EngineRefused(
                    spec.name,
                    f"the self-test failed {name}: {wrong}",
                    "choose another `engine.backend`, or `self_test: fall_back`",
                )
    except (EngineFault, ModelFault, ValueError) as error:
        raise EngineRefused(
            spec.name, f"the self-test failed: {error}", "choose another `engine.backend`"
        ) from error
    return golden is not None


def _comparison(
    spec: ModelSpec,
    look: Look,
    golden: Golden | None,
    plain: Engine | None,
    tolerance: Tolerance,
) -> Callable[[_Raw], str]:
    """Answer a function that says what is wrong with the outputs of one frame."""
    reference = None
    if golden is None and plain is not None:
        (reference,) = look.raw(plain, look.tensor[np.newaxis])
    wanted = golden.detections if golden is not None else None
    if reference is not None and spec.layout == "found":
        wanted = tuple(look.decoded(reference))

    def compare(raw: _Raw) -> str:
        found = look.decoded(raw)
        if wanted is not None:
            sought, seen = _told(spec, wanted, tolerance), _told(spec, found, tolerance)
            return difference(sought, seen, spec.draw_threshold, tolerance)
        return "" if reference is None else raw_difference(reference, raw, tolerance)

    return compare


def golden_difference(spec: ModelSpec, golden: Golden, engine: Engine, tolerance: Tolerance) -> str:
    """Run the golden picture once, alone, and say how what is found differs; empty: it does not.

    Raises:
        EngineFault: the run failed.
        ModelFault: the outputs cannot be read.
        ValueError: the outputs are not those of one picture.
    """
    compare = _comparison(spec, golden.look, golden, None, tolerance)
    return compare(golden.look.raw(engine, golden.look.tensor[np.newaxis])[0])


def raw_difference(wanted: _Raw, raw: _Raw, tolerance: Tolerance = TOLERANCES["fp32"]) -> str:
    """Say how the outputs for every anchor differ; empty: they do not.

    A picture of noise may hold nothing that counts as found, so that finding nothing twice would
    prove nothing: here each number is held against its partner.
    """
    for name, limit, share in (
        ("scores", tolerance.score, 0.0),
        ("boxes", tolerance.box_px, 1e-3),
    ):
        allowed = limit + share * np.abs(wanted[name])
        wrong = np.abs(raw[name] - wanted[name]) > allowed
        if wrong.any():
            worst = float(np.abs(raw[name] - wanted[name]).max())
            return f"{int(wrong.sum())} of {wrong.size} values in `{name}` differ, by {worst:.4g}"
    return ""


def difference(
    wanted: Sequence[Detection],
    found: Sequence[Detection],
    threshold: float,
    tolerance: Tolerance = TOLERANCES["fp32"],
) -> str:
    """Say how `found` differs from `wanted`; empty: it does not.

    Only detections of at least `threshold` must have a partner; the partner may lie a rounding
    below.

    Args:
        wanted: detections of the reference.
        found: detections to be held against it.
        threshold: score from which a detection counts.
        tolerance: by how much partners may differ.
    """
    for these, those, word in ((wanted, found, "missing"), (found, wanted, "too many")):
        for one in these:
            is_told = one.score >= threshold + tolerance.score
            if is_told and not any(_same(one, two, tolerance) for two in those):
                return (
                    f"{word}: {one.label} {one.score:.4f} at "
                    f"{one.x1:.1f} {one.y1:.1f} {one.x2:.1f} {one.y2:.1f}"
                )
    return ""


def _same(one: Detection, two: Detection, tolerance: Tolerance) -> bool:
    sides = ((one.x1, two.x1), (one.y1, two.y1), (one.x2, two.x2), (one.y2, two.y2))
    return (
        one.label == two.label
        and abs(one.score - two.score) <= tolerance.score
        and all(abs(a - b) <= tolerance.box_px for a, b in sides)
    )


def _told(
    spec: ModelSpec,
    found: Sequence[Detection],
    tolerance: Tolerance = TOLERANCES["fp32"],
) -> list[Detection]:
    """Detections that count, with the rounding below the threshold."""
    return [one for one in found if one.score >= spec.draw_threshold - tolerance.score]


def _runs(look: Look, engine: Engine, batch_max: int) -> Iterator[tuple[str, _Raw]]:
    """The golden picture alone, and at each place of a batch among noise."""
    yield "alone", look.raw(engine, look.tensor[np.newaxis])[0]
    size = min(batch_max, _BATCH_MAX)
    noise = np.random.default_rng(1).standard_normal(look.tensor.shape).astype(np.float32)
    for parity in range(2 if size > 1 else 0):
        places = [at for at in range(size) if at % 2 == parity]
        batch = np.stack([look.tensor if at in places else noise for at in range(size)])
        frames = look.raw(engine, batch)
        for at in places:
            yield f"at place {at + 1} of {size}", frames[at]


def _synthetic(spec: ModelSpec) -> Look:
    """Coloured squares in the range that normalised pixels have, for models without a picture."""
    channels, height, width = spec.tensor_shape
    tiles = np.random.default_rng(2).uniform(-2, 2, (channels, 8, 8)).astype(np.float32)
    rows, columns = np.arange(height) * 8 // height, np.arange(width) * 8 // width
    tensor = np.ascontiguousarray(tiles[:, rows][:, :, columns])
    return Look(spec, tensor, height, width)
