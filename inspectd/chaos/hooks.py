"""Steps of the line that can be made to fail from outside: the real ones, with a door for trouble.

`inspectd run FILE --step camera=inspectd.chaos.hooks:build_camera ...` is how a campaign starts its
line. Nothing of a step is replaced: its camera and its engine are wrapped, and the record is given
a wall clock that steps.
"""

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from inspectd.chaos.page import VARIABLE, Page, Word
from inspectd.config.schema import Line
from inspectd.errors import EngineFault, UsageFault
from inspectd.ports import Context, Pixels, Step

__all__ = ["STEPS", "build_camera", "build_infer", "build_record"]

STEPS: Mapping[str, str] = {
    role: f"inspectd.chaos.hooks:build_{role}" for role in ("camera", "infer", "record")
}
"""By role, as `inspectd run --step` takes them."""

_NAP_S = 0.02


def build_camera(line: Line, station: int, context: Context) -> Step:
    """The camera, whose driver may drop pictures, or never return."""
    from inspectd.stages.camera.step import CameraStep, build  # noqa: PLC0415 - in its process only

    step = build(line, station, context)
    if isinstance(step, CameraStep):
        step._source = _Driver(step._source, _page())  # noqa: SLF001 - a trial reaches in
    return step


def build_infer(line: Line, station: int, context: Context) -> Step:
    """The inference, whose engine may hang, fail once, or fail until it gives up."""
    from inspectd.stages.infer.step import InferStep, build  # noqa: PLC0415 - the same

    page = _page()
    step = build(line, station, context)
    if isinstance(step, InferStep):
        loaded: dict[str, Any] = dict(step._loaded)  # noqa: SLF001 - a trial reaches in
        for name, model in loaded.items():
            loaded[name] = replace(model, engine=_Failing(model.engine, name, page))
        step._loaded = loaded  # noqa: SLF001 - the same
    return step


def build_record(line: Line, station: int, context: Context) -> Step:  # noqa: ARG001 - of the table
    """The record, with a wall clock that steps."""
    from inspectd.record.step import RecordStep  # noqa: PLC0415 - the same

    page = _page()

    def utc() -> datetime:
        return datetime.now(timezone.utc) + timedelta(milliseconds=page.get(Word.UTC_OFFSET_MS))

    return RecordStep(line, context, utc)


class _Driver:
    """A camera that does as the page says; implements `Source`."""

    def __init__(self, source: Any, page: Page) -> None:
        self._source, self._page = source, page
        self.frame_ids = source.frame_ids

    def open(self) -> None:
        """As the camera does."""
        self._source.open()

    def take(self, into: Pixels, timeout_ms: float) -> Any:
        """Take the picture, late or not at all."""
        from inspectd.stages.camera.source import Nothing, Why  # noqa: PLC0415 - the same

        _wait_until(self._page, Word.CAMERA_HANGS_UNTIL_NS)
        if self._page.take_one(Word.CAMERA_DROPS):
            return Nothing(Why.DROPPED, degraded="drop")
        return self._source.take(into, timeout_ms)

    def skip(self) -> None:
        """As the camera does."""
        self._source.skip()

    def close(self) -> None:
        """As the camera does."""
        self._source.close()


class _Failing:
    """An engine that does as the page says."""

    def __init__(self, engine: Any, name: str, page: Page) -> None:
        self._engine, self._name, self._page = engine, name, page

    def run(self, images: Any, side: Mapping[str, Any]) -> Any:
        """Run, late or not at all."""
        _wait_until(self._page, Word.ENGINE_HANGS_UNTIL_NS)
        if self._page.take_one(Word.ENGINE_ERRORS):
            raise EngineFault(self._name, "it was asked to fail")
        return self._engine.run(images, side)

    def describe(self) -> Mapping[str, str]:
        """As the engine says."""
        said: Mapping[str, str] = self._engine.describe()
        return said


def _page() -> Page:
    path = os.environ.get(VARIABLE, "")
    if not path:
        raise UsageFault(
            "is not set", VARIABLE, "these steps are for `inspectd chaos`, which sets it"
        )
    return Page(Path(path))


def _wait_until(page: Page, word: Word) -> None:
    """Return no sooner than the page says: nothing else happens in this process meanwhile."""
    while time.monotonic_ns() < page.get(word):
        time.sleep(_NAP_S)
