"""Pictures for the calibration of int8: which, in what order, as batches, and their digest."""

import hashlib
from collections.abc import Iterator, Mapping
from itertools import cycle, islice
from pathlib import Path

import numpy as np

from inspectd.config.diskrules import pictures_in
from inspectd.config.schema import Template, Tiles
from inspectd.errors import EngineRefused, FrameFault
from inspectd.model.geometry import Geometry
from inspectd.model.prepare import Preparer
from inspectd.model.spec import ModelSpec
from inspectd.model.tiles import Tile, Tiling
from inspectd.ports import Pixels
from inspectd.stages.infer.engine import Batch
from inspectd.stages.infer.look import read_picture

__all__ = ["Pictures"]

_DIGEST_DIGITS = 16


class Pictures:
    """A folder of pictures for one model, laid out as a station does it."""

    def __init__(
        self,
        spec: ModelSpec,
        folder: str,
        template: Template | None = None,
        tiles: Tiles | None = None,
    ) -> None:
        """Name the folder; pictures are read when they are wanted.

        Args:
            spec: the model.
            folder: of the pictures; their names without ending are the part's names.
            template: golden pictures, for models that want them.
            tiles: how the station cuts its frames, if it does.
        """
        self._spec, self._template, self._tiles = spec, template, tiles
        self.paths = tuple(pictures_in(folder))

    def digest(self) -> str:
        """SHA-256 over names and contents, in order of names; first 16 hex digits."""
        digest = hashlib.sha256()
        for path in self.paths:
            content = path.read_bytes()
            digest.update(f"{path.name}:{len(content)}:".encode())
            digest.update(content)
        return digest.hexdigest()[:_DIGEST_DIGITS]

    def batches(self, size: int) -> Iterator[Mapping[str, Batch]]:
        """The inputs of one run after the other, each of `size`; the last fills up from the front.

        Raises:
            EngineRefused: a picture cannot be used.
        """
        inputs = (one for path in self.paths for one in self._inputs(path))
        while batch := list(islice(inputs, size)):
            full = list(islice(cycle(batch), size))
            yield {name: np.stack([one[name] for one in full]) for name in full[0]}

    def _inputs(self, path: Path) -> list[dict[str, Batch]]:
        """All inputs of a picture, by name; one mapping for each of its tiles."""
        try:
            return self._laid(read_picture(path, is_grey=self._spec.wants_template), path.stem)
        except FrameFault as fault:
            what = f"it cannot be calibrated: {fault}"
            raise EngineRefused(self._spec.name, what, "take the picture out") from fault

    def _laid(self, picture: Pixels, part_id: str) -> list[dict[str, Batch]]:
        height, width = picture.shape[:2]
        tiling = None if self._tiles is None else Tiling.of(self._tiles, width, height)
        pieces = (Tile(0, 0, width, height),) if tiling is None else tiling.pieces
        channels, *sides = self._spec.tensor_shape
        tensor = np.zeros((len(pieces) * channels, *sides), np.float32)
        Preparer(self._spec, picture.shape, self._template, tiling).prepare(
            picture, part_id, tensor
        )
        each = tensor.reshape(len(pieces), channels, *sides)
        return [
            {
                "image": each[at],
                **Geometry.of(self._spec, one.y2 - one.y1, one.x2 - one.x1).side_inputs(),
            }
            for at, one in enumerate(pieces)
        ]
