"""When a TensorRT engine may be used, must be built, or is refused.

The building itself is handed in, so that this works the same with Paddle and with a test's slow
builder. While it lasts the process says BUILDING (`tell`), and is neither Ready nor given up.
"""

from collections.abc import Callable
from typing import Literal

from inspectd.errors import EngineRefused
from inspectd.stages.infer.asking import Asked
from inspectd.stages.infer.cache import Cache, Condition, Finding
from inspectd.stages.infer.card import Card
from inspectd.stages.infer.routes import Build
from inspectd.stages.infer.stamp import Stamp

__all__ = ["Log", "Tell", "build_anew", "have_ready", "refuse_changed", "stamp_of"]

Log = Callable[..., None]
"""`log(level, event, **fields)`."""
Tell = Callable[[str], None]
"""Says what is being built; empty: nothing any more."""


def stamp_of(digest: str, asked: Asked, build: Build, card: Card, calibration: str) -> Stamp:
    """Answer the circumstances of now.

    Args:
        digest: of the model directory.
        asked: of Paddle.
        build: the installed Paddle.
        card: that the engine is for.
        calibration: digest of the pictures; empty: none.
    """
    settings = asked.tensorrt
    return Stamp(
        model=digest,
        program=asked.program.format,
        route=asked.route.value,
        paddle=".".join(map(str, build.version)),
        commit=build.commit,
        tensorrt=f"{build.tensorrt}/{card.tensorrt}",
        cuda=build.cuda,
        cudnn=build.cudnn,
        driver=card.driver,
        gpu=card.name,
        compute=card.compute,
        precision=asked.precision,
        shapes=", ".join(f"{name} {shape}" for name, shape in sorted(asked.shapes.items())),
        fp32_ops=", ".join(sorted(settings.fp32_ops)),
        min_subgraph_size=str(settings.min_subgraph_size),
        workspace_mb=str(settings.workspace_mb),
        calibration=calibration,
    )


def have_ready(
    cache: Cache,
    now: Stamp,
    stale: Literal["refuse", "rebuild"],
    work: Callable[[], None],
    *,
    model: str,
    tell: Tell,
    log: Log,
) -> None:
    """Make sure that the cache holds an engine for these circumstances.

    Args:
        cache: the folder.
        now: the circumstances.
        stale: what to do when it does not.
        work: builds into the empty folder.
        model: for messages.
        tell: says that something is being built.
        log: of this process.

    Raises:
        EngineRefused: it does not, and may not be built now; or the building failed.
    """
    if cache.is_busy():
        tell(f"waits for another process that builds the engine of {model}")
    with cache.using():
        finding = cache.examine(now)
    if finding.condition is not Condition.FRESH and stale == "refuse":
        tell("")
        raise EngineRefused(
            model,
            f"its TensorRT engine in {cache.folder} is {finding.words}",
            "run `inspectd engine build FILE` in a pause, or set tensorrt.stale: rebuild",
        )
    if finding.condition is not Condition.FRESH:
        build_anew(cache, now, work, model=model, tell=tell, log=log)
    tell("")


def build_anew(
    cache: Cache, now: Stamp, work: Callable[[], None], *, model: str, tell: Tell, log: Log
) -> Finding:
    """Build, unless another process has just done it; answer what was found before.

    Whatever stops the work leaves a cache without a stamp, which nobody will use.
    """
    tell(f"builds the TensorRT engine of {model}: this takes minutes")
    with cache.building():
        finding = cache.examine(now)
        if finding.condition is Condition.FRESH:
            return finding
        log("warning", "engine_building", model=model, why=finding.words, folder=str(cache.folder))
        cache.empty()
        work()
        cache.vouch(now)
    log("info", "engine_built", model=model, folder=str(cache.folder))
    return finding


def refuse_changed(cache: Cache, now: Stamp, model: str) -> None:
    """Refuse an engine that Paddle replaced while it was loaded: it rebuilds without a word."""
    finding = cache.examine(now)
    if finding.condition is not Condition.FRESH:
        what = f"Paddle did not use the kept engine in {cache.folder}: now it is {finding.words}"
        raise EngineRefused(model, what, "run `inspectd engine build FILE` again")
