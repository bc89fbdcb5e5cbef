"""Reviewed parts as pictures and COCO labels, for a labelling tool and for training again.

Boxes are those that the model found and the record kept. What a review says of them is used:

- confirmed: all boxes stand.
- false call: boxes of a class that a broken rule forbids are wrong, or the part would not have been
  good; they are left out of the labels and kept at the picture as `doubted`.
- escape: something was not found; the picture is marked `incomplete` and wants a person.

A picture that cannot be read, or was not kept, is left out and named.
"""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspectd.coco import Picture, as_coco
from inspectd.errors import UsageFault
from inspectd.frame import Detection
from inspectd.record.history import Recorded
from inspectd.review.judgement import Judgement, Review

__all__ = ["Exported", "Left", "Reviewed", "labelled", "write"]

LABELS_NAME = "annotations.json"
PICTURES_NAME = "images"


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A part that somebody has judged."""

    event: Recorded
    review: Review


@dataclass(frozen=True, slots=True)
class Left:
    """A part that is not in the export, and why."""

    sequence: int
    why: str


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written."""

    pictures: int
    boxes: int
    left: tuple[Left, ...]
    labels: Path


def labelled(
    one: Reviewed, file: str, size_px: tuple[int, int], forbidding: Mapping[str, Sequence[str]]
) -> Picture:
    """The labels of one part. Pure.

    Args:
        one: The part.
        file: How its picture is called in the export.
        size_px: Width and height of the picture.
        forbidding: Classes that a rule forbids, by the rule's name.
    """
    detail = json.loads(one.event.detail)
    found = [Detection(*row) for row in detail.get("detections", [])]
    wrong: set[str] = set()
    if one.review.judgement is Judgement.FALSE_CALL:
        for rule in detail.get("broken", []):
            wrong.update(forbidding.get(str(rule[0]), ()))
    doubted = [box for box in found if box.label in wrong]
    return Picture(
        file=file,
        width_px=size_px[0],
        height_px=size_px[1],
        boxes=tuple(box for box in found if box.label not in wrong),
        about={
            "sequence": one.event.sequence,
            "station": one.event.station,
            "trigger_id": one.event.trigger_id,
            "part_id": one.event.part_id,
            "recorded_utc": one.event.recorded_utc,
            "verdict": one.event.verdict,
            "reason": one.event.reason,
            "judgement": one.review.judgement.value,
            "reviewer": one.review.reviewer,
            "reviewed_utc": one.review.reviewed_utc,
            "note": one.review.note,
            "model_digest": one.event.model_digest,
            "doubted": [[box.label, box.score, box.x1, box.y1, box.x2, box.y2] for box in doubted],
            "incomplete": one.review.judgement is Judgement.ESCAPE,
        },
    )


def write(
    parts: Sequence[Reviewed],
    folder: Path,
    out: Path,
    *,
    classes: Sequence[str],
    forbidding: Mapping[str, Sequence[str]],
    size_of: Callable[[Path], tuple[int, int] | None],
) -> Exported:
    """Write pictures and labels into a new folder.

    Args:
        parts: What to write.
        folder: Of the record.
        out: Must not exist, or be empty: an export is never mixed with another.
        classes: Names of classes that get a number even when nothing of them was found.
        forbidding: As of `labelled`.
        size_of: Reads a picture's width and height; None: it is no whole picture.

    Raises:
        UsageFault: `out` is in use, or cannot be written.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageFault("is there already", str(out), "name a new folder")
    pictures: list[Picture] = []
    left: list[Left] = []
    try:
        (out / PICTURES_NAME).mkdir(parents=True, exist_ok=True)
        for one in parts:
            made = _copied(one, folder, out, forbidding, size_of)
            (left if isinstance(made, Left) else pictures).append(made)  # type: ignore[arg-type]
        labels = out / LABELS_NAME
        document: dict[str, Any] = as_coco(pictures, classes)
        labels.write_text(json.dumps(document, indent=1, ensure_ascii=False), encoding="utf-8")
    except OSError as error:
        remedy = "make room, or name another folder"
        raise UsageFault(f"cannot be written ({error.strerror})", str(out), remedy) from error
    boxes = sum(len(picture.boxes) for picture in pictures)
    return Exported(len(pictures), boxes, tuple(left), labels)


def _copied(
    one: Reviewed,
    folder: Path,
    out: Path,
    forbidding: Mapping[str, Sequence[str]],
    size_of: Callable[[Path], tuple[int, int] | None],
) -> Picture | Left:
    """Copy one picture; answer its labels, or why it is left out."""
    sequence = one.event.sequence
    if one.event.archive is None:
        return Left(sequence, "no picture was kept (record.archive), or it has been cleared since")
    source = folder / one.event.archive
    if not source.is_file():
        return Left(sequence, f"{one.event.archive} is not there any more")
    size_px = size_of(source)
    if size_px is None:
        return Left(sequence, f"{one.event.archive} is no whole picture")
    name = f"{sequence:08d}-{source.name}"
    shutil.copyfile(source, out / PICTURES_NAME / name)
    return labelled(one, f"{PICTURES_NAME}/{name}", size_px, forbidding)
