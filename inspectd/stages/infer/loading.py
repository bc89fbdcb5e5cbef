"""From a station file's `engine` to an engine that has proved itself."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from inspectd.config.schema import Engine as EngineSettings
from inspectd.config.schema import PaddleEngine, ScriptedEngine
from inspectd.errors import EngineRefused
from inspectd.model.spec import ModelSpec
from inspectd.stages.infer.engine import Engine
from inspectd.stages.infer.paddle import Paddle
from inspectd.stages.infer.scripted import Scripted
from inspectd.stages.infer.selftest import prove, read_golden

__all__ = ["cache_folder", "load"]


def load(
    spec: ModelSpec, settings: EngineSettings, batch_max: int, log: Callable[..., None]
) -> Engine:
    """Load a model and have it prove itself.

    Args:
        spec: the model.
        settings: of the station file.
        batch_max: largest batch that will be run.
        log: takes a level, an event name and fields.

    Raises:
        EngineRefused: it cannot be loaded, or gives other values than it must.
    """
    if isinstance(settings, ScriptedEngine):
        return Scripted(settings, spec.layout)
    try:
        return _proved(spec, settings, batch_max, log)
    except EngineRefused as refused:
        is_last = settings.backend == "plain" or settings.device == "gpu"
        if is_last or settings.self_test == "refuse":
            raise
        log("warning", "engine_fell_back", model=spec.name, why=str(refused))
        plain = Paddle(spec, backend="plain", threads=settings.threads, cache=cache_folder(spec))
        prove(spec, plain, batch_max)
        return plain


def _proved(
    spec: ModelSpec, settings: PaddleEngine, batch_max: int, log: Callable[..., None]
) -> Engine:
    engine = Paddle(
        spec,
        device=settings.device,
        backend=settings.backend,
        threads=settings.threads,
        cache=cache_folder(spec),
    )
    plain = None
    if read_golden(spec) is None and engine.describe()["backend"] != "plain":
        plain = Paddle(spec, backend="plain", threads=settings.threads)
    if not prove(spec, engine, batch_max, plain):
        log(
            "warning",
            "engine_unproven",
            model=spec.name,
            remedy=f"inspectd model golden {spec.path}",
        )
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
