"""Where a pixel of the frame lies in the tensor, and back.

Coordinates are continuous: 0 is the left edge of the first pixel, the width the right edge of the
last. With one resized size and one whole-pixel offset per frame, the way forth is
`tensor = frame * resized / frame_size + offset`, and the way back is its exact inverse: the sizes
are those that OpenCV was told, after rounding, never the ratio before it.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inspectd.errors import FrameFault
from inspectd.model.spec import LetterBox, ModelSpec, Pad, Resize

__all__ = ["Geometry"]

_Boxes = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Geometry:
    """How one size of frame is laid into the tensor. All in pixels."""

    frame_height: int
    frame_width: int
    resized_height: int
    resized_width: int
    top: int
    """Rows of border above the picture."""
    left: int
    """Columns of border left of the picture."""
    tensor_height: int
    tensor_width: int
    shape_height: float
    shape_width: float
    """What the program is told in `im_shape`, if it asks."""

    @classmethod
    def of(cls, spec: ModelSpec, frame_height: int, frame_width: int) -> "Geometry":
        """Work out the layout; raises `FrameFault` when such frames cannot fill the tensor."""
        _, tensor_height, tensor_width = spec.tensor_shape
        height, width, top, left = frame_height, frame_width, 0, 0
        shape = None
        for op in spec.ops:
            if isinstance(op, Resize):
                height, width = _resized(op, height, width)
            elif isinstance(op, LetterBox):
                height, width, top, left = _boxed(op, height, width)
                shape = (op.height_px, op.width_px)
        is_padded = any(isinstance(op, Pad | LetterBox) for op in spec.ops)
        fits = height + top <= tensor_height and width + left <= tensor_width
        if not fits or (not is_padded and (height, width) != (tensor_height, tensor_width)):
            raise FrameFault(
                f"frame {frame_width} x {frame_height}",
                f"gives {width} x {height} px, the tensor is {tensor_width} x {tensor_height}",
                f"use frames of the size that model {spec.name} was exported for",
            )
        told = shape or (height, width)
        return cls(
            frame_height, frame_width, height, width, top, left, tensor_height, tensor_width, *told
        )

    @property
    def scale_y(self) -> float:
        """Tensor pixels per frame pixel, vertically."""
        return self.resized_height / self.frame_height

    @property
    def scale_x(self) -> float:
        """Tensor pixels per frame pixel, horizontally."""
        return self.resized_width / self.frame_width

    def to_tensor(self, boxes: _Boxes) -> _Boxes:
        """Answer boxes (N, 4) of frame pixels in tensor pixels."""
        scale = np.array([self.scale_x, self.scale_y] * 2)
        offset = np.array([self.left, self.top] * 2)
        return np.asarray(boxes * scale + offset, np.float32)

    def to_frame(self, boxes: _Boxes, *, is_scaled: bool) -> _Boxes:
        """Answer boxes (N, 4) of a program in frame pixels, not clipped.

        `is_scaled`: the program has divided by `scale_factor` already, and only the border is left
        to be taken off.
        """
        scale = np.array([self.scale_x, self.scale_y] * 2)
        offset = np.array([self.left, self.top] * 2)
        wide = boxes.astype(np.float64)
        back = wide - offset / scale if is_scaled else (wide - offset) / scale
        return np.asarray(back, np.float32)

    def is_inside(self, boxes: _Boxes) -> npt.NDArray[np.bool_]:
        """Tell which boxes (N, 4) of frame pixels have a part in the frame, not in its border."""
        x1, y1, x2, y2 = boxes.T
        inside = (x1 < self.frame_width) & (x2 > 0) & (y1 < self.frame_height) & (y2 > 0)
        return np.asarray(inside, np.bool_)

    def clip(self, boxes: _Boxes) -> _Boxes:
        """Answer boxes (N, 4) of frame pixels cut at the frame's edges."""
        limit = np.array([self.frame_width, self.frame_height] * 2, np.float32)
        return np.asarray(np.clip(boxes, np.float32(0), limit), np.float32)

    def side_inputs(self) -> dict[str, npt.NDArray[np.float32]]:
        """Answer the program's further inputs for one frame: vertical first, float32 (2,)."""
        return {
            "scale_factor": np.array([self.scale_y, self.scale_x], np.float32),
            "im_shape": np.array([self.shape_height, self.shape_width], np.float32),
        }


def _resized(op: Resize, height: int, width: int) -> tuple[int, int]:
    """Answer the size after `Resize`, by PaddleDetection's rule (`deploy/python/preprocess.py`)."""
    if not op.keep_ratio:
        return op.height_px, op.width_px
    short, long = sorted((op.height_px, op.width_px))
    scale = short / min(height, width)
    if round(scale * max(height, width)) > long:
        scale = long / max(height, width)
    return max(round(height * scale), 1), max(round(width * scale), 1)


def _boxed(op: LetterBox, height: int, width: int) -> tuple[int, int, int, int]:
    """Answer height, width, top, left by PaddleDetection's `LetterBoxResize`."""
    ratio = min(op.height_px / height, op.width_px / width)
    new_height, new_width = max(round(height * ratio), 1), max(round(width * ratio), 1)
    top = round((op.height_px - new_height) / 2 - 0.1)
    left = round((op.width_px - new_width) / 2 - 0.1)
    return new_height, new_width, max(top, 0), max(left, 0)
