"""An engine without a model: it takes a set time, holds no CPU, and finds nothing.

For measuring the road and the overlap of stages; the record names it, so that nobody takes its OK
for an inspection.
"""

from collections.abc import Mapping, Sequence
from time import sleep  # noqa: TID251 - its script is to take time

import numpy as np

from inspectd.config.schema import ScriptedEngine
from inspectd.model.spec import Layout
from inspectd.stages.infer.engine import Array, Batch

__all__ = ["Scripted", "run_ms"]


def run_ms(settings: ScriptedEngine, batch: int) -> float:
    """Answer how long a run of `batch` frames takes: by the table, or `base_ms + per_frame_ms * B`.

    Beyond the table the last step between two sizes goes on; a table of one size repeats itself
    frame by frame.
    """
    table = settings.runs_ms
    if not table:
        return settings.base_ms + settings.per_frame_ms * batch
    if batch <= len(table):
        return table[batch - 1]
    step_ms = max(0.0, table[-1] - table[-2]) if len(table) > 1 else table[0]
    return table[-1] + step_ms * (batch - len(table))


class Scripted:
    """Sleeps a run's time (`run_ms`)."""

    def __init__(self, settings: ScriptedEngine, layout: Layout) -> None:
        """Answer in the form of `layout`, with no objects in it."""
        self._settings = settings
        self._layout = layout

    def run(self, images: Batch, side: Mapping[str, Batch]) -> Sequence[Array]:  # noqa: ARG002
        """Take the time that the script says."""
        batch = len(images)
        sleep(run_ms(self._settings, batch) / 1e3)
        if self._layout == "found":
            return np.empty((0, 6), np.float32), np.zeros(batch, np.int32)
        return np.zeros((batch, 1, 4), np.float32), np.zeros((batch, 1, 1), np.float32)

    def describe(self) -> Mapping[str, str]:
        """It is no inspection, and says so."""
        return {"kind": "scripted", "device": "none", "backend": "none"}
