"""The door of the judge: raw outputs of the model become boxes, and boxes a verdict.

The ticket of a picture that is to be archived leaves its slot to the record; any other gives it
back before the verdict leaves. A slot that was reclaimed meanwhile (the supervisor has told the
sink that the part is lost) makes the ticket stale: it is dropped, because its outputs may be those
of another part. Deadlines belong to the sink: a part that is past its own is judged all the same.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from inspectd.config.recipes import rules_by_recipe
from inspectd.config.schema import Line, Rule, ScriptedEngine
from inspectd.errors import ModelFault
from inspectd.frame import (
    Detection,
    Kind,
    Reason,
    Role,
    Stamp,
    Ticket,
    Verdict,
)
from inspectd.model import boxes, directory
from inspectd.model.tiles import Tiling
from inspectd.passing import HoldsNothing, let_go
from inspectd.ports import Arena, Context, Counter, Out, Step
from inspectd.stages.judge.rules import Judgement, evaluate

__all__ = ["DETECTIONS_MAX", "Decode", "Judge", "JudgeStep", "build"]

Decode: TypeAlias = Callable[[Mapping[str, npt.NDArray[Any]]], Sequence[Detection]]
"""Raw outputs of one frame to boxes in frame pixels; raises `ModelFault` for foreign shapes."""

DETECTIONS_MAX = 300
"""The best so many are written into the event: a message has room for 64 KiB of detail."""

_NOT_FINITE = Judgement(Verdict.FAULT, Reason.OUTPUT_NOT_FINITE)
_NO_RULES = Judgement(Verdict.FAULT, Reason.WRONG_RECIPE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """What one station wants of its parts."""

    decode: Decode
    rules: Mapping[int, tuple[Rule, ...]]
    """By the number of the recipe (see `inspectd.config.recipes`)."""
    frame_w: int
    frame_h: int
    um_per_px: float
    archive: frozenset[str]
    """Names of the verdicts whose pictures are kept."""
    min_score: float
    """Detections below are not written into the event."""


def build(line: Line, station: int, context: Context) -> Step:
    """Make the judge of one station.

    Raises:
        ModelFault: The model directory does not say how its outputs are to be read.
    """
    ours = line.stations[station]
    camera = ours.camera
    judge = Judge(
        decode=_decoder(line, station),
        rules=rules_by_recipe(ours),
        frame_w=camera.width_px,
        frame_h=camera.height_px,
        um_per_px=camera.um_per_px,
        archive=frozenset(line.record.archive),
        min_score=line.record.detections_min_score,
    )
    return JudgeStep(judge, context.arenas[station], context.clock, context.count)


class JudgeStep(HoldsNothing):
    """Judges each part as it comes; holds nothing between two messages."""

    def __init__(
        self,
        judge: Judge,
        arena: Arena,
        clock: Callable[[], int],
        count: Callable[[Counter, int], None],
    ) -> None:
        self._judge = judge
        self._arena = arena
        self._clock = clock
        self._count = count

    def feed(self, kind: Kind, ticket: Ticket, now_ns: int) -> Sequence[Out]:
        """Judge one part."""
        if kind is not Kind.RAW:
            return ()
        if not self._arena.holds(ticket.slot, ticket.generation, Role.JUDGE):
            return self._dropped()
        started = ticket.stamped(Stamp.JUDGE_START, now_ns)
        judgement, detail = self._judged(ticket)
        decided = started.decided(judgement.verdict, judgement.reason, self._clock(), detail)
        settled = let_go(self._arena, decided, Role.JUDGE, self._judge.archive)
        if settled is None:
            return self._dropped()
        self._count(Counter.FRAMES, 1)
        return (Out(Role.SINK, Kind.VERDICT, settled),)

    def _judged(self, ticket: Ticket) -> tuple[Judgement, bytes]:
        """The judgement, and the ticket's detail with what led to it."""
        raw = self._arena.read_raw(ticket.slot)
        if not all(_is_finite(output) for output in raw.values()):
            return _NOT_FINITE, ticket.detail
        try:
            found = self._judge.decode(raw)
        except ModelFault as fault:
            error = {"error": str(fault)}
            return Judgement(Verdict.FAULT, Reason.ENGINE_ERROR), _merged(ticket.detail, error)
        wanted = self._judge
        rules = wanted.rules.get(ticket.recipe)
        if rules is None:  # a part is never judged by rules that were not meant for it
            judgement = _NO_RULES
        else:
            judgement = evaluate(rules, found, wanted.frame_w, wanted.frame_h, wanted.um_per_px)
        return judgement, _merged(ticket.detail, _findings(judgement, found, wanted.min_score))

    def _dropped(self) -> tuple[Out, ...]:
        self._count(Counter.STALE, 1)
        return ()


def _decoder(line: Line, station: int) -> Decode:
    """How the raw outputs of the station's model become boxes of its frames."""
    if isinstance(line.engine, ScriptedEngine):
        return lambda _: ()
    ours = line.stations[station]
    path = next(model.path for model in line.models if model.name == ours.model)
    spec = directory.read(path)
    frame_w, frame_h = ours.camera.width_px, ours.camera.height_px
    tiling = Tiling.at(ours)
    if tiling is not None:
        return lambda raw: boxes.decode_tiles(spec, raw, tiling)
    return lambda raw: boxes.decode(spec, raw, frame_w, frame_h)


def _is_finite(output: npt.NDArray[Any]) -> bool:
    """Whether the numbers of one output can be believed; whole numbers always can."""
    return not np.issubdtype(output.dtype, np.floating) or bool(np.isfinite(output).all())


def _findings(
    judgement: Judgement, found: Sequence[Detection], min_score: float
) -> dict[str, object]:
    """What the record keeps: `[label, score, x1, y1, x2, y2]` each, and the broken rules."""
    kept = [one for one in found if one.score >= min_score]
    best = sorted(kept, key=lambda one: one.score, reverse=True)
    return {
        "detections": [
            [
                one.label,
                round(float(one.score), 4),
                round(float(one.x1), 2),
                round(float(one.y1), 2),
                round(float(one.x2), 2),
                round(float(one.y2), 2),
            ]
            for one in best[:DETECTIONS_MAX]
        ],
        "broken": [list(broken) for broken in judgement.broken],
    }


def _merged(detail: bytes, more: Mapping[str, object]) -> bytes:
    """The JSON object `detail` with further keys, compact."""
    return json.dumps({**json.loads(detail), **more}, separators=(",", ":")).encode()
