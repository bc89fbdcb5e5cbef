"""Raw outputs of one frame to detections in frame pixels, without a loop over boxes.

The best boxes are picked first, and suppression goes from survivor to survivor, so that its work is
bounded by `keep_top_k`. Ties are settled by the box's place in the output: equal inputs give equal
answers on every machine.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from inspectd.errors import ModelFault
from inspectd.frame import Detection
from inspectd.model.geometry import Geometry
from inspectd.model.layout import unstack
from inspectd.model.seams import merge
from inspectd.model.spec import ModelSpec, Nms
from inspectd.model.tiles import Tiling

__all__ = ["decode", "decode_tiles", "suppress"]

_Floats = npt.NDArray[np.float32]
_Index = npt.NDArray[np.intp]


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
    geometry = Geometry.of(spec, frame_height, frame_width)
    boxes, scores, classes = _found(raw) if spec.layout == "found" else _selected(spec, raw)
    boxes = geometry.to_frame(boxes, is_scaled=spec.is_in_frame_pixels)
    keep = geometry.is_inside(boxes)
    boxes, scores, classes = geometry.clip(boxes[keep]), scores[keep], classes[keep]
    return [
        Detection(spec.labels[number], score, *sides)
        for number, score, sides in zip(
            classes.tolist(), scores.tolist(), boxes.tolist(), strict=True
        )
    ]


def decode_tiles(
    spec: ModelSpec, raw: Mapping[str, npt.NDArray[Any]], tiling: Tiling
) -> list[Detection]:
    """Answer what the model found in a frame that was cut, best score first; see `decode`.

    Args:
        spec: The model.
        raw: Outputs of all pieces, as `inspectd.model.layout.stack` lays them together.
        tiling: How the frame was cut.
    """
    found = []
    for piece, outputs in zip(tiling.pieces, unstack(spec.layout, raw), strict=True):
        inside = decode(spec, outputs, piece.x2 - piece.x1, piece.y2 - piece.y1)
        found.append([_moved(one, piece.x1, piece.y1) for one in inside])
    return merge(tiling, found, is_agnostic=spec.nms.class_agnostic)


def _moved(one: Detection, x: int, y: int) -> Detection:
    return Detection(one.label, one.score, one.x1 + x, one.y1 + y, one.x2 + x, one.y2 + y)


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


def _found(raw: Mapping[str, npt.NDArray[Any]]) -> tuple[_Floats, _Floats, _Index]:
    """Sort the rows of a program that suppressed already; class -1 fills up an empty answer."""
    rows = raw["found"]
    rows = rows[rows[:, 0] >= 0]
    rows = rows[np.argsort(-rows[:, 1], kind="stable")]
    return rows[:, 2:6], rows[:, 1], rows[:, 0].astype(np.intp)


def _selected(
    spec: ModelSpec, raw: Mapping[str, npt.NDArray[Any]]
) -> tuple[_Floats, _Floats, _Index]:
    """Suppress in the program's own pixels (shares of areas are the same in all)."""
    boxes, scores = raw["boxes"], raw["scores"]
    anchors, classes = suppress(boxes, scores, spec.nms)
    return boxes[anchors], scores[classes, anchors], classes


def suppress(boxes: _Floats, scores: _Floats, nms: Nms) -> tuple[_Index, _Index]:
    """Choose boxes by score, dropping those that overlap a better one.

    Boxes without area overlap nothing, as in Paddle's `multiclass_nms3`.

    Args:
        boxes: float32 (A, 4), x1 y1 x2 y2, finite.
        scores: float32 (C, A), finite.
        nms: Limits; `class_agnostic` gives each anchor its best class only.

    Returns:
        Numbers of the chosen anchors and of their classes, best score first; equal scores in the
        order of class, then anchor.
    """
    classes, anchors = _candidates(scores, nms)
    rivals = np.zeros_like(classes) if nms.class_agnostic else classes
    limit = len(anchors) if nms.keep_top_k < 0 else nms.keep_top_k
    keep = _survivors(boxes[anchors].astype(np.float64), rivals, nms.iou_threshold, limit)
    return anchors[keep], classes[keep]


def _candidates(scores: _Floats, nms: Nms) -> tuple[_Index, _Index]:
    """Answer (class, anchor) pairs above the score limit, best first, at most `top_k` a class."""
    eligible = scores > nms.score_threshold
    if nms.class_agnostic:
        best = np.argmax(scores, axis=0)
        eligible &= np.arange(len(scores))[:, None] == best[None, :]
    classes, anchors = np.nonzero(eligible)
    order = np.argsort(-scores[classes, anchors], kind="stable")
    classes, anchors = classes[order], anchors[order]
    if nms.top_k < 0:
        return classes, anchors
    groups = np.zeros_like(classes) if nms.class_agnostic else classes
    within = _rank_within(groups) < nms.top_k
    return classes[within], anchors[within]


def _rank_within(groups: _Index) -> _Index:
    """Answer for each entry how many of its group stand before it."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return ranks


def _survivors(
    boxes: npt.NDArray[np.float64], groups: _Index, iou_threshold: float, limit: int
) -> _Index:
    """Answer the numbers of the first `limit` boxes that no better survivor of their group covers.

    `boxes` (N, 4) come best first. The loop runs over survivors: each strikes out, at one stroke,
    all boxes behind it that it covers.
    """
    x1, y1, x2, y2 = np.ascontiguousarray(boxes.T)
    area = np.clip(x2 - x1, 0, None) * np.clip(y2 - y1, 0, None)
    alive = np.ones(len(boxes), np.bool_)
    kept: list[int] = []
    while alive.any() and len(kept) < limit:
        at = int(alive.argmax())
        kept.append(at)
        alive[at] = False
        shared = np.clip(np.minimum(x2, x2[at]) - np.maximum(x1, x1[at]), 0, None)
        shared *= np.clip(np.minimum(y2, y2[at]) - np.maximum(y1, y1[at]), 0, None)
        covered = shared > iou_threshold * (area + area[at] - shared)
        alive &= ~(covered & (groups == groups[at]))
    return np.array(kept, np.intp)
