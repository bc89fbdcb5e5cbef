"""Labels of pictures in COCO JSON: names, order and boxes; pure but for reading the file."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from inspectd.errors import UsageFault
from inspectd.frame import Detection

__all__ = ["Labels", "file_key"]


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
