"""How good detections are, measured against labels."""

import json
from pathlib import Path
from typing import Any

import pytest

from inspectd.errors import UsageFault
from inspectd.scoring import best_threshold, count_calls, score_detections

COCO: dict[str, Any] = {
    "images": [
        {"id": 1, "file_name": "a.jpg", "width": 100, "height": 100},
        {"id": 2, "file_name": "b.jpg", "width": 100, "height": 100},
    ],
    "categories": [{"id": 1, "name": "open"}, {"id": 2, "name": "short"}],
    "annotations": [
        {"id": 1, "image_id": 1, "category_id": 1, "bbox": [10, 10, 20, 20], "area": 400},
        {"id": 2, "image_id": 1, "category_id": 2, "bbox": [60, 60, 20, 20], "area": 400},
        {"id": 3, "image_id": 2, "category_id": 1, "bbox": [10, 10, 20, 20], "area": 400},
    ],
}
for _row in COCO["annotations"]:
    _row["iscrowd"] = 0


def _call(image: int, category: int, box: list[float], score: float) -> dict[str, Any]:
    return {"image_id": image, "category_id": category, "bbox": box, "score": score}


PERFECT = [
    _call(row["image_id"], row["category_id"], row["bbox"], 0.9) for row in COCO["annotations"]
]


@pytest.fixture(name="labels")
def _labels(tmp_path: Path) -> Path:
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps(COCO))
    return path


def test_right_detections_have_no_false_calls_and_no_escapes() -> None:
    """Every label found once, nothing else called."""
    boards = count_calls(COCO, PERFECT, threshold=0.5)
    assert [(b.file_name, b.labelled, b.found, b.false_calls) for b in boards] == [
        ("a.jpg", 2, 2, 0),
        ("b.jpg", 1, 1, 0),
    ]


def test_a_double_is_a_false_call_and_a_miss_an_escape() -> None:
    """One detection finds one label; the second on the same label found nothing."""
    double = _call(1, 1, [11, 11, 20, 20], 0.8)
    first, second = count_calls(COCO, [*PERFECT[:2], double], threshold=0.5)
    assert (first.false_calls, first.escapes) == (1, 0)
    assert (second.false_calls, second.escapes) == (0, 1)


def test_a_wrong_class_is_a_false_call_and_an_escape() -> None:
    """The right place with the wrong name does not count."""
    (board, _) = count_calls(COCO, [_call(1, 2, [10, 10, 20, 20], 0.9)], threshold=0.5)
    assert (board.found, board.false_calls, board.escapes) == (0, 1, 2)


def test_a_score_at_the_threshold_counts_and_below_does_not() -> None:
    """At or above is a call."""
    calls = [_call(2, 1, [10, 10, 20, 20], 0.5)]
    assert count_calls(COCO, calls, threshold=0.5)[1].found == 1
    assert count_calls(COCO, calls, threshold=0.51)[1].found == 0


def test_the_overlap_must_exceed_the_limit() -> None:
    """Publisher's rule: IoU larger than 0.33; half a box to the side is exactly one third."""
    calls = [_call(2, 1, [20, 10, 20, 20], 0.9)]
    assert count_calls(COCO, calls, 0.5, match_iou=0.33)[1].found == 1
    assert count_calls(COCO, calls, 0.5, match_iou=0.34)[1].found == 0


def test_only_the_asked_images_count() -> None:
    """A held-out part is scored by itself."""
    assert [b.image_id for b in count_calls(COCO, PERFECT, 0.5, image_ids=[2])] == [2]


def test_the_best_threshold_keeps_hits_and_drops_false_calls() -> None:
    """Two hits at 0.9, a false call at 0.6, a hit at 0.4: F is 0.8 at 0.9 and 6/7 at 0.4."""
    calls = [*PERFECT[:2], _call(2, 2, [50, 50, 9, 9], 0.6), _call(2, 1, [10, 10, 20, 20], 0.4)]
    best = best_threshold(COCO, calls)
    assert best.threshold == 0.4
    assert best.f_score == pytest.approx(6 / 7)
    assert best.precision == pytest.approx(3 / 4)
    assert best.recall == 1.0


def test_equal_scores_are_taken_together() -> None:
    """A threshold cannot pass between two equal scores."""
    calls = [PERFECT[0], _call(1, 1, [70, 10, 9, 9], 0.9)]
    assert best_threshold(COCO, calls).precision == 0.5


def test_nothing_detected_scores_nothing() -> None:
    """No division by zero."""
    best = best_threshold(COCO, [])
    assert (best.f_score, best.recall) == (0.0, 0.0)


@pytest.mark.slow
def test_perfect_detections_have_perfect_averages(labels: Path) -> None:
    """AP is 1 at every overlap, per class and overall; the report says so."""
    pytest.importorskip("pycocotools")
    scores = score_detections(labels, PERFECT)
    assert scores.ap50 == pytest.approx(1.0)
    assert scores.ap50_95 == pytest.approx(1.0)
    assert scores.ap50_by_class == pytest.approx({"open": 1.0, "short": 1.0})
    assert scores.ap33_by_class == pytest.approx({"open": 1.0, "short": 1.0})
    assert (scores.false_calls, scores.escapes) == (0, 0)
    assert "AP50 1.0000" in scores.report()


@pytest.mark.slow
def test_loose_boxes_count_at_a_third_but_not_at_half(labels: Path) -> None:
    """IoU 0.39: right by the publisher's measure, wrong by COCO's."""
    pytest.importorskip("pycocotools")
    loose = [_call(d["image_id"], d["category_id"], [d["bbox"][0] + 8.8, *d["bbox"][1:]], 0.9)
             for d in PERFECT]  # fmt: skip
    scores = score_detections(labels, loose)
    assert scores.ap50 == 0.0
    assert scores.ap33_by_class == pytest.approx({"open": 1.0, "short": 1.0})


@pytest.mark.slow
def test_no_detections_is_zero_not_a_crash(labels: Path) -> None:
    """A class without labels stays out of the mean as -1."""
    pytest.importorskip("pycocotools")
    assert score_detections(labels, []).ap50 == 0.0
    only_second = score_detections(labels, [], image_ids=[2])
    assert only_second.ap50_by_class == {"open": 0.0, "short": -1.0}
    assert only_second.ap50 == 0.0


def test_strangers_and_broken_labels_are_refused(labels: Path, tmp_path: Path) -> None:
    """Ids must be those of the labels; the file must be COCO."""
    with pytest.raises(UsageFault, match="unknown image_id 7"):
        score_detections(labels, [_call(7, 1, [0, 0, 1, 1], 0.5)])
    with pytest.raises(UsageFault, match="cannot be read"):
        score_detections(tmp_path / "none.json", [])
    labels.write_text("{}")
    with pytest.raises(UsageFault, match="no list `images`"):
        score_detections(labels, [])
