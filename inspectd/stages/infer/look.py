"""One picture through a model exactly as the daemon does it, without a daemon.

For the self-test, for golden outputs, and for `inspectd model detect`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from inspectd.config.schema import Template
from inspectd.errors import FrameFault
from inspectd.frame import Detection
from inspectd.model import boxes
from inspectd.model.geometry import Geometry
from inspectd.model.layout import split
from inspectd.model.prepare import Preparer
from inspectd.model.spec import ModelSpec
from inspectd.ports import Pixels, Tensor
from inspectd.stages.infer.engine import Array, Batch, Engine

__all__ = ["Look", "read_picture"]


def read_picture(path: Path, *, is_grey: bool = False) -> Pixels:
    """Read a picture, (H, W) grey or (H, W, 3) blue, green, red; EXIF orientation is ignored.

    Raises:
        FrameFault: it cannot be read.
    """
    try:
        content = np.frombuffer(path.read_bytes(), np.uint8)
    except OSError as error:
        raise FrameFault(str(path), f"cannot be read ({error.strerror})", "name another") from error
    colour = cv2.IMREAD_GRAYSCALE if is_grey else cv2.IMREAD_COLOR
    picture = (
        cv2.imdecode(content, colour | cv2.IMREAD_IGNORE_ORIENTATION) if len(content) else None
    )
    if picture is None:
        raise FrameFault(str(path), "is no picture", "name another")
    return np.asarray(picture, np.uint8)


@dataclass(frozen=True, slots=True)
class Look:
    """One picture, laid out for one model."""

    spec: ModelSpec
    tensor: Tensor
    """float32 (C, H, W)."""
    frame_height: int
    frame_width: int

    @classmethod
    def at(cls, spec: ModelSpec, picture: Pixels, template: Path | None = None) -> "Look":
        """Prepare the tensor of a picture as the gate does.

        Args:
            spec: the model.
            picture: the frame.
            template: its golden picture, for models that want one.

        Raises:
            FrameFault: the picture does not fit, or the golden picture is missing.
        """
        settings = template and Template(folder=str(template.parent), pattern=template.name)
        preparer = Preparer(spec, picture.shape, settings or None)
        tensor = np.zeros(spec.tensor_shape, np.float32)
        preparer.prepare(picture, "", tensor)
        return cls(spec, tensor, *picture.shape[:2])

    def detections(self, engine: Engine) -> list[Detection]:
        """What the engine finds in the picture, best first, in frame pixels."""
        return self.in_batch(engine, self.tensor[np.newaxis])[0]

    def in_batch(self, engine: Engine, batch: Batch) -> list[list[Detection]]:
        """What the engine finds in each frame of a batch of frames of this size."""
        return [self.decoded(raw) for raw in self.raw(engine, batch)]

    def decoded(self, raw: Mapping[str, Array]) -> list[Detection]:
        """Raw outputs of one frame of this size as detections."""
        return boxes.decode(self.spec, raw, self.frame_width, self.frame_height)

    def raw(self, engine: Engine, batch: Batch) -> list[dict[str, Array]]:
        """What the engine answers for each frame of a batch, named as in `inspectd.model.layout`.

        Raises:
            EngineFault: the run failed.
            ValueError: the outputs are not those of such a batch.
        """
        size = len(batch)
        one = Geometry.of(self.spec, self.frame_height, self.frame_width).side_inputs()
        side = {name: np.stack([values] * size) for name, values in one.items()}
        return split(self.spec.layout, engine.run(batch, side), size)
