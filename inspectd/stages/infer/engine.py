"""What an engine is: something that runs one model on a batch.

One engine belongs to one thread of one process: a predictor that is shared mixes results
(`docs/decisions/0004-one-predictor-one-process.md`). Implementations: `scripted` (no model, for
measuring the pipeline) and `paddle`. The contract suite is `tests/contract/test_engine.py`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Array", "Batch", "Engine"]

Array: TypeAlias = npt.NDArray[Any]
Batch: TypeAlias = npt.NDArray[np.float32]
"""(B, channels, height, width), float32, contiguous."""


class Engine(Protocol):
    """One model, loaded."""

    def run(self, images: Batch, side: Mapping[str, Batch]) -> Sequence[Array]:
        """Run the model.

        Args:
            images: tensors of the batch.
            side: further inputs that the program may want, by name, float32 (B, 2):
                `scale_factor` and `im_shape`, vertical first.

        Returns:
            The program's outputs in its order. They are the caller's: a further run does not
            change them. Frame i of the batch gives the same as alone, but for rounding.

        Raises:
            EngineFault: the run failed; the parts of this batch have no verdict.
        """

    def describe(self) -> Mapping[str, str]:
        """What was really got, read back from the library: device, backend, version, program."""
