"""COCO pictures in memory, checked while they are read.

Everything is decoded once and kept as uint8: epochs then cost no disk and no JPEG. A wrong data
directory is refused with the file, the fault and the remedy before the first step.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from inspectd.errors import UsageFault
from inspectd.train.recipe import Recipe

__all__ = ["Picture", "load_pictures", "network_input", "read_coco", "read_frame", "split"]


@dataclass(frozen=True, slots=True)
class Picture:
    """One decoded picture with its labels."""

    image_id: int
    file_name: str
    pixels: NDArray[np.uint8]
    """(H, W, 3) RGB, or (H, W, 2) grey picture and template; at the size that was asked for."""
    boxes: NDArray[np.float32]
    """(N, 4), x1 y1 x2 y2 in pixels of `pixels`."""
    labels: NDArray[np.int64]
    """(N,), index into the recipe's classes."""


def read_coco(data: Path) -> dict[str, Any]:
    """Read and check `annotations.json` of a data directory.

    Raises:
        UsageFault: directory or file missing, not JSON, or not COCO.
    """
    path = data / "annotations.json"
    if not data.is_dir():
        raise UsageFault("no such data directory", str(data), "give a folder with annotations.json")
    if not path.is_file():
        raise UsageFault("annotations.json is missing", str(data), "give a folder in COCO layout")
    try:
        coco = json.loads(path.read_text())
    except ValueError as fault:
        raise UsageFault(f"not JSON ({fault})", str(path), "export the labels again") from fault
    _check(coco, str(path))
    return dict(coco)


def _check(coco: Any, where: str) -> None:
    needs = {
        "images": ("id", "file_name", "width", "height"),
        "annotations": ("image_id", "category_id", "bbox"),
        "categories": ("id", "name"),
    }
    for part, keys in needs.items():
        rows = coco.get(part) if isinstance(coco, dict) else None
        if not isinstance(rows, list):
            raise UsageFault(f"no list `{part}`", where, "export the labels as COCO JSON")
        for index, row in enumerate(rows):
            lacks = [key for key in keys if not isinstance(row, dict) or key not in row]
            if lacks:
                raise UsageFault(
                    f"{part}[{index}] has no `{lacks[0]}`", where, "correct the labels"
                )
    for index, row in enumerate(coco["annotations"]):
        box = row["bbox"]
        if not (_is_box(box)):
            raise UsageFault(
                f"annotations[{index}] has bbox {box}", where, "give x, y, width, height"
            )


def _is_box(box: Any) -> bool:
    """Say whether `box` is x, y, width, height with an area."""
    match box:
        case [
            int() | float(),
            int() | float(),
            int() | float() as width,
            int() | float() as height,
        ]:
            return width > 0 and height > 0
    return False


def split(coco: dict[str, Any], recipe: Recipe) -> tuple[list[int], list[int]]:
    """Answer the image ids to train on and those held out, as the recipe says."""
    ids = [image["id"] for image in coco["images"]]
    if recipe.validate_key:
        values = set(recipe.validate_values)
        held = [i["id"] for i in coco["images"] if str(i.get(recipe.validate_key)) in values]
    else:
        held = ids[:: recipe.validate_every] if recipe.validate_every else []
    out = set(held)
    return [i for i in ids if i not in out], held


def read_frame(data: Path, image: dict[str, Any], template: bool) -> NDArray[np.uint8]:
    """Decode one COCO image: RGB (H, W, 3), or grey picture and template (H, W, 2).

    Raises:
        UsageFault: a file is missing, unreadable, or of another size than the labels say.
    """
    if not template:
        pixels = _read(data / "images" / image["file_name"], cv2.IMREAD_COLOR, image)
        return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB), np.uint8)
    name = image.get("template_file_name")
    if not name:
        raise UsageFault(
            f"image {image['id']} has no `template_file_name`",
            str(data / "annotations.json"),
            "name its defect-free picture or train without template",
        )
    return np.stack(
        [
            _read(data / "images" / image["file_name"], cv2.IMREAD_GRAYSCALE, image),
            _read(data / "templates" / name, cv2.IMREAD_GRAYSCALE, image),
        ],
        -1,
    )


def _read(path: Path, flag: int, image: dict[str, Any]) -> NDArray[np.uint8]:
    if not path.is_file():
        raise UsageFault("picture is missing", str(path), "restore it or remove it from the labels")
    pixels = cv2.imread(str(path), flag)
    if pixels is None:
        raise UsageFault("picture cannot be decoded", str(path), "replace it")
    if pixels.shape[:2] != (image["height"], image["width"]):
        height, width = pixels.shape[:2]
        raise UsageFault(
            f"picture is {width}x{height}, labels say {image['width']}x{image['height']}",
            str(path),
            "correct the labels",
        )
    return np.asarray(pixels, np.uint8)


def load_pictures(
    data: Path, coco: dict[str, Any], ids: Iterable[int], recipe: Recipe, side: int
) -> list[Picture]:
    """Decode the pictures `ids` into memory, each stretched to `side` x `side`.

    Raises:
        UsageFault: see `read_frame`; or a category that the recipe does not know.
    """
    names = {row["id"]: row["name"] for row in coco["categories"]}
    strange = sorted(set(names.values()) - set(recipe.classes))
    if strange:
        raise UsageFault(
            f"category {strange[0]!r} is not in the recipe",
            str(data / "annotations.json"),
            f"the recipe has {', '.join(recipe.classes)}",
        )
    rows: dict[int, list[dict[str, Any]]] = {}
    for row in coco["annotations"]:
        rows.setdefault(row["image_id"], []).append(row)
    images = {image["id"]: image for image in coco["images"]}
    pictures = []
    for image_id in ids:
        image = images[image_id]
        pixels = read_frame(data, image, recipe.template)
        height, width = pixels.shape[:2]
        if (height, width) != (side, side):
            pixels = np.asarray(
                cv2.resize(pixels, (side, side), interpolation=cv2.INTER_AREA), np.uint8
            )
        mine = rows.get(image_id, [])
        boxes = np.array([row["bbox"] for row in mine], np.float32).reshape(-1, 4)
        boxes[:, 2:] += boxes[:, :2]
        boxes *= np.array([side / width, side / height] * 2, np.float32)
        labels = [recipe.classes.index(names[row["category_id"]]) for row in mine]
        pictures.append(
            Picture(image_id, image["file_name"], pixels, boxes, np.array(labels, np.int64))
        )
    return pictures


def network_input(pixels: NDArray[np.uint8], recipe: Recipe) -> NDArray[np.uint8]:
    """Add the difference plane to a (H, W, 2) pair; a colour picture is answered as it is."""
    if not recipe.template:
        return pixels
    return np.dstack([pixels, cv2.absdiff(pixels[..., 0], pixels[..., 1])]).astype(np.uint8)
