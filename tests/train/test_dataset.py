"""A wrong data folder is refused with the file, the fault and the remedy."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from inspectd.errors import UsageFault
from inspectd.train.dataset import load_pictures, read_coco, split
from inspectd.train.recipe import Recipe

MakeRecipe = Callable[..., Recipe]


def _load(folder: Path, recipe: Recipe) -> None:
    coco = read_coco(folder)
    load_pictures(folder, coco, [image["id"] for image in coco["images"]], recipe, 96)


def _edit(folder: Path, **changes: Any) -> None:
    path = folder / "annotations.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_no_folder_and_no_labels_are_told_apart(tmp_path: Path) -> None:
    """Each has its own remedy."""
    with pytest.raises(UsageFault, match="no such data directory"):
        read_coco(tmp_path / "nowhere")
    with pytest.raises(UsageFault, match=r"annotations\.json is missing"):
        read_coco(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ("[]", "no list `images`"),
        ('{"images": [{"id": 1}], "annotations": [], "categories": []}', r"images\[0\] has no"),
    ],
)
def test_broken_labels_are_refused(tmp_path: Path, text: str, said: str) -> None:
    """COCO means images, annotations and categories with their keys."""
    (tmp_path / "annotations.json").write_text(text)
    with pytest.raises(UsageFault, match=said):
        read_coco(tmp_path)


@pytest.mark.parametrize("box", [[1, 2, 3], [1, 2, 0, 4], [1, 2, -3, 4], ["a", 1, 2, 3], None])
def test_a_box_without_an_area_is_refused(few_bottles: Path, box: object) -> None:
    """A degenerate box would teach nonsense in silence."""
    _edit(few_bottles, annotations=[{"image_id": 1, "category_id": 1, "bbox": box}])
    with pytest.raises(UsageFault, match=r"annotations\[0\] has bbox"):
        read_coco(few_bottles)


def test_a_missing_an_unreadable_and_a_resized_picture_are_refused(
    few_bottles: Path, tiny_recipe: MakeRecipe
) -> None:
    """The file is named."""
    first, second, third, _ = sorted((few_bottles / "images").iterdir())
    cv2.imwrite(str(third), np.zeros((20, 30, 3), np.uint8))
    second.write_bytes(b"no picture")
    first.unlink()
    with pytest.raises(UsageFault, match="picture is missing"):
        _load(few_bottles, tiny_recipe())
    cv2.imwrite(str(first), np.zeros((640, 640, 3), np.uint8))
    with pytest.raises(UsageFault, match="cannot be decoded"):
        _load(few_bottles, tiny_recipe())
    cv2.imwrite(str(second), np.zeros((640, 640, 3), np.uint8))
    with pytest.raises(UsageFault, match="picture is 30x20, labels say 640x640"):
        _load(few_bottles, tiny_recipe())


def test_a_category_that_the_recipe_does_not_know_is_refused(
    few_bottles: Path, tiny_recipe: MakeRecipe
) -> None:
    """Names must agree; numbers may differ."""
    _edit(few_bottles, categories=[{"id": 1, "name": "Bottle"}, {"id": 2, "name": "Lid"}])
    with pytest.raises(UsageFault, match="'Lid' is not in the recipe"):
        _load(few_bottles, tiny_recipe())


def test_a_template_recipe_needs_templates(
    few_bottles: Path, tiny_board_recipe: MakeRecipe
) -> None:
    """Without a golden picture there is no difference to learn."""
    coco = read_coco(few_bottles)
    recipe = tiny_board_recipe(classes=["Bottle", "Cap"])
    with pytest.raises(UsageFault, match="no `template_file_name`"):
        load_pictures(few_bottles, coco, [coco["images"][0]["id"]], recipe, 640)


def test_boards_are_read_as_grey_pairs_whatever_the_jpeg_says(
    boards: Path, tiny_board_recipe: MakeRecipe
) -> None:
    """A few DeepPCB files have three channels."""
    coco = read_coco(boards)
    ids = [image["id"] for image in coco["images"]]
    pictures = load_pictures(boards, coco, ids, tiny_board_recipe(), 640)
    assert {picture.pixels.shape for picture in pictures} == {(640, 640, 2)}
    assert sum(len(picture.boxes) for picture in pictures) == len(coco["annotations"])


def test_held_out_pictures_are_never_trained_on(tiny_recipe: MakeRecipe) -> None:
    """By every n-th picture or by a key such as the video; nothing is in both, nothing is lost."""
    coco = {"images": [{"id": n, "video": "ab"[n % 2]} for n in range(10)]}
    by_count = tiny_recipe(validate_every=5)
    by_key = tiny_recipe(validate_key="video", validate_values=["b"])
    assert split(coco, by_count) == ([1, 2, 3, 4, 6, 7, 8, 9], [0, 5])
    assert split(coco, by_key)[1] == [1, 3, 5, 7, 9]
    assert split(coco, tiny_recipe()) == (list(range(10)), [])
