"""How good the detections of a run were: those that came through the running line, as recorded."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from inspectd.coco import Labels
from inspectd.config.recipes import every_rule
from inspectd.config.schema import EachHasRule, Rule, Station
from inspectd.errors import UsageFault
from inspectd.record.labels import image_of
from inspectd.record.reading import Part
from inspectd.scoring import Scores, score_detections

__all__ = ["scored", "threshold_of"]


def scored(
    parts: Iterable[Part], labels: Labels, station: Station, min_score: float
) -> dict[str, Any]:
    """Score the recorded boxes of each picture's first pass against its labels.

    Pictures that were made worse, or never judged, do not take part.

    Args:
        parts: With their detail.
        labels: Of the station's camera.
        station: Its rules give the threshold of false calls and escapes.
        min_score: From which on detections were recorded: average precision is cut off there.

    Returns:
        The measures, or `error` when they cannot be had (pycocotools is not installed).
    """
    boxes: dict[int, list[dict[str, Any]]] = {}
    foreign = 0
    for part in parts:
        detail = json.loads(part.detail)
        image_id = image_of(labels, detail)
        if image_id is None or image_id in boxes or detail.get("degraded"):
            continue
        if "detections" not in detail:
            continue
        rows = detail["detections"]
        known = [row for row in rows if row[0] in labels.category_ids]
        foreign += len(rows) - len(known)
        boxes[image_id] = [_as_coco(row, image_id, labels.category_ids) for row in known]
    if not boxes:
        return {"error": "no labelled picture was judged as it is"}
    threshold = threshold_of(rule for _, rule in every_rule(station))
    flat = [row for rows in boxes.values() for row in rows]
    try:
        scores = score_detections(labels.path, flat, threshold, image_ids=boxes)
    except UsageFault as fault:
        return {"error": str(fault)}
    return {**_as_dict(scores), "recorded_from_score": min_score, "foreign_labels": foreign}


def threshold_of(rules: Iterable[Rule]) -> float:
    """The lowest score that counts for any rule: from there on a detection is a call."""
    wanted = tuple(rules)
    limits = [rule.min_score for rule in wanted]
    limits += [rule.needs_min_score for rule in wanted if isinstance(rule, EachHasRule)]
    return min(limits)


def _as_coco(
    row: tuple[str, float, float, float, float, float],
    image_id: int,
    category_ids: Mapping[str, int],
) -> dict[str, Any]:
    label, score, x1, y1, x2, y2 = row
    return {
        "image_id": image_id,
        "category_id": category_ids[label],
        "bbox": [x1, y1, x2 - x1, y2 - y1],
        "score": score,
    }


def _as_dict(scores: Scores) -> dict[str, Any]:
    """The measures as plain values; the boards by file name."""
    boards = max(len(scores.boards), 1)
    best = scores.best
    return {
        "images": scores.images,
        "ap50": round(scores.ap50, 4),
        "ap50_95": round(scores.ap50_95, 4),
        "ap50_by_class": {name: round(ap, 4) for name, ap in scores.ap50_by_class.items()},
        "ap33_by_class": {name: round(ap, 4) for name, ap in scores.ap33_by_class.items()},
        "threshold": scores.threshold,
        "match_iou": scores.match_iou,
        "false_calls": scores.false_calls,
        "false_calls_per_board": round(scores.false_calls / boards, 4),
        "escapes": scores.escapes,
        "escapes_per_board": round(scores.escapes / boards, 4),
        "best_f": {
            "threshold": round(best.threshold, 4),
            "f_score": round(best.f_score, 4),
            "precision": round(best.precision, 4),
            "recall": round(best.recall, 4),
        },
        "boards": [
            {
                "file_name": board.file_name,
                "labelled": board.labelled,
                "found": board.found,
                "false_calls": board.false_calls,
                "escapes": board.escapes,
            }
            for board in scores.boards
        ],
    }
