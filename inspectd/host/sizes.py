"""What the models of a line say of it before it starts: their digests, and the frame memory.

Read by the supervisor alone, once: a child that is started again must not wait for it (the imports
take 120 ms of a process's start, measured; `docs/chaos.md`).
"""

import math
from collections.abc import Mapping
from pathlib import Path

from inspectd.bus.arena import Geometry
from inspectd.config.schema import Camera, Line, ScriptedEngine, Station
from inspectd.errors import ArenaFault
from inspectd.model import directory
from inspectd.model.spec import ModelSpec
from inspectd.model.tiles import Tiling

__all__ = ["geometries", "read_models"]

_SCRIPTED_RAW_BYTES = 4096
"""A scripted engine finds nothing; room for its empty outputs."""


def read_models(line: Line) -> dict[str, ModelSpec]:
    """Read each model directory, by the model's name: what the run is checked with.

    A scripted engine works without the directory.

    Raises:
        ModelFault: a model directory is wrong.
    """
    is_scripted = isinstance(line.engine, ScriptedEngine)
    return {
        model.name: directory.read(model.path)
        for model in line.models
        if not (is_scripted and not Path(model.path).exists())
    }


def geometries(line: Line, models: Mapping[str, ModelSpec]) -> tuple[Geometry, ...]:
    """Answer the frame memory of each station: its camera's frames, its model's tensors.

    Raises:
        ArenaFault: together they are over the line's `memory_max_mb`.
    """
    answer = tuple(_geometry(station, models.get(station.model)) for station in line.stations)
    total_mb = sum(geometry.total_bytes for geometry in answer) / 1e6
    if total_mb > line.memory_max_mb:
        raise ArenaFault(
            f"the stations need {total_mb:.0f} MB, `memory_max_mb` allows {line.memory_max_mb}",
            "raise it, or lower `slots` of the stations",
        )
    return answer


def _geometry(station: Station, spec: ModelSpec | None) -> Geometry:
    frame_shape = _frame_shape(station.camera)
    if spec is None:
        height, width = frame_shape[:2]
        return Geometry(station.slots, frame_shape, (3, height, width), _SCRIPTED_RAW_BYTES)
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
