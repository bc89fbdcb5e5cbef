"""Where the step of each process comes from, and how large its frame memory is."""

import importlib
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from inspectd.bus.arena import Geometry
from inspectd.config.schema import Camera, Line, ScriptedEngine, Station
from inspectd.errors import ArenaFault
from inspectd.frame import Role
from inspectd.ports import Context, Step

__all__ = ["STEPS", "build_step", "geometries", "model_digests"]

STEPS: Mapping[Role, str] = MappingProxyType(
    {
        Role.CAMERA: "inspectd.stages.camera.step:build",
        Role.GATE: "inspectd.stages.gate.step:build",
        Role.INFER: "inspectd.stages.infer.step:build",
        Role.JUDGE: "inspectd.stages.judge.step:build",
        Role.SINK: "inspectd.stages.sink.step:build",
        Role.RECORD: "inspectd.record.step:build",
        Role.FORWARD: "inspectd.forward.step:build",
        Role.REJECT: "inspectd.stages.reject.step:build",
        Role.OPCUA: "inspectd.stages.sink.opcua_step:build",
    }
)
"""Module and function, `build(line, station, context) -> Step`."""

_SCRIPTED_RAW_BYTES = 4096
"""A scripted engine finds nothing; room for its empty outputs."""


def build_step(
    role: Role, line: Line, station: int, context: Context, other_steps: Mapping[str, str]
) -> Step:
    """Make the step of a process; its module is imported only in that process.

    `other_steps` replaces entries by role name (trials with steps of their own).
    """
    module, _, name = other_steps.get(role.name.lower(), STEPS[role]).partition(":")
    build: Callable[[Line, int, Context], Step] = getattr(importlib.import_module(module), name)
    return build(line, station, context)


def geometries(line: Line) -> tuple[Geometry, ...]:
    """Answer the frame memory of each station: its camera's frames, its model's tensors.

    Raises:
        ModelFault: a model directory is wrong.
        ArenaFault: together they are over the line's `memory_max_mb`.
    """
    answer = tuple(_geometry(line, station) for station in line.stations)
    total_mb = sum(geometry.total_bytes for geometry in answer) / 1e6
    if total_mb > line.memory_max_mb:
        raise ArenaFault(
            f"the stations need {total_mb:.0f} MB, `memory_max_mb` allows {line.memory_max_mb}",
            "raise it, or lower `slots` of the stations",
        )
    return answer


def model_digests(line: Line) -> dict[str, str]:
    """Answer the digest of each model directory, by the model's name: what the run is checked with.

    Raises:
        ModelFault: a model directory is wrong.
    """
    from inspectd.model.directory import read  # noqa: PLC0415 - see below

    is_scripted = isinstance(line.engine, ScriptedEngine)
    return {
        model.name: read(model.path).digest
        for model in line.models
        if not (is_scripted and not Path(model.path).exists())
    }


def _geometry(line: Line, station: Station) -> Geometry:
    """The supervisor alone reads models here: a child that is started again must not wait for it.

    (The imports take 120 ms of a process's start, measured; `docs/chaos.md`.)
    """
    from inspectd.model.directory import read  # noqa: PLC0415
    from inspectd.model.tiles import Tiling  # noqa: PLC0415

    frame_shape = _frame_shape(station.camera)
    model = next(model for model in line.models if model.name == station.model)
    if isinstance(line.engine, ScriptedEngine) and not Path(model.path).exists():
        height, width = frame_shape[:2]
        return Geometry(station.slots, frame_shape, (3, height, width), _SCRIPTED_RAW_BYTES)
    spec = read(model.path)
    channels, height, width = spec.tensor_shape
    raw_bytes = max(spec.raw_bytes_max, _SCRIPTED_RAW_BYTES)
    tiling = Tiling.at(station)
    pieces = 1 if tiling is None else len(tiling)
    tensor_shape = (pieces * channels, height, width)
    return Geometry(station.slots, frame_shape, tensor_shape, pieces * math.ceil(raw_bytes))


def _frame_shape(camera: Camera) -> tuple[int, ...]:
    if camera.channels == 1:
        return (camera.height_px, camera.width_px)
    return (camera.height_px, camera.width_px, camera.channels)
