"""Lays a picture of one size into a tensor, in as few passes as the model's steps allow.

Per channel: one resize (none when the frame has the tensor's size), and one table look-up that
turns a grey value into its normalised float32 and writes it where the program will read it. The
256 values of the table are computed exactly as PaddleDetection computes a pixel, so the tensor is
the same bit for bit. All buffers are made once.
"""

import cv2
import numpy as np
import numpy.typing as npt

from inspectd.model.geometry import Geometry
from inspectd.model.spec import LetterBox, ModelSpec, Normalize, Pad, Resize, TemplateChannels
from inspectd.ports import Pixels, Tensor

__all__ = ["Canvas"]

_GREY = 2
"""Dimensions of a picture without colours."""


class Canvas:
    """Turns pictures of one size into tensors of one model. Not for use by two threads."""

    def __init__(self, spec: ModelSpec, shape: tuple[int, ...]) -> None:
        """Make buffers and tables.

        Args:
            spec: The model.
            shape: (height, width) of grey pictures or (height, width, 3) of BGR pictures.

        Raises:
            FrameFault: Such pictures do not fit the model.
        """
        self._spec = spec
        height, width = shape[:2]
        self.geometry = Geometry.of(spec, height, width)
        self._channels = next(
            (op.channels for op in spec.ops if isinstance(op, TemplateChannels)), None
        )
        self._tables = _tables(spec)
        self._fill = _fills(spec)
        self._interpolation = _interpolation(spec)
        self._is_letterbox = any(isinstance(op, LetterBox) for op in spec.ops)
        place = self.geometry
        self._is_resized = (place.resized_height, place.resized_width) != (height, width)
        self._is_padded = (place.resized_height, place.resized_width) != spec.tensor_shape[1:]
        self._grey = np.empty((height, width), np.uint8)
        self._difference = np.empty((height, width), np.uint8)
        self._small = np.empty((place.resized_height, place.resized_width), np.uint8)
        self._small_colour = np.empty((*self._small.shape, 3), np.uint8)
        self._plane = np.empty(self._small.shape, np.uint8)
        self._floats = np.empty(self._small.shape, np.float32)

    def lay(self, picture: Pixels, template: Pixels | None, out: Tensor) -> None:
        """Write the tensor of `picture` into `out`.

        Args:
            picture: In the shape given at the start; colours blue, green, red.
            template: The golden picture, grey, for models that want one.
            out: float32 (channels, height, width), contiguous; overwritten completely.
        """
        if self._channels is not None:
            self._lay_grey(picture, template, out)
        elif picture.ndim == _GREY:
            plane = self._resize(picture, self._small)
            for channel in range(len(out)):
                self._lay(plane, channel, out)
        else:
            self._lay_colour(picture, out)

    def _lay_colour(self, frame: Pixels, out: Tensor) -> None:
        picture = self._resize(frame, self._small_colour)
        for channel in range(len(out)):
            source = 2 - channel if self._spec.colour == "rgb" else channel
            cv2.extractChannel(picture, source, self._plane)
            self._lay(self._plane, channel, out)

    def _lay_grey(self, picture: Pixels, template: Pixels | None, out: Tensor) -> None:
        grey = picture
        if picture.ndim != _GREY:
            cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY, self._grey)
            grey = self._grey
        planes = {"image": grey}
        if template is not None:
            cv2.absdiff(grey, template, self._difference)
            planes |= {"template": template, "absdiff": self._difference}
        for channel, name in enumerate(self._channels or ()):
            self._lay(self._resize(planes[name], self._small), channel, out)

    def _resize(self, picture: Pixels, into: Pixels) -> Pixels:
        """Answer the picture at its size within the tensor: itself when nothing is to be done."""
        if not self._is_resized:
            return picture
        place = self.geometry
        if self._is_letterbox:
            size = (place.resized_width, place.resized_height)
            cv2.resize(picture, size, into, interpolation=self._interpolation)
        else:
            # Told the ratio, not the size: with `keep_ratio` OpenCV then samples elsewhere.
            cv2.resize(
                picture, None, into, place.scale_x, place.scale_y, interpolation=self._interpolation
            )
        return into

    def _lay(self, plane: Pixels, channel: int, out: Tensor) -> None:
        """Write one plane through its table into its place in the tensor."""
        if not self._is_padded:
            cv2.LUT(plane, self._tables[channel], out[channel])
            return
        cv2.LUT(plane, self._tables[channel], self._floats)
        place = self.geometry
        bottom, right = place.top + place.resized_height, place.left + place.resized_width
        out[channel].fill(self._tables[channel][self._fill[channel]])
        out[channel, place.top : bottom, place.left : right] = self._floats


def _tables(spec: ModelSpec) -> npt.NDArray[np.float32]:
    """Answer what each grey value becomes: float32 (channels, 256).

    The order of roundings is that of PaddleDetection's `NormalizeImage`: the product in float32,
    difference and quotient in double precision, each rounded to float32.
    """
    grey = np.arange(256, dtype=np.float32)
    tables = np.repeat(grey[None], spec.tensor_shape[0], axis=0)
    for op in spec.ops:
        if not isinstance(op, Normalize):
            continue
        if op.is_scale:
            tables *= np.float32(1.0 / 255.0)
        tables -= np.array(op.mean)[:, None]
        tables /= np.array(op.std)[:, None]
    return np.ascontiguousarray(tables)


def _fills(spec: ModelSpec) -> tuple[int, ...]:
    """Answer the border's grey value for each channel."""
    for op in spec.ops:
        if isinstance(op, Pad):
            return op.fill
        if isinstance(op, LetterBox):
            return (op.fill,) * spec.tensor_shape[0]
    return (0,) * spec.tensor_shape[0]


def _interpolation(spec: ModelSpec) -> int:
    for op in spec.ops:
        if isinstance(op, Resize):
            return op.interpolation
        if isinstance(op, LetterBox):
            return int(cv2.INTER_AREA)
    return int(cv2.INTER_LINEAR)
