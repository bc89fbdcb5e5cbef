"""`inspectd plan FILE`: how much memory and time a line takes, here and on a card, with sums."""

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from inspectd.cli.check import load_checked
from inspectd.config.schema import Gpu, Line, Model, PaddleEngine, Station, Tensorrt
from inspectd.errors import EngineRefused, Exit, UsageFault
from inspectd.model import directory
from inspectd.model.graph import Graph, read_graph
from inspectd.model.spec import ModelSpec
from inspectd.model.tiles import Tiling
from inspectd.outfile import check_writable, write
from inspectd.stages.infer.card import memory_in_use
from inspectd.stages.infer.estimate import (
    BUSY_MAX,
    CARDS,
    IN_THE_POOL,
    CardFigures,
    Load,
    ModelLoad,
    Sum,
    Time,
    fitted,
    load_of,
    memory_of,
    time_on,
)
from inspectd.stages.infer.loading import cache_folder
from inspectd.stages.infer.paddle import Paddle

__all__ = ["add_arguments", "run"]

_ROUNDS = 5
"""Of each batch size; the best counts, for others use the machine too."""


@dataclass(frozen=True, slots=True)
class _Counted:
    """A model that stations use."""

    model: Model
    spec: ModelSpec
    graph: Graph


@dataclass(frozen=True, slots=True)
class _Here:
    """What a model took on this machine."""

    backend: str
    runs_ms: Mapping[int, float]
    rss_mb: int
    """More than before it was loaded, after its largest batch."""

    @property
    def time(self) -> Time:
        """As a line through the runs."""
        return fitted(self.runs_ms)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", help="station file")
    parser.add_argument("--card", choices=tuple(CARDS), default="t4", help="default: t4")
    parser.add_argument("--copies", type=int, default=1, help="so many times these stations")
    parser.add_argument("--no-measure", action="store_true", help="run no model here")
    parser.add_argument("--json", type=Path, help="write the figures there")


def run(options: argparse.Namespace) -> int:
    """Print the plan; exit 1 when the card is too small or too slow."""
    check_writable(options.json)
    if options.copies < 1:
        raise UsageFault(str(options.copies), "--copies", "give 1 or more")
    line = load_checked(options.file)
    engine = line.engine
    if not isinstance(engine, PaddleEngine):
        raise UsageFault("engine is scripted: it runs no model", options.file, "name another file")
    models = _counted(line)
    loads = _loads(line, options.copies)
    here = {} if options.no_measure else {one.model.name: _measured(one, engine) for one in models}
    card = CARDS[options.card]
    plan = _Plan(engine, card, models, loads, here)
    plan.show(Console())
    if options.json is not None:
        write(str(options.json), json.dumps(plan.figures(), indent=1, ensure_ascii=False) + "\n")
    return int(Exit.OK if plan.fits else Exit.FAULT)


def _counted(line: Line) -> list[_Counted]:
    used = {station.model for station in line.stations}
    counted = []
    for model in line.models:
        if model.name in used:
            spec = directory.read(model.path)
            counted.append(_Counted(model, spec, read_graph(spec.programs[0])))
    return counted


def _loads(line: Line, copies: int) -> list[ModelLoad]:
    return [
        _load(station, "" if copies == 1 else f" ({copy + 1})")
        for copy in range(copies)
        for station in line.stations
    ]


def _load(station: Station, suffix: str) -> ModelLoad:
    tiling = Tiling.at(station)
    return ModelLoad(
        station=station.name + suffix,
        model=station.model,
        pictures=1 if tiling is None else len(tiling),
        cycle_ms=station.cycle_ms,
        budget_ms=station.budget.infer_ms,
    )


def _measured(one: _Counted, settings: PaddleEngine) -> _Here:
    """Run a model here, on the CPU, as the station file says or as it would be without a card."""
    before = memory_in_use(None).rss_mb
    backend = settings.backend if settings.device == "cpu" else "auto"
    try:
        engine = Paddle(
            one.spec, backend=backend, threads=settings.threads, cache=cache_folder(one.spec)
        )
    except EngineRefused as refused:
        raise UsageFault(str(refused), "nothing can be measured", "add --no-measure") from refused
    largest = one.model.batch_max
    sizes = sorted({1, (largest + 1) // 2, largest})
    runs = {size: _best_ms(engine, one.spec, size) for size in sizes}
    taken = memory_in_use(None).rss_mb - before
    return _Here(engine.describe()["backend"], runs, taken)


def _best_ms(engine: Paddle, spec: ModelSpec, size: int) -> float:
    images = np.zeros((size, *spec.tensor_shape), np.float32)
    side = {name: np.ones((size, 2), np.float32) for name in spec.inputs if name != "image"}
    engine.run(images, side)
    took = []
    for _ in range(_ROUNDS):
        begun = perf_counter()
        engine.run(images, side)
        took.append((perf_counter() - begun) * 1e3)
    return min(took)


class _Plan:
    """All figures, and how they are shown."""

    def __init__(
        self,
        settings: PaddleEngine,
        card: CardFigures,
        models: list[_Counted],
        loads: list[ModelLoad],
        here: Mapping[str, _Here],
    ) -> None:
        self._settings, self._card, self._models = settings, card, models
        self._loads, self._here = loads, here
        on_card = settings.device == "gpu"
        # A line of the CPU is planned as it would be on a card at its best: TensorRT, fp16.
        self._way = "tensorrt" if settings.backend == "tensorrt" or not on_card else "plain"
        self._precision = settings.precision if on_card else "fp16"
        limit_mb = (settings.tensorrt or Tensorrt()).workspace_mb
        self._memory: dict[str, Sum] = {
            one.model.name: memory_of(
                one.graph,
                one.model.batch_max,
                self._precision,
                is_tensorrt=self._way == "tensorrt",
                limit_mb=limit_mb,
            )
            for one in models
        }
        self._times = {
            one.model.name: time_on(card, one.graph, self._way, self._precision) for one in models
        }
        sizes = {one.model.name: one.model.batch_max for one in models}
        self._on_card = load_of(loads, self._times, sizes)
        measured = {name: one.time for name, one in here.items()}
        self._on_this = load_of(loads, measured, sizes) if measured else None

    @property
    def total_mb(self) -> float:
        """On the card, with its context."""
        models = sum(one.total for one in self._memory.values())
        return self._card.context_mb + self._pool_mb + models

    @property
    def _pool_mb(self) -> float:
        """What Paddle's pool takes at its start beyond the parameters that go into it."""
        inside = sum(
            value
            for one in self._memory.values()
            for part, value in one.parts.items()
            if part in IN_THE_POOL
        )
        return max(0.0, (self._settings.gpu or Gpu()).memory_pool_mb - inside)

    @property
    def fits(self) -> bool:
        """Whether the card has memory and time enough."""
        return self.total_mb <= self._card.memory_mb and self._on_card.fits

    def figures(self) -> dict[str, Any]:
        """Everything, for a program to read."""
        return {
            "card": self._card.name,
            "way": self._way,
            "precision": self._precision,
            "models": [self._model_figures(one) for one in self._models],
            "memory_mb": {
                "context": self._card.context_mb,
                "pool": self._pool_mb,
                "total": self.total_mb,
                "allowed": self._card.memory_mb,
            },
            "on_card": _load_figures(self._on_card),
            "here": _load_figures(self._on_this) if self._on_this else None,
            "fits": self.fits,
        }

    def _model_figures(self, one: _Counted) -> dict[str, Any]:
        name = one.model.name
        here = self._here.get(name)
        return {
            "name": name,
            "digest": one.spec.digest,
            "parameters": one.graph.parameters,
            "gflop": one.graph.operations / 1e9,
            "activation_mb_frame": one.graph.peak_bytes / (1 << 20),
            "activation_mb_frame_unshared": one.graph.total_bytes / (1 << 20),
            "batch_max": one.model.batch_max,
            "memory_mb": dict(self._memory[name].parts),
            "card_ms": asdict(self._times[name]),
            "here": here
            and {
                "backend": here.backend,
                "runs_ms": dict(here.runs_ms),
                "rss_mb": here.rss_mb,
                **asdict(here.time),
            },
        }

    # ------------------------------------------------------------ for people

    def show(self, console: Console) -> None:
        """Print the sums."""
        console.print(self._models_table())
        console.print(self._memory_table())
        console.print(self._time_table())
        for title, load in (("this machine", self._on_this), (self._card.name, self._on_card)):
            if load is not None:
                console.print(self._load_table(title, load))
        verdict = "fits" if self.fits else "DOES NOT FIT"
        memory = f"{self.total_mb:.0f} of {self._card.memory_mb} MB"
        busy = f"busy {self._on_card.busy:.0%} (at most {BUSY_MAX:.0%})"
        console.print(f"{self._card.name}: {verdict}: {memory}, {busy}; times are scaled from")
        console.print(f"  {self._card.reference}; none was measured on a card by us")

    def _models_table(self) -> Table:
        table = Table(title="Models, from their programs")
        for heading in ("model", "parameters", "GFLOP a frame", "MB a frame", "unshared", "batch"):
            table.add_column(heading, justify="right")
        for one in self._models:
            graph = one.graph
            table.add_row(
                *(one.model.name, f"{graph.parameters / 1e6:.2f} M"),
                *(f"{graph.operations / 1e9:.2f}", f"{graph.peak_bytes / (1 << 20):.1f}"),
                *(f"{graph.total_bytes / (1 << 20):.1f}", str(one.model.batch_max)),
            )
        return table

    def _memory_table(self) -> Table:
        table = Table(title=f"Memory on the card, MB: {self._way} {self._precision}")
        table.add_column("of")
        table.add_column("MB", justify="right")
        table.add_row("CUDA, cuDNN, Paddle (assumed)", str(self._card.context_mb))
        table.add_row("Paddle's pool beyond that", f"{self._pool_mb:.1f}")
        for name, memory in self._memory.items():
            for part, value in memory.parts.items():
                table.add_row(f"{name}: {part}", f"{value:.1f}")
        table.add_row("sum", f"{self.total_mb:.0f} of {self._card.memory_mb}", style="bold")
        return table

    def _time_table(self) -> Table:
        """A run in ms: base + batch x frame."""
        table = Table(title="A run, ms: base + batch x frame")
        for heading in ("model", "where", "base", "frame", "alone", "largest batch", "each"):
            table.add_column(heading, justify="left" if heading == "where" else "right")
        for one in self._models:
            name, size = one.model.name, one.model.batch_max
            rows = [(f"card, {self._way} {self._precision}", self._times[name])]
            here = self._here.get(name)
            if here is not None:
                rows.insert(0, (f"here, {here.backend}, {here.rss_mb} MB", here.time))
            for where, time in rows:
                table.add_row(
                    *(name, where, f"{time.base_ms:.1f}", f"{time.frame_ms:.2f}"),
                    *(f"{time.run_ms(1):.1f}", f"{time.run_ms(size):.1f}"),
                    f"{time.each_ms(size):.2f}",
                )
        return table

    def _load_table(self, title: str, load: Load) -> Table:
        caption = f"busy {load.busy:.0%}: {'enough' if load.fits else 'TOO LITTLE'} time; "
        caption += f"shortest common cycle {load.cycle_ms:.1f} ms; {load.times} x these stations"
        table = Table(title=f"Stations on {title}", caption=caption)
        for heading in ("station", "model", "pictures", "cycle ms", "share", "wait ms", "budget"):
            table.add_column(heading, justify="right")
        for one in self._loads:
            wait_ms = load.wait_ms[one.station]
            late = " OVER" if wait_ms > one.budget_ms else ""
            table.add_row(
                *(one.station, one.model, str(one.pictures), f"{one.cycle_ms:g}"),
                *(f"{load.shares[one.station]:.1%}", f"{wait_ms:.1f}"),
                f"{one.budget_ms:g}{late}",
            )
        return table


def _load_figures(load: Load) -> dict[str, Any]:
    return {**asdict(load), "fits": load.fits, "times": load.times}
