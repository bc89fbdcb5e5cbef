"""Another look at the same picture keeps labels and pixels together."""

import dataclasses

import numpy as np
import pytest

from inspectd.train.augment import Sample, crop, warp
from inspectd.train.dataset import Picture
from inspectd.train.recipe import recipe_from_dict

_BOARD = recipe_from_dict(
    {
        "name": "b",
        "classes": ["spot"],
        "template": True,
        "augment": {"flip": True, "quarter_turns": True, "template_shift_px": 0},
    },
    "test",
)


def _board(box: tuple[int, int, int, int]) -> Picture:
    """Grey board, its template, and one white spot that exactly fills its box."""
    pixels = np.full((128, 128, 2), 60, np.uint8)
    x1, y1, x2, y2 = box
    pixels[y1:y2, x1:x2, 0] = 255
    return Picture(1, "b", pixels, np.array([box], np.float32), np.zeros(1, np.int64))


@pytest.mark.parametrize("seed", range(12))
def test_a_crop_keeps_the_box_on_its_defect(seed: int) -> None:
    """However it is mirrored and turned, the difference plane is bright exactly inside the box."""
    sample = crop(_board((40, 50, 60, 58)), 0, 64, _BOARD, np.random.default_rng(seed))
    if not len(sample.boxes) or sample.ignored.any():
        assert seed >= 0  # a random window may miss the defect
        return
    x1, y1, x2, y2 = sample.boxes[0].astype(int)
    mask = np.zeros((64, 64), bool)
    mask[y1:y2, x1:x2] = True
    assert ((sample.pixels[..., 2] > 100) == mask).all()


@pytest.mark.parametrize("seed", range(12))
def test_a_zoomed_crop_keeps_the_box_on_its_defect(seed: int) -> None:
    """Enlarged or reduced, box and difference stay together to within a pixel."""
    zooming = dataclasses.replace(
        _BOARD, augment=dataclasses.replace(_BOARD.augment, scale=0.3, template_shift_px=0)
    )
    sample = crop(_board((40, 50, 60, 58)), 0, 64, zooming, np.random.default_rng(seed))
    if not len(sample.boxes) or sample.ignored.any():
        assert seed >= 0  # a random window may miss the defect
        return
    rows, columns = np.nonzero(sample.pixels[..., 2] > 100)
    seen = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
    assert np.abs(sample.boxes[0] - np.array(seen)).max() <= 1.0


def test_most_crops_hold_the_defect_they_were_drawn_for() -> None:
    """Nine of ten windows are drawn around a box; the rest shows clean board."""
    rng = np.random.default_rng(1)
    samples = [crop(_board((90, 2, 120, 20)), 0, 64, _BOARD, rng) for _ in range(200)]
    whole = sum(bool(len(s.boxes)) and not s.ignored.any() for s in samples)
    assert 170 < whole < 200


def test_a_defect_that_is_cut_off_is_ignored_and_a_sliver_forgotten() -> None:
    """Half a defect teaches nothing either way."""
    plain = recipe_from_dict({"name": "b", "classes": ["spot"], "template": True}, "test")
    pixels = np.zeros((64, 64, 2), np.uint8)
    boxes = np.array([[-10, 0, 10, 10], [-9, 20, 1, 30], [20, 20, 30, 30]], np.float32)
    picture = Picture(1, "b", pixels, boxes, np.zeros(3, np.int64))
    seen: list[Sample] = [crop(picture, 2, 64, plain, np.random.default_rng(s)) for s in range(3)]
    for sample in seen:
        assert len(sample.boxes) == 2
        assert sample.ignored.tolist().count(True) == 1


def test_a_removed_cap_loses_its_label_and_its_pixels() -> None:
    """Painting out teaches "bottle without cap": the bottle keeps its label."""
    recipe = recipe_from_dict(
        {
            "name": "c",
            "classes": ["Bottle", "Cap"],
            "augment": {"flip": False, "remove_class": "Cap", "remove": 1.0},
        },
        "test",
    )
    pixels = np.full((64, 64, 3), 90, np.uint8)
    pixels[8:16, 20:40] = 255
    boxes = np.array([[16, 8, 44, 60], [20, 8, 40, 16]], np.float32)
    picture = Picture(1, "c", pixels, boxes, np.array([0, 1]))
    samples = [warp(picture, 64, recipe, np.random.default_rng(seed)) for seed in range(20)]
    without = [s for s in samples if s.labels.tolist() == [0]]
    assert len(without) > 5
    assert all(s.pixels[10:14, 22:38].max() < 200 for s in without)
    assert picture.pixels[10, 30, 0] == 255


def test_warped_boxes_follow_the_pixels() -> None:
    """Zoom, shift and mirror move picture and box alike, to within a pixel of blur."""
    recipe = recipe_from_dict(
        {"name": "c", "classes": ["x"], "augment": {"scale": 0.3, "stretch": 0.1, "move": 0.1}},
        "test",
    )
    pixels = np.zeros((80, 80, 3), np.uint8)
    pixels[30:50, 20:44] = 255
    picture = Picture(1, "c", pixels, np.array([[20, 30, 44, 50]], np.float32), np.array([0]))
    for seed in range(10):
        sample = warp(picture, 64, recipe, np.random.default_rng(seed))
        x1, y1, x2, y2 = sample.boxes[0]
        inner = sample.pixels[int(y1) + 2 : int(y2) - 1, int(x1) + 2 : int(x2) - 1]
        assert inner.min() > 200
