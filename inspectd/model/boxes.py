"""Raw outputs of one frame to detections in frame pixels, without a loop over boxes.

Checked first: outputs that a model of this directory cannot have given must not pass as "nothing
found". Overlapping boxes are thinned out by `inspectd.model.nms` where the program did not do it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from inspectd.errors import ModelFault
from inspectd.frame import Detection
from inspectd.model.geometry import Geometry
from inspectd.model.layout import unstack
from inspectd.model.nms import suppress_batch
from inspectd.model.seams import merge
from inspectd.model.spec import ModelSpec
from inspectd.model.tiles import Tile, Tiling

__all__ = ["decode", "decode_tiles"]

_Floats = npt.NDArray[np.float32]
_Boxes = tuple[_Floats, _Floats, npt.NDArray[np.intp]]
"""Boxes (N, 4), scores (N,) and class numbers (N,) of one picture."""


def decode(
    spec: ModelSpec, raw: Mapping[str, npt.NDArray[Any]], frame_width: int, frame_height: int
) -> list[Detection]:
    """Answer what the model found in one frame, best score first.

    Args:
        spec: The model.
        raw: Outputs of one frame, named as in `inspectd.model.layout`.
        frame_width: Pixels.
        frame_height: Pixels.

    Returns:
        Detections in frame pixels, cut at the frame's edges; those that lie in the tensor's border
        only are left out.

    Raises:
        ModelFault: Outputs are missing, of another shape, not finite, or name a class that the
            model's file does not have. Such a frame must not pass as empty.
    """
    _check(spec, raw)
    [chosen] = _chosen(spec, [raw])
    return _placed(spec, chosen, Tile(0, 0, frame_width, frame_height))


def decode_tiles(
    spec: ModelSpec, raw: Mapping[str, npt.NDArray[Any]], tiling: Tiling
) -> list[Detection]:
    """Answer what the model found in a frame that was cut, best score first; see `decode`.

    Args:
        spec: The model.
        raw: Outputs of all pieces, as `inspectd.model.layout.stack` lays them together.
        tiling: How the frame was cut.
    """
    pieces = unstack(spec.layout, raw)
    for piece in pieces:
        _check(spec, piece)
    chosen = _chosen(spec, pieces)
    found = [_placed(spec, one, tile) for one, tile in zip(chosen, tiling.pieces, strict=True)]
    limits = spec.nms
    return merge(
        tiling,
        found,
        iou_threshold=limits.iou_threshold,
        is_agnostic=limits.class_agnostic,
    )


def _placed(spec: ModelSpec, chosen: _Boxes, tile: Tile) -> list[Detection]:
    """The chosen boxes of one picture as detections in frame pixels."""
    boxes, scores, classes = chosen
    geometry = Geometry.of(spec, tile.y2 - tile.y1, tile.x2 - tile.x1)
    boxes = geometry.to_frame(boxes, is_scaled=spec.is_in_frame_pixels)
    keep = geometry.is_inside(boxes)
    boxes, scores, classes = geometry.clip(boxes[keep]), scores[keep], classes[keep]
    boxes += np.array([tile.x1, tile.y1] * 2, np.float32)
    return [
        Detection(spec.labels[number], score, *sides)
        for number, score, sides in zip(
            classes.tolist(), scores.tolist(), boxes.tolist(), strict=True
        )
    ]


def _check(spec: ModelSpec, raw: Mapping[str, npt.NDArray[Any]]) -> None:
    """Raise for outputs that this model cannot have given."""
    shapes = {name: values.shape for name, values in raw.items()}
    anchors = shapes.get("boxes", (0,))[0]
    wanted = {"boxes": (anchors, 4), "scores": (len(spec.labels), anchors)}
    if spec.layout == "found":
        wanted = {"found": (shapes.get("found", (0,))[0], 6)}
    if shapes != wanted:
        raise _fault(spec, f"answered {shapes}, expected {wanted}")
    for name, values in raw.items():
        bad = int(np.size(values) - np.count_nonzero(np.isfinite(values)))
        if bad:
            raise _fault(spec, f"answered {bad} values in `{name}` that are not finite")
    if spec.layout == "found" and not (raw["found"][:, 0] < len(spec.labels)).all():
        number = int(raw["found"][:, 0].max())
        raise _fault(spec, f"found class {number}, its file has {len(spec.labels)} labels")


def _fault(spec: ModelSpec, what: str) -> ModelFault:
    return ModelFault(spec.path, "", f"the program {what}", "export program and file together")


def _chosen(spec: ModelSpec, pictures: Sequence[Mapping[str, npt.NDArray[Any]]]) -> list[_Boxes]:
    """Boxes, scores and classes of each picture, best first, in the program's own pixels.

    Shares of areas are the same in all pixels, so suppression comes before the way back.
    """
    if spec.layout == "found":
        return [_found(raw["found"]) for raw in pictures]
    boxes = np.stack([raw["boxes"] for raw in pictures])
    scores = np.stack([raw["scores"] for raw in pictures])
    return [
        (boxes[at, anchors], scores[at, classes, anchors], classes)
        for at, (anchors, classes) in enumerate(suppress_batch(boxes, scores, spec.nms))
    ]


def _found(rows: npt.NDArray[Any]) -> _Boxes:
    """Sort the rows of a program that suppressed already; class -1 fills up an empty answer."""
    rows = rows[rows[:, 0] >= 0]
    rows = rows[np.argsort(-rows[:, 1], kind="stable")]
    return rows[:, 2:6], rows[:, 1], rows[:, 0].astype(np.intp)
