"""What a station file says of its pictures against the first of them: for `inspectd check`."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from inspectd.config.schema import Line, ReplayCamera
from inspectd.errors import InspectdError
from inspectd.stages.camera.replay import Replay
from inspectd.stages.camera.source import Unusable

__all__ = ["check"]


def check(line: Line) -> list[tuple[str, str]]:
    """Answer (dotted key, what is wrong) for each station whose first picture cannot be used."""
    faults: list[tuple[str, str]] = []
    for at, station in enumerate(line.stations):
        if Path(station.camera.path).exists():  # the file's own rules name the missing ones
            faults += _check(f"stations[{at}].camera", station.camera)
    return faults


def _check(key: str, camera: ReplayCamera) -> Iterator[tuple[str, str]]:
    source = Replay(camera)
    shape: tuple[int, ...] = (camera.height_px, camera.width_px)
    if camera.channels != 1:
        shape = (*shape, camera.channels)
    try:
        source.open()
        answer = source.take(np.zeros(shape, np.uint8), 0)
    except InspectdError as fault:
        yield f"{key}.path", str(fault)
        return
    finally:
        source.close()
    if isinstance(answer, Unusable):
        is_size = "the station file says" in answer.detail
        yield f"{key}.width_px" if is_size else f"{key}.path", answer.detail
