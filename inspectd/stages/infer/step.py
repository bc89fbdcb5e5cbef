"""The door of the inference process: tensors come from every station, raw outputs go to the judges.

One process for the line, one engine for each model in it. While a batch runs, further tensors wait
in the inbox and in the planner, and make up the next batch.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from inspectd.config.schema import Line, Model, ScriptedEngine
from inspectd.errors import EngineFault, ModelFault
from inspectd.frame import NO_SLOT, Kind, Reason, Role, Stamp, Ticket, Verdict
from inspectd.model import directory
from inspectd.model.geometry import Geometry
from inspectd.model.layout import split, stack
from inspectd.model.spec import Layout, ModelSpec
from inspectd.model.tiles import Tile, Tiling
from inspectd.passing import let_go
from inspectd.ports import Context, Counter, Out, Step, Tensor
from inspectd.stages.infer.batch import Planner, Waiting
from inspectd.stages.infer.detail import with_engine, with_error
from inspectd.stages.infer.engine import Array, Batch, Engine
from inspectd.stages.infer.golden import GoldenTests, proofs_of
from inspectd.stages.infer.loading import load, log_memory, pictures_of
from inspectd.stages.infer.scripted import Scripted

__all__ = ["FAILURES_MAX", "TROUBLED_NS", "InferStep", "Loaded", "Source", "build"]

_NS_PER_MS = 1_000_000
FAILURES_MAX = 3
"""Failed runs in a row after which the process gives up; the supervisor starts a fresh one."""
TROUBLED_NS = 1_000_000_000
"""So long after a failed run the line is not ready; then the next part tries the engine again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A model, ready to run."""

    name: str
    digest: str
    layout: Layout
    engine: Engine
    batches: Mapping[int, Batch]
    """Memory for batches, by size; the largest holds all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What a station's frames bring along."""

    model: str
    """As the station file names it."""
    side: Mapping[str, Batch]
    """Further inputs of one frame, by name, float32 (pictures, 2)."""
    pictures: int = 1
    """That go through the model for one frame."""
    is_tiled: bool = False
    """Whether they are tiles, whose outputs are laid together."""
    reserve_ns: int
    """What judge and sink may take of a part's time."""


def build(line: Line, station: int, context: Context) -> Step:  # noqa: ARG001 - serves all stations
    """Load every model of the line, and run each batch size once.

    Raises:
        ModelFault: a model directory is wrong.
        EngineRefused: a model may not judge parts.
    """
    models = {model.name: model for model in line.models}
    used = {station.model for station in line.stations}
    loaded = {name: _loaded(line, models[name], context) for name in models if name in used}
    planner = Planner(models)
    for name, model in loaded.items():
        size = models[name].batch_max
        planner.learn(name, size, _warm_up(model, size, context.clock))
    log_memory(line.engine, context.log)
    sources = {at: _source(line, at) for at in range(len(line.stations))}
    proofs = proofs_of(line, {name: model.engine for name, model in loaded.items()})
    return InferStep(
        loaded,
        planner,
        sources,
        context,
        archive=frozenset(line.record.archive),
        golden=GoldenTests(proofs, context.clock),
    )


def _refuse_another(model: Model, spec: ModelSpec, context: Context) -> None:
    """A directory that was changed while the line runs was never checked against its rules."""
    known = context.extra.get("model_digests", {}).get(model.name, spec.digest)
    if spec.digest != known:
        raise ModelFault(
            spec.path,
            "",
            f"the model was changed while the line runs (digest {spec.digest}, it was {known})",
            "stop the line and start it anew to use it",
        )


def _loaded(line: Line, model: Model, context: Context) -> Loaded:
    layout: Layout = "scores"
    try:
        spec = directory.read(model.path)
    except ModelFault:
        if not isinstance(line.engine, ScriptedEngine):
            raise
        at = next(i for i, station in enumerate(line.stations) if station.model == model.name)
        shape = context.arenas[at].tensor(0).shape
        engine: Engine = Scripted(line.engine, layout)
        name, digest = model.name, "scripted"
    else:
        _refuse_another(model, spec, context)
        shape, name, digest, layout = spec.tensor_shape, spec.name, spec.digest, spec.layout
        engine = load(
            spec,
            line.engine,
            model.batch_max,
            context.log,
            pictures=pictures_of(line, model, spec),
            tell=context.building,
        )
    room = np.zeros((model.batch_max, *shape), np.float32)
    context.log("info", "model_loaded", model=name, digest=digest, **engine.describe())
    return Loaded(
        name=name,
        digest=digest,
        layout=layout,
        engine=engine,
        batches={size: room[:size] for size in range(1, model.batch_max + 1)},
    )


def _warm_up(loaded: Loaded, batch_max: int, clock: Callable[[], int]) -> int:
    """Run every batch size once, so that no part pays for a first time.

    Returns:
        Nanoseconds that a run of the largest batch takes when it is warm.
    """
    started_ns = clock()
    for size in [*range(1, batch_max + 1), batch_max]:
        ones = np.ones((size, 2), np.float32)
        started_ns = clock()
        loaded.engine.run(loaded.batches[size], {"scale_factor": ones, "im_shape": ones})
    return clock() - started_ns


def _source(line: Line, at: int) -> Source:
    station = line.stations[at]
    model = next(model for model in line.models if model.name == station.model)
    side: Mapping[str, Batch] = {}
    tiling = Tiling.at(station)
    whole = Tile(0, 0, station.camera.width_px, station.camera.height_px)
    pieces = (whole,) if tiling is None else tiling.pieces
    try:
        spec = directory.read(model.path)
    except ModelFault:
        if not isinstance(line.engine, ScriptedEngine):
            raise
    else:
        sides = [Geometry.of(spec, p.y2 - p.y1, p.x2 - p.x1).side_inputs() for p in pieces]
        side = {name: np.stack([one[name] for one in sides]) for name in sides[0]}
    reserve_ms = station.budget.judge_ms + station.budget.sink_ms
    return Source(
        model=model.name,
        side=side,
        pictures=len(pieces),
        is_tiled=tiling is not None,
        reserve_ns=int(reserve_ms * _NS_PER_MS),
    )


class InferStep:
    """Owns the engines and the queue before them."""

    def __init__(
        self,
        loaded: Mapping[str, Loaded],
        planner: Planner,
        sources: Mapping[int, Source],
        context: Context,
        *,
        archive: frozenset[str],
        golden: GoldenTests,
    ) -> None:
        """Serve the stations of a line.

        Args:
            loaded: models by the name that the station file gives them.
            planner: the queue.
            sources: by station.
            context: of this process.
            archive: names of the verdicts whose pictures are kept.
            golden: the tests that a PLC may ask for.
        """
        self._loaded = loaded
        self._golden = golden
        self._planner = planner
        self._sources = sources
        self._context = context
        self._archive = archive
        self._failures = 0
        self._failed_ns = 0

    def feed(self, kind: Kind, ticket: Ticket, now_ns: int) -> Sequence[Out]:
        """Take a tensor into the queue, or a golden test that is asked for."""
        if kind is Kind.GOLDEN:
            self._golden.ask(ticket)
        if kind is not Kind.TENSOR:
            return ()
        arena = self._context.arenas[ticket.station]
        if not arena.holds(ticket.slot, ticket.generation, Role.INFER):
            self._context.count(Counter.STALE, 1)
            return ()
        source = self._sources[ticket.station]
        self._planner.add(Waiting(source.model, ticket, now_ns, source.reserve_ns, source.pictures))
        return ()

    def wake_at_ns(self) -> int | None:
        """When the next batch is due, or a golden test."""
        return 0 if self._golden else self._planner.due_ns()

    def wake(self, now_ns: int) -> Sequence[Out]:
        """Run the batch that is due; then a golden test."""
        due_ns = self._planner.due_ns()
        outs = [] if due_ns is None or due_ns > now_ns else self._run_due(now_ns)
        return [*outs, self._golden.run()] if self._golden else outs

    def stop(self, now_ns: int) -> Sequence[Out]:  # noqa: ARG002 - of the protocol
        """What waits is still run; nothing new comes, for the gates stopped before."""
        return ()

    def is_drained(self) -> bool:
        """Whether nothing waits."""
        return len(self._planner) == 0 and not self._golden

    def trouble(self) -> str:
        """Say when runs fail; for a while, because only a further part can show that they do not.

        A station in trouble is not ready, and a PLC triggers no part for one that is not: trouble
        that lasted until the next good run would last for ever.
        """
        is_fresh = self._context.clock() - self._failed_ns < TROUBLED_NS
        if not self._failures or not is_fresh:
            return ""
        return f"the last {self._failures} runs of the model failed"

    def close(self) -> None:
        """Engines go with the process."""

    # ------------------------------------------------------------ a batch

    def _run_due(self, now_ns: int) -> list[Out]:
        plan = self._planner.take(now_ns)
        outs: list[Out] = []
        if plan.batch:  # first: when it raises, nothing has been let go of untold
            outs = self._run(plan.batch, now_ns)
        return [*outs, *(self._late(one, now_ns) for one in plan.expired)]

    def _run(self, waiting: Sequence[Waiting], now_ns: int) -> list[Out]:
        """Run the frames; answer each with its raw outputs or with a fault."""
        model, tickets = waiting[0].model, [one.ticket for one in waiting]
        loaded = self._loaded[model]
        try:
            frames = self._raw(loaded, tickets)
        except (EngineFault, ValueError) as error:
            return self._failed(waiting, str(error))
        self._failures = 0
        ended_ns = self._context.clock()
        pictures = sum(one.pictures for one in waiting)
        self._planner.learn(model, pictures, ended_ns - now_ns)
        self._context.count(Counter.BATCHES, 1)
        self._context.count(Counter.FRAMES, len(tickets))
        outs = []
        for one, raw in zip(waiting, frames, strict=True):
            ticket = one.ticket
            arena = self._context.arenas[ticket.station]
            arena.write_raw(ticket.slot, raw)
            detail = with_engine(ticket.detail, loaded.name, loaded.digest)
            done = ticket.inferred((one.queued_ns, now_ns, ended_ns), pictures, detail)
            arena.hand_over(ticket.slot, ticket.generation, Role.INFER, Role.JUDGE)
            outs.append(Out(Role.JUDGE, Kind.RAW, done))
        return outs

    def _raw(self, loaded: Loaded, tickets: Sequence[Ticket]) -> list[dict[str, Array]]:
        """Run the pictures of these frames, and answer the outputs of each frame.

        More pictures than the largest batch go in several runs, one after the other.
        """
        sources = [self._sources[one.station] for one in tickets]
        pictures = [
            picture
            for ticket, source in zip(tickets, sources, strict=True)
            for picture in self._pictures(ticket, source)
        ]
        names = sources[0].side
        sides = {name: np.concatenate([source.side[name] for source in sources]) for name in names}
        raw: list[dict[str, Array]] = []
        for at in range(0, len(pictures), len(loaded.batches)):
            part = pictures[at : at + len(loaded.batches)]
            side = {name: values[at : at + len(part)] for name, values in sides.items()}
            outputs = loaded.engine.run(_gathered(loaded, part), side)
            raw += split(loaded.layout, outputs, len(part))
        of_picture = iter(raw)
        return [
            stack(loaded.layout, list(islice(of_picture, source.pictures)))
            if source.is_tiled
            else next(of_picture)
            for source in sources
        ]

    def _pictures(self, ticket: Ticket, source: Source) -> Batch:
        """The tensors of a frame, (pictures, channels, height, width), where they lie."""
        tensor = self._context.arenas[ticket.station].tensor(ticket.slot)
        return tensor.reshape(source.pictures, -1, *tensor.shape[1:])

    def _failed(self, waiting: Sequence[Waiting], error: str) -> list[Out]:
        """Every part of the batch is a fault; several failures in a row end the process."""
        self._failures += 1
        self._failed_ns = self._context.clock()
        self._context.log("error", "engine_failed", error=error, parts=len(waiting))
        if self._failures >= FAILURES_MAX:
            raise EngineFault("of this line", f"{self._failures} runs in a row failed: {error}")
        now_ns = self._context.clock()
        return [self._fault(one, error, now_ns) for one in waiting]

    def _fault(self, waiting: Waiting, error: str, now_ns: int) -> Out:
        ticket = waiting.ticket.stamped(Stamp.INFER_QUEUED, waiting.queued_ns)
        detail = with_error(ticket.detail, error)
        return self._ended(ticket.decided(Verdict.FAULT, Reason.ENGINE_ERROR, now_ns, detail))

    def _late(self, waiting: Waiting, now_ns: int) -> Out:
        """Give up a part whose deadline has passed: the engine's time belongs to others."""
        ticket = waiting.ticket.stamped(Stamp.INFER_QUEUED, waiting.queued_ns)
        return self._ended(ticket.decided(Verdict.LATE, Reason.DEADLINE_PASSED, now_ns))

    def _ended(self, ticket: Ticket) -> Out:
        """Tell the sink of a part that ends here; its picture goes to the record, or is let go."""
        arena = self._context.arenas[ticket.station]
        told = let_go(arena, ticket, Role.INFER, self._archive)
        return Out(Role.SINK, Kind.VERDICT, told or replace(ticket, slot=NO_SLOT))


def _gathered(loaded: Loaded, pictures: Sequence[Tensor]) -> Batch:
    """Lay pictures side by side; those that lie so already are used where they are."""
    first = pictures[0]
    if len(pictures) == 1:
        return first[np.newaxis]
    batch = loaded.batches[len(pictures)]
    for at, picture in enumerate(pictures):
        batch[at] = picture
    return batch
