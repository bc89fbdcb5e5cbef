"""Steps of the line that can be made to fail from outside: the real ones, with a door for trouble.

`inspectd run FILE --step camera=inspectd.chaos.hooks:build_camera ...` is how a campaign starts its
line. Nothing of a step is replaced but the moment before its call, the answer of an engine, and the
wall clock of the record.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from inspectd.chaos.page import VARIABLE, Page, Word
from inspectd.config.schema import Line
from inspectd.errors import EngineFault, UsageFault
from inspectd.frame import Kind, Reason, Role, Ticket, Verdict
from inspectd.ports import Context, Out, Step

__all__ = ["STEPS", "Trouble", "build_camera", "build_infer", "build_record"]

STEPS: Mapping[str, str] = {
    role: f"inspectd.chaos.hooks:build_{role}" for role in ("camera", "infer", "record")
}
"""By role, as `inspectd run --step` takes them."""

_NAP_S = 0.02


class Trouble:
    """A step, and what happens before it is called; implements `Step`."""

    def __init__(self, step: Step, before: Callable[[Kind | None, Ticket | None], Any]) -> None:
        """Wrap `step`; `before(kind, ticket)` may wait, and may answer in its place."""
        self._step, self._before = step, before

    def feed(self, kind: Kind, ticket: Ticket, now_ns: int) -> Sequence[Out]:
        """Take one message, unless the trouble answers it."""
        instead: Sequence[Out] | None = self._before(kind, ticket)
        return self._step.feed(kind, ticket, now_ns) if instead is None else instead

    def wake(self, now_ns: int) -> Sequence[Out]:
        """Do what is due, when the trouble lets it."""
        self._before(None, None)
        return self._step.wake(now_ns)

    def wake_at_ns(self) -> int | None:
        """As the step says."""
        return self._step.wake_at_ns()

    def stop(self, now_ns: int) -> Sequence[Out]:
        """As the step does."""
        return self._step.stop(now_ns)

    def is_drained(self) -> bool:
        """As the step says."""
        return self._step.is_drained()

    def trouble(self) -> str:
        """As the step says."""
        return self._step.trouble()

    def close(self) -> None:
        """As the step does."""
        self._step.close()


def build_camera(line: Line, station: int, context: Context) -> Step:
    """The camera, which may drop pictures, or be stuck in a call of its driver."""
    from inspectd.stages.camera.step import build  # noqa: PLC0415 - in the camera's process only

    page = _page()

    def before(kind: Kind | None, ticket: Ticket | None) -> Sequence[Out] | None:
        _wait_until(page, Word.CAMERA_HANGS_UNTIL_NS)
        if kind is not Kind.FIRE or ticket is None or not page.take_one(Word.CAMERA_DROPS):
            return None
        detail = b'{"degraded": "drop"}'
        lost = ticket.decided(Verdict.FAULT, Reason.NO_FRAME, context.clock(), detail)
        return (Out(Role.SINK, Kind.VERDICT, lost),)

    return Trouble(build(line, station, context), before)


def build_infer(line: Line, station: int, context: Context) -> Step:
    """The inference, whose engine may hang, fail once, or fail until it gives up."""
    from inspectd.stages.infer.step import InferStep, build  # noqa: PLC0415 - the same

    page = _page()
    step = build(line, station, context)
    if isinstance(step, InferStep):
        loaded: dict[str, Any] = step._loaded  # type: ignore[assignment]  # noqa: SLF001 - the one place where a trial reaches in
        for name, model in loaded.items():
            loaded[name] = replace(model, engine=_Failing(model.engine, name, page))
    return step


def build_record(line: Line, station: int, context: Context) -> Step:  # noqa: ARG001 - of the table
    """The record, with a wall clock that steps."""
    from inspectd.record.step import RecordStep  # noqa: PLC0415 - the same

    page = _page()

    def utc() -> datetime:
        return datetime.now(timezone.utc) + timedelta(milliseconds=page.get(Word.UTC_OFFSET_MS))

    return RecordStep(line, context, utc)


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
