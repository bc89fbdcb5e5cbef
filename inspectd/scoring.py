"""How good detections are, measured against labels.

Two kinds of answer stand side by side: average precision (all thresholds at once, for comparing
models) and counts at one threshold (what the line would have done). AP is computed by pycocotools
(optional dependency `train`); the counts and the threshold search are plain Python.
"""

import contextlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspectd.errors import UsageFault

__all__ = [
    "LOOSE_IOU",
    "BestF",
    "Board",
    "Scores",
    "best_threshold",
    "count_calls",
    "score_detections",
]

_Box = tuple[float, float, float, float]

LOOSE_IOU = 0.33
"""Overlap at which DeepPCB's publisher calls a detection right (its README and script.py)."""


@dataclass(frozen=True, slots=True)
class Board:
    """What happened on one board (one picture) at one score threshold."""

    image_id: int
    file_name: str
    labelled: int
    """Boxes in the labels."""
    found: int
    """Labelled boxes that a detection of their class overlaps enough; one detection finds one."""
    false_calls: int
    """Detections that found nothing. A right box of the wrong class is one, and an escape too."""

    @property
    def escapes(self) -> int:
        """Labelled boxes that nothing found."""
        return self.labelled - self.found


@dataclass(frozen=True, slots=True)
class BestF:
    """The score threshold with the largest F-score over all boxes, classes pooled."""

    threshold: float
    f_score: float
    precision: float
    recall: float


@dataclass(frozen=True, slots=True)
class Scores:
    """All measures of one set of detections. Averages are 0..1; -1 where no label exists."""

    images: int
    ap50: float
    """Mean over classes, IoU 0.5 (COCO)."""
    ap50_95: float
    """Mean over classes and IoU 0.5 to 0.95 in steps of 0.05 (COCO)."""
    ap50_by_class: Mapping[str, float]
    ap33_by_class: Mapping[str, float]
    """At IoU 0.33, the DeepPCB publisher's overlap, interpolated as COCO does."""
    threshold: float
    """Score at or above which a detection counts in `boards`."""
    match_iou: float
    """Overlap from which a detection finds a labelled box in `boards` and `best`."""
    boards: tuple[Board, ...]
    """One per image of the labels, in their order."""
    best: BestF

    @property
    def false_calls(self) -> int:
        """Detections at `threshold` that found nothing, all boards."""
        return sum(board.false_calls for board in self.boards)

    @property
    def escapes(self) -> int:
        """Labelled boxes that nothing at `threshold` found, all boards."""
        return sum(board.escapes for board in self.boards)

    def report(self) -> str:
        """Answer the scores as text for a person, one measure a line."""
        count = max(len(self.boards), 1)
        called = (
            f"at score {self.threshold:.2f}, IoU {self.match_iou:.2f}: "
            f"{self.false_calls} false calls ({self.false_calls / count:.3f} a board), "
            f"{self.escapes} escapes ({self.escapes / count:.3f} a board)"
        )
        best = (
            f"best F {self.best.f_score:.4f} at score {self.best.threshold:.3f} "
            f"(precision {self.best.precision:.4f}, recall {self.best.recall:.4f})"
        )
        lines = [
            f"images {self.images}",
            f"AP50 {self.ap50:.4f}  AP50:95 {self.ap50_95:.4f}",
            "class                AP50    AP33",
            *(
                f"{name:<18} {self.ap50_by_class[name]:>7.4f} {self.ap33_by_class[name]:>7.4f}"
                for name in self.ap50_by_class
            ),
            called,
            best,
        ]
        return "\n".join(lines)


def score_detections(
    labels: Path,
    detections: Sequence[Mapping[str, Any]],
    threshold: float = 0.5,
    match_iou: float = LOOSE_IOU,
    image_ids: Iterable[int] | None = None,
) -> Scores:
    """Measure `detections` against a COCO label file.

    Args:
        labels: COCO JSON with boxes.
        detections: One mapping each: `image_id`, `category_id`, `bbox` (x, y, width, height in
            frame pixels), `score` 0..1. Any order; give low scores too, for average precision.
        threshold: Score at or above which a detection counts as a call.
        match_iou: Overlap from which a call finds a labelled box of its class.
        image_ids: Only these images count; all of the file when not given.

    Raises:
        UsageFault: the label file is missing or no COCO JSON, a detection names an unknown image or
            category, or pycocotools is not installed.
    """
    coco = _read(labels)
    wanted = {i["id"] for i in coco["images"]} if image_ids is None else set(image_ids)
    _refuse_strangers(coco, detections, str(labels))
    mine = [d for d in detections if d["image_id"] in wanted]
    names = {row["id"]: row["name"] for row in coco["categories"]}
    strict = _precision(labels, mine, sorted(wanted), [0.5 + 0.05 * step for step in range(10)])
    loose = _precision(labels, mine, sorted(wanted), [LOOSE_IOU])
    return Scores(
        images=len(wanted),
        ap50=_mean(rows[0] for rows in strict.values()),
        ap50_95=_mean(_mean(rows) for rows in strict.values()),
        ap50_by_class={names[key]: rows[0] for key, rows in strict.items()},
        ap33_by_class={names[key]: rows[0] for key, rows in loose.items()},
        threshold=threshold,
        match_iou=match_iou,
        boards=count_calls(coco, mine, threshold, match_iou, wanted),
        best=best_threshold(coco, mine, match_iou, wanted),
    )


def count_calls(
    coco: Mapping[str, Any],
    detections: Sequence[Mapping[str, Any]],
    threshold: float,
    match_iou: float = LOOSE_IOU,
    image_ids: Iterable[int] | None = None,
) -> tuple[Board, ...]:
    """Count found boxes, false calls and escapes of each board at one threshold.

    `coco` is the parsed label file. Detections are matched best score first, each to the free
    labelled box of its class that it overlaps most.
    """
    wanted = None if image_ids is None else set(image_ids)
    hits = _hits(coco, [d for d in detections if d["score"] >= threshold], match_iou)
    labelled = _group(coco["annotations"])
    boards = []
    for image in coco["images"]:
        if wanted is not None and image["id"] not in wanted:
            continue
        outcomes = [hit for _, hit in hits.get(image["id"], [])]
        boards.append(
            Board(
                image_id=image["id"],
                file_name=image["file_name"],
                labelled=len(labelled.get(image["id"], [])),
                found=sum(outcomes),
                false_calls=len(outcomes) - sum(outcomes),
            )
        )
    return tuple(boards)


def best_threshold(
    coco: Mapping[str, Any],
    detections: Sequence[Mapping[str, Any]],
    match_iou: float = LOOSE_IOU,
    image_ids: Iterable[int] | None = None,
) -> BestF:
    """Find the score threshold with the largest F = 2PR / (P + R).

    Best-score-first matching makes this one pass: lowering the threshold never undoes a match.
    """
    wanted = {i["id"] for i in coco["images"]} if image_ids is None else set(image_ids)
    total = sum(1 for row in coco["annotations"] if row["image_id"] in wanted)
    mine = [d for d in detections if d["image_id"] in wanted]
    scored = sorted(
        (pair for rows in _hits(coco, mine, match_iou).values() for pair in rows),
        key=lambda pair: -pair[0],
    )
    best = BestF(1.0, 0.0, 0.0, 0.0)
    right = 0
    for count, (score, hit) in enumerate(scored, start=1):
        right += hit
        is_last_of_score = count == len(scored) or scored[count][0] < score
        f_score = 2 * right / (count + total) if count + total else 0.0
        if is_last_of_score and f_score > best.f_score:
            best = BestF(score, f_score, right / count, right / total)
    return best


def _hits(
    coco: Mapping[str, Any], detections: Iterable[Mapping[str, Any]], match_iou: float
) -> dict[int, list[tuple[float, bool]]]:
    """Answer (score, found a label) of every detection, by image, best score first."""
    labelled = _group(coco["annotations"])
    answer: dict[int, list[tuple[float, bool]]] = {}
    for image_id, rows in _group(detections).items():
        free = list(labelled.get(image_id, []))
        outcomes = []
        for row in sorted(rows, key=lambda item: -float(item["score"])):
            rivals = [(_iou(row["bbox"], label["bbox"]), index)
                      for index, label in enumerate(free)
                      if label["category_id"] == row["category_id"]]  # fmt: skip
            overlap, index = max(rivals, default=(0.0, -1))
            hit = index >= 0 and overlap > match_iou
            if hit:
                del free[index]
            outcomes.append((float(row["score"]), hit))
        answer[image_id] = outcomes
    return answer


def _group(rows: Iterable[Mapping[str, Any]]) -> dict[int, list[Mapping[str, Any]]]:
    grouped: dict[int, list[Mapping[str, Any]]] = {}
    for row in rows:
        grouped.setdefault(row["image_id"], []).append(row)
    return grouped


def _iou(a: _Box, b: _Box) -> float:
    across = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    down = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    inter = max(across, 0.0) * max(down, 0.0)
    return inter / max(a[2] * a[3] + b[2] * b[3] - inter, 1e-9)


def _mean(values: Iterable[float]) -> float:
    real = [value for value in values if value >= 0]
    return sum(real) / len(real) if real else -1.0


def _read(labels: Path) -> dict[str, Any]:
    try:
        coco = json.loads(labels.read_text())
    except OSError as fault:
        raise UsageFault("labels cannot be read", str(labels), "give a COCO JSON file") from fault
    except ValueError as fault:
        raise UsageFault(f"not JSON ({fault})", str(labels), "export the labels again") from fault
    for part in ("images", "annotations", "categories"):
        if not isinstance(coco, dict) or not isinstance(coco.get(part), list):
            raise UsageFault(f"no list `{part}`", str(labels), "give a COCO JSON file")
    return dict(coco)


def _refuse_strangers(
    coco: Mapping[str, Any], detections: Iterable[Mapping[str, Any]], where: str
) -> None:
    known = {
        "image_id": {row["id"] for row in coco["images"]},
        "category_id": {row["id"] for row in coco["categories"]},
    }
    for row in detections:
        for key, ids in known.items():
            if row[key] not in ids:
                raise UsageFault(
                    f"a detection has the unknown {key} {row[key]}",
                    where,
                    "use the ids of the labels",
                )


def _precision(
    labels: Path, detections: Sequence[Mapping[str, Any]], images: list[int], overlaps: list[float]
) -> dict[int, list[float]]:
    """Answer AP by category id, one value for each of `overlaps`; -1 where there is no label."""
    try:
        import numpy as np  # noqa: PLC0415  not needed for counting
        from pycocotools.coco import COCO  # noqa: PLC0415  optional dependency
        from pycocotools.cocoeval import COCOeval  # noqa: PLC0415
    except ImportError as fault:
        raise UsageFault(
            "pycocotools is not installed", "scoring", "pip install 'inspectd[train]'"
        ) from fault
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO(str(labels))
        truth.dataset.setdefault("info", {})
        categories = sorted(truth.getCatIds())
        if not detections:
            used = {truth.anns[key]["category_id"] for key in truth.getAnnIds(imgIds=images)}
            return {c: [0.0 if c in used else -1.0] * len(overlaps) for c in categories}
        judge = COCOeval(truth, truth.loadRes([dict(d) for d in detections]), "bbox")
        judge.params.imgIds = images
        judge.params.iouThrs = np.array(overlaps)
        judge.evaluate()
        judge.accumulate()
    table = judge.eval["precision"]  # IoU, recall, category, area, detections per image
    return {
        category: [_column_mean(table[step, :, place, 0, -1]) for step in range(len(overlaps))]
        for place, category in enumerate(categories)
    }


def _column_mean(column: Any) -> float:
    """Answer the mean precision over recalls; pycocotools writes -1 where no label exists."""
    return float(column.mean()) if column[0] > -1 else -1.0
