"""Where a pixel of the frame lies in the tensor, and back.

Coordinates are continuous: 0 is the left edge of the first pixel, the width the right edge of the
last. With one scale and one whole-pixel offset per frame, the way forth is
`tensor = frame * scale + offset`, and the way back is its exact inverse. The scale is the one that
OpenCV samples by: `Resize` tells it a ratio, `LetterBoxResize` a size, as PaddleDetection does
(`deploy/python/preprocess.py`).
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
    scale_y: float
    """Tensor pixels per frame pixel, vertically."""
    scale_x: float
    """Tensor pixels per frame pixel, horizontally."""
    tensor_height: int
    tensor_width: int

    @classmethod
    def of(cls, spec: ModelSpec, frame_height: int, frame_width: int) -> "Geometry":
        """Work out the layout; raises `FrameFault` when such frames cannot fill the tensor."""
        _, tensor_height, tensor_width = spec.tensor_shape
        height, width, top, left = frame_height, frame_width, 0, 0
        scale_y = scale_x = 1.0
        for op in spec.ops:
            if isinstance(op, Resize):
                scale_y, scale_x = _scales(op, frame_height, frame_width)
                height, width = round(frame_height * scale_y), round(frame_width * scale_x)
            elif isinstance(op, LetterBox):
                height, width, top, left = _boxed(op, frame_height, frame_width)
                scale_y, scale_x = height / frame_height, width / frame_width
        is_padded = any(isinstance(op, Pad | LetterBox) for op in spec.ops)
        fits = 0 < height <= tensor_height - top and 0 < width <= tensor_width - left
        if not fits or (not is_padded and (height, width) != (tensor_height, tensor_width)):
            raise FrameFault(
                f"frame {frame_width} x {frame_height}",
                f"gives {width} x {height} px, the tensor is {tensor_width} x {tensor_height}",
                f"use frames of the size that model {spec.name} was exported for",
            )
        return cls(
            frame_height=frame_height,
            frame_width=frame_width,
            resized_height=height,
            resized_width=width,
            top=top,
            left=left,
            scale_y=scale_y,
            scale_x=scale_x,
            tensor_height=tensor_height,
            tensor_width=tensor_width,
        )

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
        """Answer the program's further inputs for one frame: vertical first, float32 (2,).

        `im_shape` is the size of the resized picture without its border.
        """
        return {
            "scale_factor": np.array([self.scale_y, self.scale_x], np.float32),
            "im_shape": np.array([self.resized_height, self.resized_width], np.float32),
        }


def _scales(op: Resize, height: int, width: int) -> tuple[float, float]:
    """Answer the ratios of `Resize`, vertical first, by PaddleDetection's rule."""
    if not op.keep_ratio:
        return op.height_px / height, op.width_px / width
    short, long = sorted((op.height_px, op.width_px))
    scale = short / min(height, width)
    if round(scale * max(height, width)) > long:
        scale = long / max(height, width)
    return scale, scale


def _boxed(op: LetterBox, height: int, width: int) -> tuple[int, int, int, int]:
    """Answer height, width, top, left by PaddleDetection's `LetterBoxResize`."""
    ratio = min(op.height_px / height, op.width_px / width)
    new_height, new_width = round(height * ratio), round(width * ratio)
    top = round((op.height_px - new_height) / 2 - 0.1)
    left = round((op.width_px - new_width) / 2 - 0.1)
    return new_height, new_width, max(top, 0), max(left, 0)
