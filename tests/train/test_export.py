"""A model directory gives the answers of the network it was made from, in both formats."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from inspectd.errors import UsageFault
from inspectd.train.checkpoint import save_checkpoint
from inspectd.train.evaluate import evaluate_checkpoint, open_predictor, prepare
from inspectd.train.export import infer_config
from inspectd.train.legacy import legacy_python
from inspectd.train.publish import publish
from inspectd.train.recipe import Recipe
from inspectd.train.trainer import Trainer

MakeRecipe = Callable[..., Recipe]

_PIXELS = 0.1
_SCORE = 1e-3
"""How far two artefacts of the same weights may be apart."""


def _export(recipe: Recipe, folder: Path, legacy: str | None = None) -> Path:
    checkpoint = folder / "c.pdparams"
    if not checkpoint.exists():
        save_checkpoint(checkpoint, Trainer(recipe, []).checkpoint({}))
    out = folder / ("pdmodel" if legacy else "json")
    publish(
        checkpoint,
        out,
        is_legacy=legacy is not None,
        legacy_python=legacy,
        test=None,
        command="inspectd export",
    )
    return out


def _legacy() -> str:
    """Answer a Paddle 2.6 python, or skip: making one downloads 600 MB."""
    beside = Path(sys.prefix).parent / "p26" / "bin" / "python"
    given = os.environ.get("INSPECTD_LEGACY_PYTHON") or (str(beside) if beside.is_file() else "")
    if not given:
        pytest.skip("no Paddle 2.6 environment: set INSPECTD_LEGACY_PYTHON")
    return given


def _input(recipe: Recipe, batch: int = 2) -> tuple[Any, Any]:
    planes = 2 if recipe.template else 3
    frames = np.random.default_rng(3).integers(0, 256, (batch, 200, 300, planes), np.uint8)
    ready = [prepare(frame, recipe) for frame in frames]
    return np.stack([r[0] for r in ready]), np.stack([r[1] for r in ready])


@pytest.mark.slow
def test_the_json_artefact_has_the_promised_layout_and_shapes(
    tmp_path: Path, tiny_recipe: MakeRecipe
) -> None:
    """Boxes (B, A, 4) in frame pixels and scores (B, C, A) for any B, with or without oneDNN."""
    recipe = tiny_recipe()
    out = _export(recipe, tmp_path)
    names = {path.name for path in out.iterdir()}
    assert names == {"model.json", "model.pdiparams", "infer_cfg.yml", "MODEL_CARD.md"}
    for batch in (1, 3):
        boxes, scores = open_predictor(out)(*_input(recipe, batch))
        assert boxes.shape == (batch, 144, 4)
        assert scores.shape == (batch, 2, 144)
    image, scale = _input(recipe)
    plain, fast = open_predictor(out)(image, scale), open_predictor(out, "onednn")(image, scale)
    assert np.abs(plain[0] - fast[0]).max() < _PIXELS
    assert np.abs(plain[1] - fast[1]).max() < _SCORE


@pytest.mark.slow
def test_the_card_holds_the_scores_of_the_exported_model(
    few_bottles: Path, tmp_path: Path, tiny_recipe: MakeRecipe
) -> None:
    """`--test DIR` measures the artefact, not the checkpoint; both give the same numbers."""
    checkpoint = tmp_path / "c.pdparams"
    save_checkpoint(checkpoint, Trainer(tiny_recipe(), []).checkpoint({"command": "x"}))
    out = tmp_path / "out"
    told = publish(
        checkpoint, out, is_legacy=False, legacy_python=None, test=few_bottles, command="y"
    )
    scores = evaluate_checkpoint(checkpoint, few_bottles)
    card = (out / "MODEL_CARD.md").read_text()
    assert f"AP50 {scores.ap50:.4f}" in card
    assert f"AP50 {scores.ap50:.4f}" in told
    assert "Not stated in the recipe" in card


@pytest.mark.slow
def test_the_graph_divides_boxes_by_the_scale_factor(
    tmp_path: Path, tiny_recipe: MakeRecipe
) -> None:
    """Vertical first, as PaddleDetection does."""
    recipe = tiny_recipe()
    predict = open_predictor(_export(recipe, tmp_path))
    image, _ = _input(recipe, 1)
    one, _ = predict(image, np.ones((1, 2), np.float32))
    scaled, _ = predict(image, np.array([[0.5, 0.25]], np.float32))
    assert np.allclose(scaled, one * [4, 2, 4, 2], atol=1e-3)


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_both_formats_give_the_same_boxes_on_every_engine(
    tmp_path: Path, tiny_board_recipe: MakeRecipe
) -> None:
    """New against legacy format: 0.1 px and 0.001 in score, plain, oneDNN and OpenVINO."""
    legacy = _legacy()
    recipe = tiny_board_recipe(input_px=96)
    modern, old = _export(recipe, tmp_path), _export(recipe, tmp_path, legacy)
    image, scale = _input(recipe)
    wanted = open_predictor(modern)(image, scale)
    for engine in ("plain", "onednn", "openvino"):
        boxes, scores = open_predictor(old, engine)(image, scale)
        assert np.abs(boxes - wanted[0]).max() < _PIXELS, engine
        assert np.abs(scores - wanted[1]).max() < _SCORE, engine


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("name", ["inspectd/models/bottle_cap", "models/deeppcb"])
def test_the_shipped_pairs_of_directories_agree(name: str) -> None:
    """What is in the repository was made from one checkpoint, and both answer alike."""
    root = Path(__file__).parents[2]
    modern, old = root / name, root / f"{name}_pdmodel"
    if not (modern / "model.json").is_file():
        pytest.skip(f"{name} is not in this checkout")
    text = (modern / "infer_cfg.yml").read_text()
    assert text == (old / "infer_cfg.yml").read_text()
    side = yaml.safe_load(text)["Preprocess"][-3]["target_size"][0]
    image = np.random.default_rng(4).normal(0, 1, (1, 3, side, side)).astype(np.float32)
    scale = np.ones((1, 2), np.float32)
    wanted, given = open_predictor(modern)(image, scale), open_predictor(old)(image, scale)
    assert np.abs(wanted[0] - given[0]).max() < _PIXELS
    assert np.abs(wanted[1] - given[1]).max() < _SCORE


def test_the_configuration_speaks_paddledetection(
    tiny_recipe: MakeRecipe, tiny_board_recipe: MakeRecipe
) -> None:
    """Keys as in its deploy exports, ours beside them."""
    config = infer_config(tiny_board_recipe())
    assert [step["type"] for step in config["Preprocess"]] == [
        "TemplateChannels",
        "Resize",
        "NormalizeImage",
        "Permute",
    ]
    assert {"mode", "draw_threshold", "metric", "arch", "label_list", "NMS"} <= set(config)
    assert infer_config(tiny_recipe())["Preprocess"][0]["type"] == "Resize"


def test_a_legacy_python_that_is_none_is_refused(tmp_path: Path) -> None:
    """Named and with a remedy."""
    with pytest.raises(UsageFault, match="no such Python"):
        legacy_python(str(tmp_path / "python"))


@pytest.mark.slow
def test_a_legacy_python_without_paddle_is_one_sentence(
    tmp_path: Path, tiny_recipe: MakeRecipe
) -> None:
    """The last line of its error output is told, not a traceback."""
    bare = shutil.which("python3", path="/usr/bin:/bin")
    if bare is None:
        pytest.skip("no system python3 beside this one")
    with pytest.raises(UsageFault, match="failed"):
        _export(tiny_recipe(), tmp_path, bare)
