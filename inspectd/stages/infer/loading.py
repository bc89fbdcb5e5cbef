"""From a station file's `engine` to an engine that has proved itself."""

import os
import tempfile
import weakref
from dataclasses import dataclass, replace
from pathlib import Path

from inspectd.config.schema import Engine as EngineSettings
from inspectd.config.schema import Gpu, Line, Model, PaddleEngine, ScriptedEngine
from inspectd.errors import EngineRefused
from inspectd.model import directory, distributions
from inspectd.model.graph import read_graph
from inspectd.model.spec import ModelSpec
from inspectd.stages.infer.asking import Asked, asked_of
from inspectd.stages.infer.building import Log, Tell, have_ready, refuse_changed, stamp_of
from inspectd.stages.infer.cache import Cache
from inspectd.stages.infer.calibration import Pictures
from inspectd.stages.infer.card import card_of, keep_off_mps, memory_in_use, require_mps
from inspectd.stages.infer.engine import Engine
from inspectd.stages.infer.paddle import Paddle
from inspectd.stages.infer.routes import Build
from inspectd.stages.infer.scripted import Scripted
from inspectd.stages.infer.selftest import TOLERANCES, prove, read_golden
from inspectd.stages.infer.stamp import Stamp
from inspectd.stages.infer.tensorrt import build_engine
from inspectd.stages.infer.wheel import installed_build

__all__ = [
    "Kept",
    "asked_here",
    "cache_folder",
    "kept_engine",
    "load",
    "log_memory",
    "pictures_of",
    "prove_line",
]


def _nobody(_text: str) -> None:
    """Whoever loads by hand is not told of steps."""


def load(
    spec: ModelSpec,
    settings: EngineSettings,
    batch_max: int,
    log: Log,
    *,
    pictures: Pictures | None = None,
    tell: Tell = _nobody,
) -> Engine:
    """Load a model and have it prove itself.

    Args:
        spec: the model.
        settings: of the station file.
        batch_max: largest batch that will be run.
        log: takes a level, an event name and fields.
        pictures: to calibrate int8 with, where it is built here.
        tell: is told while an engine is built, with an empty text at the end.

    Raises:
        EngineRefused: it cannot be loaded, or gives other values than it must.
    """
    if isinstance(settings, ScriptedEngine):
        return Scripted(settings, spec.layout)
    try:
        return _proved(spec, settings, batch_max, log=log, pictures=pictures, tell=tell)
    except EngineRefused as refused:
        is_last = settings.backend == "plain" or settings.device == "gpu"
        if is_last or settings.self_test == "refuse":
            raise
        log("warning", "engine_fell_back", model=spec.name, why=str(refused))
        plain = Paddle(spec, backend="plain", threads=settings.threads, cache=cache_folder(spec))
        prove(spec, plain, batch_max)
        return plain


def prove_line(line: Line, log: Log) -> None:
    """Load every model that a station uses and have it prove itself, one after the other.

    Raises:
        ModelFault: a model directory is wrong.
        EngineRefused: a model may not judge parts.
    """
    used = {station.model for station in line.stations}
    for model in line.models:
        if model.name in used and not isinstance(line.engine, ScriptedEngine):
            spec = directory.read(model.path)
            pictures = pictures_of(line, model, spec)
            load(spec, line.engine, model.batch_max, log, pictures=pictures)


def asked_here(
    spec: ModelSpec, settings: PaddleEngine, batch_max: int, *, has_calibration: bool
) -> tuple[Asked, Build]:
    """Decide what is asked of the Paddle that is installed here.

    Raises:
        EngineRefused: it is not installed, or cannot do it.
    """
    distributions.require(spec.name, settings.device)
    is_tensorrt = settings.backend == "tensorrt"
    build = installed_build(ask_tensorrt=is_tensorrt)
    if build is None:
        raise EngineRefused(spec.name, "the installed Paddle is not recognised", "install it again")
    asked = asked_of(
        spec,
        settings,
        build,
        batch_max=batch_max,
        has_calibration=has_calibration,
        is_quantised=settings.precision == "int8" and read_graph(spec.programs[0]).is_quantised,
    )
    if asked.route.is_gpu and asked.gpu.mps:
        require_mps(spec.name)
    elif asked.route.is_gpu:
        keep_off_mps()
    return asked, build


def pictures_of(line: Line, model: Model, spec: ModelSpec) -> Pictures | None:
    """The calibration pictures of a model, laid out as at its first station; None: it has none."""
    if not model.calibration:
        return None
    station = next((one for one in line.stations if one.model == model.name), None)
    if station is None:
        return Pictures(spec, model.calibration)
    return Pictures(spec, model.calibration, station.template, station.tiles)


def log_memory(settings: EngineSettings, log: Log) -> None:
    """Log what this process holds, with all of its models loaded and warm."""
    gpu = None
    if isinstance(settings, PaddleEngine) and settings.device == "gpu":
        gpu = (settings.gpu or Gpu()).id
    memory = memory_in_use(gpu)
    log(
        "info",
        "engine_memory",
        rss_mb=memory.rss_mb,
        rss_peak_mb=memory.rss_peak_mb,
        gpu_mb=memory.gpu_mb,
    )


# ---------------------------------------------------------------- what is kept


@dataclass(frozen=True, slots=True)
class Kept:
    """Where the TensorRT engine of a model lies, and what it must be good for."""

    cache: Cache
    asked: Asked
    """With that folder in it."""
    now: Stamp


def kept_engine(
    spec: ModelSpec,
    asked: Asked,
    build: Build,
    pictures: Pictures | None,
    folder: Path | None = None,
) -> Kept:
    """Look at the card, and name the folder of the engine.

    Args:
        spec: the model.
        asked: of Paddle, with a TensorRT route.
        build: the installed Paddle.
        pictures: to calibrate with.
        folder: instead of the one that the station file or the system says.

    Raises:
        EngineRefused: there is no card, or no TensorRT.
    """
    card = card_of(spec.name, asked.gpu.id, with_tensorrt=True)
    root = folder or (
        Path(asked.tensorrt.cache, spec.digest) if asked.tensorrt.cache else cache_folder(spec)
    )
    place = root / f"{asked.route.value}-{asked.precision}"
    digest = pictures.digest() if pictures is not None and asked.is_calibrated else ""
    now = stamp_of(spec.digest, asked, build, card, digest)
    return Kept(Cache(place), replace(asked, cache=place), now)


def _proved(
    spec: ModelSpec,
    settings: PaddleEngine,
    batch_max: int,
    *,
    log: Log,
    pictures: Pictures | None,
    tell: Tell,
) -> Engine:
    asked, build = asked_here(spec, settings, batch_max, has_calibration=pictures is not None)
    if asked.route.is_gpu and asked.gpu.mps:
        log("warning", "engine_mps", gpu=asked.gpu.id)
    engine = _loaded(spec, asked, build, log=log, pictures=pictures, tell=tell)
    plain = None
    if read_golden(spec) is None and engine.describe()["backend"] != "plain":
        plain = _plain_of(spec, asked)
    if not prove(spec, engine, batch_max, plain, TOLERANCES[asked.precision]):
        log(
            "warning",
            "engine_unproven",
            model=spec.name,
            remedy=f"inspectd model golden {spec.path}",
        )
    return engine


def _plain_of(spec: ModelSpec, asked: Asked) -> Engine:
    """The reference of the self-test: Paddle's own kernels in FP32 on the CPU."""
    return Paddle(spec, backend="plain", threads=asked.threads)


def _loaded(
    spec: ModelSpec,
    asked: Asked,
    build: Build,
    *,
    log: Log,
    pictures: Pictures | None,
    tell: Tell,
) -> Engine:
    if not asked.route.is_tensorrt:
        if asked.route.is_gpu:
            card_of(spec.name, asked.gpu.id, with_tensorrt=False)
        return Paddle(spec, asked=replace(asked, cache=cache_folder(spec)))
    if asked.tensorrt.use_static:
        return _with_engine(kept_engine(spec, asked, build, pictures), spec, pictures, log, tell)
    folder = tempfile.TemporaryDirectory(prefix="inspectd-")
    kept = kept_engine(spec, asked, build, pictures, Path(folder.name))
    engine = _with_engine(kept, spec, pictures, log, tell)
    weakref.finalize(engine, folder.cleanup)  # Paddle may read an engine as late as its first run
    return engine


def _with_engine(
    kept: Kept, spec: ModelSpec, pictures: Pictures | None, log: Log, tell: Tell
) -> Engine:
    """Have the TensorRT engine ready, and load it."""
    settings = kept.asked.tensorrt
    stale = settings.stale if settings.use_static else "rebuild"

    def work() -> None:
        build_engine(spec, kept.asked, pictures, tell)

    have_ready(kept.cache, kept.now, stale, work, model=spec.name, tell=tell, log=log)
    with kept.cache.using():
        engine = Paddle(spec, asked=kept.asked)
        refuse_changed(kept.cache, kept.now, spec.name)
    return engine


def cache_folder(spec: ModelSpec) -> Path:
    """Where a backend may keep what it compiled: by model digest, so that it never is stale.

    `$CACHE_DIRECTORY` (systemd), else `$XDG_CACHE_HOME`, else `~/.cache`; a temporary folder where
    none of them can be written to.
    """
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(os.environ.get("CACHE_DIRECTORY") or home) / "inspectd" / spec.digest
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="inspectd-"))
    return folder if os.access(folder, os.W_OK) else Path(tempfile.mkdtemp(prefix="inspectd-"))
