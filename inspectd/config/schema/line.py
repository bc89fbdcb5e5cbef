"""A station, and the line that is made of them."""

from dataclasses import dataclass

from inspectd.config.schema.camera import Camera, Trigger
from inspectd.config.schema.engine import Engine, Model, Template
from inspectd.config.schema.forward import Forward
from inspectd.config.schema.gate import Gate
from inspectd.config.schema.key import key
from inspectd.config.schema.metrics import Metrics
from inspectd.config.schema.plc import Plc
from inspectd.config.schema.recipes import Recipe
from inspectd.config.schema.record import Record
from inspectd.config.schema.reject import PlcReject, Reject
from inspectd.config.schema.rules import Rule
from inspectd.config.schema.tiles import Tiles
from inspectd.config.schema.web import Web

__all__ = ["Budget", "Line", "Station"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Milliseconds that each stage may take of a part's time; their sum must fit the deadline."""

    camera_ms: float = key(gt=0)
    """From the trigger to the last pixel in the slot."""
    gate_ms: float = key(gt=0)
    """Measures, and the tensor."""
    infer_ms: float = key(gt=0)
    """Queueing, batching and the model."""
    judge_ms: float = key(gt=0)
    """Boxes, rules."""
    sink_ms: float = key(gt=0)
    """To the PLC's confirmation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
    """One camera looking at one place of the line."""

    name: str = key(is_name=True)
    """Unique in the line."""
    cycle_ms: float = key(gt=0, le=3_600_000)
    """Shortest time between two parts."""
    deadline_ms: float = key(gt=0, le=3_600_000)
    """From the trigger to the verdict at the PLC. No default: it protects the reject point."""
    budget: Budget = key()
    """How the deadline is shared out."""
    slots: int = key(8, ge=2, le=256)
    """Frames in memory at once: in work, and waiting to be archived."""
    trigger: Trigger = key()
    """Where triggers come from."""
    camera: Camera = key()
    """Where pictures come from."""
    gate: Gate = key(Gate())
    """Is the picture fit?"""
    model: str = key(nonempty=True)
    """Name of an entry of `models`."""
    template: Template | None = key(None)
    """Golden pictures, for models that want them."""
    tiles: Tiles | None = key(None)
    """Cut large frames into pieces; the model's own size when not given."""
    rules: tuple[Rule, ...] = key((), nonempty=True)
    """When is the part good? All must hold. Must be given, unless `recipes` are."""
    recipes: tuple[Recipe, ...] = key((), nonempty=True)
    """Instead of `rules`: several kinds of parts. The PLC says which one comes."""
    plc: Plc = key()
    """Who is told?"""
    reject: Reject = key(PlcReject(kind="plc"))
    """Who moves the ejector?"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A station file: one line, one engine process, one record, any number of stations."""

    line: str = key(is_name=True)
    """Name of the line."""
    engine: Engine = key()
    """What runs the models."""
    models: tuple[Model, ...] = key(nonempty=True)
    """Detectors in use."""
    stations: tuple[Station, ...] = key(nonempty=True)
    """In the order of the line."""
    record: Record = key()
    """What is remembered."""
    forward: tuple[Forward, ...] = key(())
    """Who else gets the events: receivers outside the line, sent from the record."""
    web: Web | None = key(None)
    """The operator's view in a browser; off when not given."""
    metrics: Metrics | None = key(None)
    """Figures for Prometheus (docs/metrics.md); not served when not given."""
    memory_max_mb: int = key(2048, ge=16)
    """Upper limit for all frame memory of the line."""
    file: str = key("", is_path=True, by_loader=True)
    """Set by the loader: the station file itself. May not be given."""
    digest: str = key("", by_loader=True)
    """Set by the loader: SHA-256 of the file's text, first 12 hex digits (the recipe
    digest). May not be given."""
