"""A model directory that is changed while the line runs."""

from dataclasses import replace
from pathlib import Path

import pytest

from inspectd.config.load import load
from inspectd.config.schema import ScriptedEngine
from inspectd.errors import ModelFault
from inspectd.model.directory import read
from inspectd.ports import Context, Step
from inspectd.stages.infer.step import build

DEMO = Path(__file__).parents[4] / "stations" / "demo.yaml"


def built(digest: str) -> Step:
    """The step of the demo line, told the digest that the line was checked with."""
    line = load(str(DEMO))
    line = replace(line, engine=ScriptedEngine(kind="scripted", base_ms=0, per_frame_ms=0))
    context = Context(
        arenas={},
        clock=lambda: 0,
        count=lambda *_: None,
        log=lambda *_, **__: None,
        is_ready=lambda *_: True,
        is_line_healthy=lambda _: True,
        extra={"model_digests": {"bottle_cap": digest}} if digest else {},
    )
    return build(line, -1, context)


def test_a_restarted_process_takes_no_other_model() -> None:
    """Its rules were checked against the one that was there at the start."""
    with pytest.raises(ModelFault, match="changed while the line runs"):
        built("ffffffffffff")


def test_the_same_model_is_taken_again() -> None:
    """With the digest that it had, or when none is known."""
    line = load(str(DEMO))
    assert built(read(line.models[0].path).digest).is_drained()
    assert built("").is_drained()
