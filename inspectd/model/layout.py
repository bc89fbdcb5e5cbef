"""Which of a program's outputs is what, and how a batch of them is taken apart.

In shared memory and at the judge, the outputs of one frame have names of ours, whatever the
exporter called them: layout `scores` gives `boxes` float32 (A, 4) and `scores` float32 (C, A);
layout `found` gives `found` float32 (N, 6), rows of class, score, x1, y1, x2, y2. A frame that was
cut into T tiles has `boxes` (T, A, 4) and `scores` (T, C, A); `found` of all its tiles and `rows`
int64 (T,), how many of them each tile has.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from inspectd.errors import ModelFault
from inspectd.model.spec import Layout

__all__ = ["FOUND_ROWS_MAX", "layout_of", "raw_bytes_max", "split", "stack", "unstack"]

FOUND_ROWS_MAX = 2000
"""Most rows of one frame with NMS in the graph: exports keep 100 to 300 (`keep_top_k`)."""
_RAW_BYTES_DEFAULT = 4 << 20
"""For programs with a free number of anchors: 40 000 anchors of 20 classes."""
_FLOAT_BYTES = 4
_FOUND_COLUMNS = 6
_BOX_SIDES = 4
_WANTED = "give a detector that answers boxes and scores, or rows of 6 and their counts"

_Shape = tuple[int, ...]
_Array = npt.NDArray[Any]


def layout_of(file: str, outputs: Sequence[tuple[str, _Shape]]) -> Layout:
    """Tell by the shapes what the program answers; raises `ModelFault` when it is no detector."""
    shapes = [shape for _, shape in outputs]
    if len(shapes) >= 2:  # noqa: PLR2004  both layouts are pairs
        if _is_found(shapes[0]):
            return "found"
        if len(shapes[0]) == len(shapes[1]) == 3 and shapes[0][2] == _BOX_SIDES:  # noqa: PLR2004
            return "scores"
    listed = ", ".join(f"{name} {list(shape)}" for name, shape in outputs) or "nothing"
    raise ModelFault(file, "", f"answers {listed}", _WANTED)


def _is_found(shape: _Shape) -> bool:
    return len(shape) == 2 and shape[1] == _FOUND_COLUMNS  # noqa: PLR2004


def raw_bytes_max(layout: Layout, outputs: Sequence[tuple[str, _Shape]]) -> int:
    """Answer the upper limit of one frame's outputs in bytes."""
    if layout == "found":
        return FOUND_ROWS_MAX * _FOUND_COLUMNS * _FLOAT_BYTES
    sizes = [shape[1:] for _, shape in outputs[:2]]
    if any(side < 0 for shape in sizes for side in shape):
        return _RAW_BYTES_DEFAULT
    return sum(int(np.prod(shape)) * _FLOAT_BYTES for shape in sizes)


def split(layout: Layout, outputs: Sequence[_Array], batch: int) -> list[dict[str, _Array]]:
    """Take the outputs of a run apart, one mapping of views per frame, in batch order.

    Raises:
        ValueError: The outputs are not those of `batch` frames: nothing may be judged by them.
    """
    return _split_found(outputs, batch) if layout == "found" else _split_scores(outputs, batch)


def stack(layout: Layout, pieces: Sequence[Mapping[str, _Array]]) -> dict[str, _Array]:
    """Lay the outputs of a frame's tiles together, in their order."""
    if layout == "found":
        rows = np.array([len(piece["found"]) for piece in pieces], np.int64)
        return {"found": np.concatenate([piece["found"] for piece in pieces]), "rows": rows}
    return {name: np.stack([piece[name] for piece in pieces]) for name in ("boxes", "scores")}


def unstack(layout: Layout, raw: Mapping[str, _Array]) -> list[dict[str, _Array]]:
    """Take them apart again; views."""
    if layout == "found":
        parts = np.split(raw["found"], np.cumsum(raw["rows"])[:-1])
        return [{"found": part} for part in parts]
    pairs = zip(raw["boxes"], raw["scores"], strict=True)
    return [{"boxes": boxes, "scores": scores} for boxes, scores in pairs]


def _pair(outputs: Sequence[_Array]) -> tuple[_Array, _Array]:
    if len(outputs) < 2:  # noqa: PLR2004
        raise ValueError(f"{len(outputs)} outputs, expected 2")
    return np.asarray(outputs[0]), np.asarray(outputs[1])


def _split_scores(outputs: Sequence[_Array], batch: int) -> list[dict[str, _Array]]:
    boxes, scores = _pair(outputs)
    is_ranked = boxes.ndim == scores.ndim == 3  # noqa: PLR2004
    if not is_ranked or boxes.shape != (batch, scores.shape[2], 4) or len(scores) != batch:
        raise ValueError(
            f"boxes {boxes.shape} and scores {scores.shape} do not fit a batch of {batch}"
        )
    return [{"boxes": boxes[at], "scores": scores[at]} for at in range(batch)]


def _split_found(outputs: Sequence[_Array], batch: int) -> list[dict[str, _Array]]:
    rows, numbers = _pair(outputs)
    counts = numbers.reshape(-1).astype(np.int64)
    total = int(counts.sum())
    if rows.ndim != 2 or rows.shape[1] != _FOUND_COLUMNS:  # noqa: PLR2004
        raise ValueError(f"rows {rows.shape}, expected {_FOUND_COLUMNS} columns")
    if len(counts) != batch or counts.min(initial=0) < 0 or total > len(rows):
        raise ValueError(f"{len(rows)} rows with counts {counts.tolist()} for a batch of {batch}")
    if not (rows[total:, 0] < 0).all():
        raise ValueError(f"{len(rows)} rows, {total} of them belong to a frame")
    if counts.max(initial=0) > FOUND_ROWS_MAX:
        raise ValueError(f"{counts.max()} rows for one frame; the limit is {FOUND_ROWS_MAX}")
    ends = np.cumsum(counts)
    return [{"found": rows[end - count : end]} for count, end in zip(counts, ends, strict=True)]
