"""Fills a slot's tensor from its frame: the whole frame, or its tiles one after the other.

Per channel: one resize (none when the picture has the tensor's size), and one table look-up that
turns a grey value into its normalised float32 and writes it where the program will read it. All
buffers are made once.
"""

from inspectd.config.schema import Template
from inspectd.errors import FrameFault
from inspectd.model.canvas import Canvas
from inspectd.model.spec import ModelSpec
from inspectd.model.template import Templates
from inspectd.model.tiles import Tile, Tiling
from inspectd.ports import Pixels, Tensor

__all__ = ["Preparer"]


class Preparer:
    """Turns frames of one size into tensors of one model. Not for use by two threads."""

    def __init__(
        self,
        spec: ModelSpec,
        frame_shape: tuple[int, ...],
        template: Template | None = None,
        tiling: Tiling | None = None,
    ) -> None:
        """Make buffers and tables.

        Args:
            spec: The model.
            frame_shape: (height, width) of grey frames or (height, width, 3) of BGR frames.
            template: Where golden pictures lie; needed by models that want them.
            tiling: How the frame is cut; None: the whole frame is one picture.

        Raises:
            FrameFault: Such frames do not fit the model, or golden pictures are wanted and missing.
        """
        self._frame_shape = frame_shape
        height, width = frame_shape[:2]
        self._templates = _templates(spec, template, height, width)
        self._pieces: list[tuple[Tile, Canvas]] = []
        if tiling is not None:
            canvas = Canvas(spec, (*tiling.tile_size, *frame_shape[2:]))
            self._pieces = [(tile, canvas) for tile in tiling.tiles]
        if tiling is None or tiling.has_overview:
            self._pieces.append((Tile(0, 0, width, height), Canvas(spec, frame_shape)))

    def prepare(self, frame: Pixels, part_id: str, out: Tensor) -> None:
        """Write the tensor of `frame` into `out`.

        Args:
            frame: In the shape given at the start; colours blue, green, red.
            part_id: Names the golden picture, if the model wants one.
            out: float32 (channels, height, width), contiguous; overwritten completely. With tiles
                (pieces x channels, height, width), piece after piece.

        Raises:
            FrameFault: The frame has another shape, or its golden picture is not there.
        """
        if frame.shape != self._frame_shape:
            raise FrameFault(
                part_id or "frame",
                f"has shape {frame.shape}, the station says {self._frame_shape}",
                "correct `camera` of the station",
            )
        template = None if self._templates is None else self._templates.of(part_id)
        tensors = out.reshape(len(self._pieces), -1, *out.shape[1:])
        for (tile, canvas), tensor in zip(self._pieces, tensors, strict=True):
            golden = None if template is None else tile.of(template)
            canvas.lay(tile.of(frame), golden, tensor)


def _templates(
    spec: ModelSpec, template: Template | None, height: int, width: int
) -> Templates | None:
    if not spec.wants_template:
        return None
    if template is None:
        raise FrameFault(
            spec.config_path, "the model wants golden pictures", "give `template` at the station"
        )
    return Templates(template, height, width)
