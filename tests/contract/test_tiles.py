"""Large boards through the real model in tiles: what is found, and nothing twice."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from inspectd.config.schema import Template, Tiles
from inspectd.frame import Detection
from inspectd.model import directory
from inspectd.model.boxes import decode, decode_tiles
from inspectd.model.geometry import Geometry
from inspectd.model.layout import split, stack
from inspectd.model.prepare import Preparer
from inspectd.model.spec import ModelSpec
from inspectd.model.tiles import Tiling
from inspectd.ports import Pixels
from inspectd.stages.infer.paddle import Paddle

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("INSPECTD_SHARED", ROOT.parent / "shared"))
BOARDS = SHARED / "data" / "deeppcb_fixture"
PHOTOGRAPHS = SHARED / "data" / "pku_pcb_large"
SCORE = 0.5

pytestmark = [pytest.mark.paddle, pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def spec() -> ModelSpec:
    """The project's model for boards against their golden templates."""
    return directory.read(str(ROOT / "models" / "deeppcb"))


@pytest.fixture(scope="module")
def engine(spec: ModelSpec) -> Paddle:
    """The real engine."""
    return Paddle(spec, threads=2)


def looked_at(
    spec: ModelSpec, engine: Paddle, picture: Pixels, template: Path, tiling: Tiling | None
) -> list[Detection]:
    """What the daemon's stages find in a grey picture, with its golden template."""
    settings = Template(folder=str(template.parent), pattern=template.name)
    pieces = 1 if tiling is None else len(tiling)
    channels, height, width = spec.tensor_shape
    tensor = np.zeros((pieces * channels, height, width), np.float32)
    Preparer(spec, picture.shape, settings, tiling).prepare(picture, "", tensor)
    raw: list[dict[str, Any]] = []
    for one in tensor.reshape(pieces, channels, height, width):
        side = Geometry.of(spec, 640, 640).side_inputs()
        outputs = engine.run(one[None], {name: values[None] for name, values in side.items()})
        raw += split(spec.layout, outputs, 1)
    if tiling is None:
        return decode(spec, raw[0], picture.shape[1], picture.shape[0])
    return decode_tiles(spec, stack(spec.layout, raw), tiling)


def share(a: Detection, b: Detection) -> float:
    """Intersection over union."""
    width = min(a.x2, b.x2) - max(a.x1, b.x1)
    height = min(a.y2, b.y2) - max(a.y1, b.y1)
    both = max(width, 0) * max(height, 0)
    return both / (a.width_px * a.height_px + b.width_px * b.height_px - both)


def doubles(found: Sequence[Detection]) -> list[tuple[Detection, Detection]]:
    """Pairs of one class that overlap as only one object does."""
    return [
        (a, b)
        for i, a in enumerate(found)
        for b in found[i + 1 :]
        if a.label == b.label and share(a, b) > 0.5
    ]


def read_grey(path: Path) -> Pixels:
    """A grey picture as it lies on the disk."""
    return np.asarray(cv2.imread(str(path), cv2.IMREAD_GRAYSCALE), np.uint8)


def test_a_board_of_boards_gives_the_defects_of_its_boards(
    spec: ModelSpec, engine: Paddle, tmp_path: Path
) -> None:
    """Four boards side by side, seams through the middle of each: each defect once, where it is."""
    if not BOARDS.exists():
        pytest.skip(f"no pictures at {BOARDS}: set INSPECTD_SHARED")
    names = sorted(path.name.removesuffix("_test.jpg") for path in (BOARDS / "images").iterdir())
    four = [names[at] for at in (0, 6, 12, 18)]
    large, golden = np.zeros((1280, 1280), np.uint8), np.zeros((1280, 1280), np.uint8)
    labelled = json.loads((BOARDS / "annotations.json").read_text(encoding="utf-8"))
    kinds = {kind["id"]: kind["name"] for kind in labelled["categories"]}
    truth = []
    for at, name in enumerate(four):
        x, y = at % 2 * 640, at // 2 * 640
        large[y : y + 640, x : x + 640] = read_grey(BOARDS / "images" / f"{name}_test.jpg")
        golden[y : y + 640, x : x + 640] = read_grey(BOARDS / "templates" / f"{name}_temp.jpg")
        image = next(i["id"] for i in labelled["images"] if Path(i["file_name"]).stem[:8] == name)
        for note in labelled["annotations"]:
            if note["image_id"] == image:
                left, top, width, height = note["bbox"]
                box = (x + left, y + top, x + left + width, y + top + height)
                truth.append(Detection(kinds[note["category_id"]], 1.0, *box))
    cv2.imwrite(str(tmp_path / "golden.png"), golden)
    tiling = Tiling.of(Tiles(size_px=640, overlap_px=100), 1280, 1280)
    assert len(tiling) == 9
    found = looked_at(spec, engine, large, tmp_path / "golden.png", tiling)
    sure = [one for one in found if one.score >= SCORE]
    assert doubles(sure) == []
    hit = [t for t in truth if any(one.label == t.label and share(one, t) > 0.33 for one in sure)]
    assert len(hit) >= 0.9 * len(truth)
    false_calls = [one for one in sure if not any(share(one, t) > 0.1 for t in truth)]
    assert len(false_calls) <= 0.1 * len(truth)


def test_photographs_of_large_boards_have_no_doubled_defect(
    spec: ModelSpec, engine: Paddle, tmp_path: Path
) -> None:
    """The model was not made for photographs; but whatever it finds, it finds once."""
    if not PHOTOGRAPHS.exists():
        pytest.skip(f"no pictures at {PHOTOGRAPHS}: set INSPECTD_SHARED")
    paths = sorted((PHOTOGRAPHS / "images").glob("04_*"))
    pictures = [read_grey(path) for path in paths]
    cv2.imwrite(
        str(tmp_path / "golden.png"), np.median(np.stack(pictures), axis=0).astype(np.uint8)
    )
    height, width = pictures[0].shape
    tiling = Tiling.of(Tiles(size_px=640, overlap_px=96), width, height)
    for picture in pictures[:2]:
        found = looked_at(spec, engine, picture, tmp_path / "golden.png", tiling)
        assert len(found) > 20
        assert doubles(found) == []
