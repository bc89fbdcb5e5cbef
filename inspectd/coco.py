"""Labels of pictures in COCO JSON: names, order and boxes; pure but for reading the file."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from inspectd.errors import UsageFault
from inspectd.frame import Detection

__all__ = ["Labels", "Picture", "as_coco", "file_key"]


@dataclass(frozen=True, slots=True)
class Labels:
    """COCO labels by picture. Boxes of COCO are x, y, width, height; here they are corners."""

    path: Path
    image_ids: Mapping[str, int]
    """By the picture's file name without folders, in the order of the file."""
    boxes: Mapping[int, tuple[Detection, ...]]
    """Labelled objects by image id, score 1."""
    category_ids: Mapping[str, int]
    """By class name."""

    @classmethod
    def read(cls, path: Path) -> "Labels":
        """Read a COCO file.

        Raises:
            UsageFault: it is missing or no COCO JSON.
        """
        try:
            coco = json.loads(path.read_text(encoding="utf-8"))
            names = {int(row["id"]): str(row["name"]) for row in coco["categories"]}
            boxes: dict[int, list[Detection]] = {int(row["id"]): [] for row in coco["images"]}
            for row in coco["annotations"]:
                x, y, w, h = (float(value) for value in row["bbox"])
                one = Detection(names[row["category_id"]], 1.0, x, y, x + w, y + h)
                boxes[row["image_id"]].append(one)
            return cls(
                path=path,
                image_ids={
                    file_key(str(row["file_name"])): int(row["id"]) for row in coco["images"]
                },
                boxes={key: tuple(found) for key, found in boxes.items()},
                category_ids={name: key for key, name in names.items()},
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageFault(
                f"cannot be read as COCO labels ({error!r})", str(path), "export them again"
            ) from error

    def boxes_of(self, file: str) -> tuple[Detection, ...]:
        """Labelled objects of a picture; none for a picture that is not in the file."""
        image_id = self.image_ids.get(file_key(file))
        return () if image_id is None else self.boxes[image_id]


def file_key(file: str) -> str:
    """How a picture is called, wherever it lies: its file name without folders."""
    return PurePosixPath(file).name


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture to write labels of."""

    file: str
    """Path of it, from the folder of the labels."""
    width_px: int
    height_px: int
    boxes: tuple[Detection, ...]
    about: Mapping[str, Any]
    """What else is known of it; written under `inspectd` at the image."""


def as_coco(pictures: Sequence[Picture], classes: Sequence[str]) -> dict[str, Any]:
    """Labels as a COCO document; `Labels.read` reads it back.

    Boxes keep the score that a model gave them (`score`, which other readers pass over), and end at
    the picture's edge.

    Args:
        pictures: In the order of their ids, which begin at 1.
        classes: Get ids from 1 on in this order; others that occur follow in alphabetical order.
    """
    others = {box.label for picture in pictures for box in picture.boxes} - set(classes)
    names = [*dict.fromkeys(classes), *sorted(others)]
    category_ids = {name: number for number, name in enumerate(names, start=1)}
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for image_id, picture in enumerate(pictures, start=1):
        images.append(
            {
                "id": image_id,
                "file_name": picture.file,
                "width": picture.width_px,
                "height": picture.height_px,
                "inspectd": dict(picture.about),
            }
        )
        for box in picture.boxes:
            x1, y1 = max(box.x1, 0.0), max(box.y1, 0.0)
            width = min(box.x2, float(picture.width_px)) - x1
            height = min(box.y2, float(picture.height_px)) - y1
            if width <= 0 or height <= 0:
                continue
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": image_id,
                    "category_id": category_ids[box.label],
                    "bbox": [x1, y1, width, height],
                    "area": width * height,
                    "iscrowd": 0,
                    "score": box.score,
                }
            )
    return {
        "images": images,
        "annotations": annotations,
        "categories": [{"id": number, "name": name} for name, number in category_ids.items()],
    }
