"""EDGE (paddle): builds TensorRT engines, by both of Paddle's ways.

Not run on a card yet. The order of the calls is that of PaddleX 3.7 and PaddleDetection's
`deploy/python/infer.py` for `.pdmodel`, and of Paddle's `paddle/tensorrt/export.py` for `.json`.
"""

import gc
import importlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from inspectd.errors import EngineFault, EngineRefused
from inspectd.model.spec import ModelSpec
from inspectd.stages.infer.asking import Asked, Shapes
from inspectd.stages.infer.calibration import Pictures
from inspectd.stages.infer.configure import CONVERTED, SHAPES_FILE, Purpose
from inspectd.stages.infer.engine import Batch
from inspectd.stages.infer.paddle import Paddle
from inspectd.stages.infer.routes import Route

__all__ = ["build_engine"]

_ENGINES, _TABLES = "trt_serialized_*", "trt_calib_*"
"""How Paddle names what it keeps (`paddle/fluid/inference/analysis/helper.h`)."""
_MEGABYTE = 1 << 20
_MODES = {"fp32": "FP32", "fp16": "FP16", "int8": "INT8"}


def build_engine(
    spec: ModelSpec, asked: Asked, pictures: Pictures | None, tell: Callable[[str], None]
) -> None:
    """Build into `asked.cache`, an empty folder; takes minutes.

    Args:
        spec: the model.
        asked: of Paddle, with a TensorRT route.
        pictures: to calibrate int8 with; None: not calibrated.
        tell: is told each step.

    Raises:
        EngineRefused: Paddle cannot do it, or wrote nothing.
    """
    if asked.cache is None:
        raise ValueError("an engine is built into a folder")
    try:
        if asked.route is Route.TENSORRT_CONVERT:
            _convert(spec, asked, asked.cache, tell)
        else:
            _by_config(spec, asked, asked.cache, pictures, tell)
    except EngineFault as fault:
        what = f"its TensorRT engine cannot be built ({fault})"
        raise EngineRefused(spec.name, what, "try fp32, or keep operators in fp32_ops") from fault


# ---------------------------------------------------------------- .pdmodel


def _by_config(
    spec: ModelSpec,
    asked: Asked,
    folder: Path,
    pictures: Pictures | None,
    tell: Callable[[str], None],
) -> None:
    """Collect shapes, calibrate, build: a predictor each; it writes when it is taken down."""
    tell(f"{spec.name}: shapes inside the program")
    _run(Paddle(spec, asked=asked, purpose=Purpose.COLLECT), list(_examples(asked)))
    _require(spec, folder, SHAPES_FILE, "the shapes inside the program")
    if pictures is not None:
        size = max(shape.largest[0] for shape in asked.shapes.values())
        tell(f"{spec.name}: calibration with {len(pictures.paths)} pictures")
        _run(Paddle(spec, asked=asked), pictures.batches(size))
        _require(spec, folder, _TABLES, "the calibration table")
    tell(f"{spec.name}: TensorRT chooses its kernels")
    _run(Paddle(spec, asked=asked), list(_examples(asked)))
    _require(spec, folder, _ENGINES, "an engine")


def _run(predictor: Paddle, batches: Iterable[Mapping[str, Batch]]) -> None:
    """Run batches, then take the predictor down."""
    for batch in batches:
        side = {name: values for name, values in batch.items() if name != "image"}
        predictor.run(batch["image"], side)
    predictor.close()
    del predictor
    gc.collect()


def _examples(asked: Asked) -> Iterator[Mapping[str, Batch]]:
    """The smallest, the best and the largest batch, twice the best as PaddleX does."""
    for size in ("smallest", "best", "best", "largest"):
        yield {name: _example(name, getattr(each, size)) for name, each in asked.shapes.items()}


def _example(name: str, shape: tuple[int, ...]) -> Batch:
    """Numbers in the range of normalised pixels; ones for sizes and scales."""
    if name != "image":
        return np.ones(shape, np.float32)
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def _require(spec: ModelSpec, folder: Path, pattern: str, what: str) -> None:
    """Refuse when Paddle has not written what it should: it does not say so itself."""
    if not any(one.stat().st_size for one in folder.glob(pattern)):
        raise EngineRefused(
            spec.name,
            f"Paddle did not write {what} ({folder / pattern})",
            "look at its messages with GLOG_v=3; min_subgraph_size may be above the whole program",
        )


# ---------------------------------------------------------------- .json


def _convert(spec: ModelSpec, asked: Asked, folder: Path, tell: Callable[[str], None]) -> None:
    """Have Paddle write a program that names engines beside it."""
    tell(f"{spec.name}: Paddle's converter writes a program with TensorRT in it")
    export = importlib.import_module("paddle.tensorrt.export")
    config = export.TensorRTConfig(
        inputs=[_input(export, name, each) for name, each in asked.shapes.items()],
        min_subgraph_size=asked.tensorrt.min_subgraph_size,
        save_model_dir=str(folder / CONVERTED),
        precision_mode=getattr(export.PrecisionMode, _MODES[asked.precision]),
        ops_run_float=list(asked.tensorrt.fp32_ops) or None,
        workspace_size=asked.tensorrt.workspace_mb * _MEGABYTE,
    )
    try:
        with _home(folder):
            export.convert(asked.program.program_path, config)
    except Exception as error:
        what = f"converter: {type(error).__name__}: {error}"
        raise EngineFault(spec.name, what[:300]) from error
    _require(spec, folder, f"{CONVERTED}.json", "a program")
    _require(spec, folder, "**/engine_*.trt", "an engine beside it")


@contextmanager
def _home(folder: Path) -> Iterator[None]:
    """Keep the converter's engines in our folder.

    It puts them below the home folder, under a name of eight digits that says nothing of the card,
    and finds them there again whoever wrote them (`paddle/tensorrt/util.py`, `get_cache_path`).
    """
    before = os.environ.get("HOME")
    os.environ["HOME"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["HOME"]
        else:
            os.environ["HOME"] = before


def _input(export: Any, name: str, shapes: Shapes) -> Any:
    """An input by examples of the smallest, the best and the largest batch."""
    examples = (shapes.smallest, shapes.best, shapes.largest)
    return export.Input(warmup_data=tuple(_example(name, one) for one in examples), name=name)
