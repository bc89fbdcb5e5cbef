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

__all__ = ["Scripted"]


class Scripted:
    """Sleeps `base_ms + per_frame_ms * B` a run."""

    def __init__(self, settings: ScriptedEngine, layout: Layout) -> None:
        """Answer in the form of `layout`, with no objects in it."""
        self._settings = settings
        self._layout = layout

    def run(self, images: Batch, side: Mapping[str, Batch]) -> Sequence[Array]:  # noqa: ARG002
        """Take the time that the script says."""
        batch = len(images)
        sleep((self._settings.base_ms + self._settings.per_frame_ms * batch) / 1e3)
        if self._layout == "found":
            return np.empty((0, 6), np.float32), np.zeros(batch, np.int32)
        return np.zeros((batch, 1, 4), np.float32), np.zeros((batch, 1, 1), np.float32)

    def describe(self) -> Mapping[str, str]:
        """It is no inspection, and says so."""
        return {"kind": "scripted", "device": "none", "backend": "none"}
