"""What the training tests share: small data, a tiny recipe, and a Paddle 2.6 if there is one."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("paddle", reason="paddle is not installed")

from inspectd.train.machine import prepare_cpu
from inspectd.train.recipe import Recipe, recipe_from_dict

prepare_cpu(threads=2)

SHARED = Path(os.environ.get("INSPECTD_SHARED") or Path(__file__).parents[2].parent / "shared")
TINY_NETWORK = {"widths": [8, 16, 16, 16], "depths": [0, 1, 0, 0], "neck_width": 16, "levels": [8]}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let paddle warn: its batch norm does so on every training forward pass."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore::UserWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::DeprecationWarning"))
            item.add_marker(pytest.mark.paddle)


def shared_folder(name: str) -> Path:
    """Answer a folder of the shared data, or skip with the reason."""
    folder = SHARED / "data" / name
    if not folder.is_dir():
        pytest.skip(f"shared data {name} is absent: set INSPECTD_SHARED")
    return folder


@pytest.fixture(name="bottles")
def _bottles() -> Path:
    """Colour frames with Bottle and Cap boxes (CC BY 4.0, see its README)."""
    return shared_folder("bottle_fixture")


@pytest.fixture(name="boards")
def _boards() -> Path:
    """Bare boards with templates and six classes of defect."""
    return shared_folder("deeppcb_fixture")


@pytest.fixture(name="few_bottles")
def _few_bottles(bottles: Path, tmp_path: Path) -> Path:
    """Four frames of the bottle fixture in a folder of their own, free to be spoilt."""
    coco: dict[str, Any] = json.loads((bottles / "annotations.json").read_text())
    kept = {row["image_id"] for row in coco["annotations"]}
    images = [image for image in coco["images"] if image["id"] in kept][:4]
    ids = {image["id"] for image in images}
    coco["images"] = images
    coco["annotations"] = [row for row in coco["annotations"] if row["image_id"] in ids]
    folder = tmp_path / "few"
    (folder / "images").mkdir(parents=True)
    for image in images:
        source = bottles / "images" / image["file_name"]
        (folder / "images" / image["file_name"]).write_bytes(source.read_bytes())
    (folder / "annotations.json").write_text(json.dumps(coco))
    return folder


def _tiny(**changes: Any) -> Recipe:
    """Answer a recipe that trains in seconds."""
    values: dict[str, Any] = {
        "name": "tiny",
        "classes": ["Bottle", "Cap"],
        "input_px": 96,
        "network": dict(TINY_NETWORK),
        "augment": {"flip": True, "scale": 0.1, "remove_class": "Cap", "remove": 0.5},
        "batch": 4,
        "learning_rate": 0.005,
        "steps": 6,
    }
    return recipe_from_dict(values | changes, "test")


def _tiny_board(**changes: Any) -> Recipe:
    """Answer a template recipe that trains in seconds."""
    values: dict[str, Any] = {
        "name": "tiny_board",
        "classes": ["open", "short", "mousebite", "spur", "copper", "pin-hole"],
        "input_px": 640,
        "train_px": 96,
        "template": True,
        "augment": {"flip": True, "quarter_turns": True, "template_shift_px": 1},
    }
    base = {"network": dict(TINY_NETWORK), "batch": 4, "learning_rate": 0.005, "steps": 6}
    return recipe_from_dict(values | base | changes, "test")


@pytest.fixture(name="tiny_recipe")
def _tiny_recipe() -> Callable[..., Recipe]:
    """Make tiny colour recipes; keywords change keys."""
    return _tiny


@pytest.fixture(name="tiny_board_recipe")
def _tiny_board_recipe() -> Callable[..., Recipe]:
    """Make tiny template recipes; keywords change keys."""
    return _tiny_board
