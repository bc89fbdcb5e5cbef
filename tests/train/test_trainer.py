"""The training loop: the loss falls, a resumed run repeats an uninterrupted one."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import paddle
import pytest

from inspectd.errors import UsageFault
from inspectd.train import cli
from inspectd.train.checkpoint import load_checkpoint, save_checkpoint
from inspectd.train.dataset import Picture, load_pictures, read_coco
from inspectd.train.recipe import Recipe
from inspectd.train.session import CHECKPOINT_NAME
from inspectd.train.trainer import Trainer, learning_rate

MakeRecipe = Callable[..., Recipe]


def _pictures(folder: Path, recipe: Recipe, side: int) -> list[Picture]:
    coco = read_coco(folder)
    return load_pictures(folder, coco, [image["id"] for image in coco["images"]], recipe, side)


def _weights(trainer: Trainer) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    return {name: value.numpy() for name, value in trainer.detector.state_dict().items()}


def test_the_rate_warms_up_peaks_and_falls_to_a_hundredth() -> None:
    """The schedule knows nothing but the place in the budget."""
    rates = [learning_rate(place / 1000, 1.0) for place in range(1001)]
    peak = int(np.argmax(rates))
    assert 15 <= peak <= 25
    assert all(np.diff(rates[:peak]) > 0)
    assert all(np.diff(rates[peak:]) <= 0)
    assert rates[-1] == pytest.approx(0.01)


@pytest.mark.slow
def test_a_few_steps_on_a_few_frames_lower_the_loss(
    few_bottles: Path, tiny_recipe: MakeRecipe
) -> None:
    """Smoke: data, assignment, loss and optimiser work together on colour pictures."""
    recipe = tiny_recipe(steps=30)
    trainer = Trainer(recipe, _pictures(few_bottles, recipe, 120))
    losses = [trainer.train_step().loss for _ in range(30)]
    assert np.mean(losses[-5:]) < 0.8 * np.mean(losses[:5])


@pytest.mark.slow
def test_a_few_steps_on_boards_lower_the_loss(boards: Path, tiny_board_recipe: MakeRecipe) -> None:
    """The same with picture, template and difference."""
    recipe = tiny_board_recipe(steps=30)
    trainer = Trainer(recipe, _pictures(boards, recipe, 640)[:6])
    losses = [trainer.train_step().loss for _ in range(30)]
    assert np.mean(losses[-5:]) < 0.95 * np.mean(losses[:5])


@pytest.mark.slow
def test_a_resumed_run_ends_with_the_weights_of_an_uninterrupted_one(
    few_bottles: Path, tmp_path: Path, tiny_recipe: MakeRecipe
) -> None:
    """Weights, averages, optimiser and data order all go on exactly: equal to the last bit."""
    recipe = tiny_recipe(steps=6)
    pictures = _pictures(few_bottles, recipe, 120)
    whole = Trainer(recipe, pictures)
    for _ in range(6):
        whole.train_step()
    first = Trainer(recipe, pictures)
    for _ in range(3):
        first.train_step()
    save_checkpoint(tmp_path / CHECKPOINT_NAME, first.checkpoint({}))
    second = Trainer(recipe, pictures, load_checkpoint(tmp_path / CHECKPOINT_NAME, recipe))
    assert second.step == 3
    for _ in range(3):
        second.train_step()
    for name, value in _weights(whole).items():
        assert np.array_equal(value, _weights(second)[name]), name
        assert np.array_equal(whole.average[name], second.average[name]), name


@pytest.mark.slow
def test_two_accumulated_batches_step_like_one_of_twice_the_size(
    few_bottles: Path, tiny_recipe: MakeRecipe
) -> None:
    """With batch norm frozen the weights agree to float32 rounding."""
    after = []
    for batch, accumulate in ((4, 1), (2, 2)):
        recipe = tiny_recipe(
            batch=batch, accumulate=accumulate, augment={"flip": False}, learning_rate=0.01
        )
        trainer = Trainer(recipe, _pictures(few_bottles, recipe, 120))
        trainer.detector.eval()
        trainer.train_step()
        after.append(_weights(trainer))
    start = _weights(Trainer(tiny_recipe(), _pictures(few_bottles, tiny_recipe(), 120)))
    moved = max(float(np.abs(after[0][name] - start[name]).max()) for name in start)
    apart = max(float(np.abs(after[0][name] - after[1][name]).max()) for name in start)
    assert moved > 1e-4
    assert apart < 0.05 * moved


def test_a_budget_in_minutes_is_measured_in_training_time(
    few_bottles: Path, tiny_recipe: MakeRecipe
) -> None:
    """Half of the minutes is the middle of the schedule, however many steps that were."""
    recipe = tiny_recipe(steps=0, minutes=1.0)
    trainer = Trainer(recipe, _pictures(few_bottles, recipe, 120))
    trainer.seconds = 30.0
    assert trainer.progress == 0.5
    trainer.seconds = 90.0
    assert trainer.progress == 1.0


def test_epochs_become_steps(few_bottles: Path, tiny_recipe: MakeRecipe) -> None:
    """Four pictures in batches of two: two steps an epoch."""
    recipe = tiny_recipe(steps=0, epochs=3.0, batch=2)
    trainer = Trainer(recipe, _pictures(few_bottles, recipe, 120))
    trainer.step = 3
    assert trainer.progress == 0.5


def test_the_same_number_gives_the_same_batch(few_bottles: Path, tiny_recipe: MakeRecipe) -> None:
    """What a step sees depends on seed and number alone, not on what was drawn before."""
    recipe = tiny_recipe()
    pictures = _pictures(few_bottles, recipe, 120)
    one, two = Trainer(recipe, pictures), Trainer(recipe, pictures)
    two.batch(5)
    for a, b in zip(one.batch(2), two.batch(2), strict=True):
        assert np.array_equal(a.pixels, b.pixels)
        assert np.array_equal(a.boxes, b.boxes)


def test_a_checkpoint_of_another_recipe_is_refused(
    few_bottles: Path, tmp_path: Path, tiny_recipe: MakeRecipe
) -> None:
    """The key that differs is named."""
    recipe = tiny_recipe()
    trainer = Trainer(recipe, _pictures(few_bottles, recipe, 120))
    path = tmp_path / CHECKPOINT_NAME
    save_checkpoint(path, trainer.checkpoint({}))
    with pytest.raises(UsageFault, match="another recipe: classes"):
        load_checkpoint(path, tiny_recipe(classes=["Cap", "Bottle"]))


@pytest.mark.parametrize("content", [None, b"", b"no checkpoint at all", b"\x80\x04N."])
def test_a_file_that_is_no_checkpoint_is_refused(tmp_path: Path, content: bytes | None) -> None:
    """Missing, empty, foreign: one sentence each."""
    path = tmp_path / "x.pdparams"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageFault):
        load_checkpoint(path)


@pytest.mark.slow
def test_the_command_trains_saves_scores_and_resumes(
    few_bottles: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`inspectd train RECIPE --data DIR --out DIR`, and again with --resume."""
    recipe = tmp_path / "r.yaml"
    recipe.write_text(
        "name: r\nclasses: [Bottle, Cap]\ninput_px: 96\nbatch: 2\nvalidate_every: 4\n"
        "network: {widths: [8, 8, 8, 8], depths: [0, 0, 0, 0], neck_width: 8, levels: [8]}\n"
    )
    parser = argparse.ArgumentParser()
    cli.add_arguments(parser)
    words = [str(recipe), "--data", str(few_bottles), "--out", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", ["inspectd", "train", *words])
    assert cli.run(parser.parse_args([*words, "--steps", "2", "--amp"])) == 0
    told = capsys.readouterr().out
    assert "held-out part, 1 pictures" in told
    assert "--amp has no effect" in told or paddle.device.is_compiled_with_cuda()
    with pytest.raises(UsageFault, match="holds a checkpoint already"):
        cli.run(parser.parse_args([*words, "--steps", "2"]))
    assert cli.run(parser.parse_args([*words, "--steps", "3", "--resume"])) == 0
    saved = load_checkpoint(tmp_path / "out" / CHECKPOINT_NAME)
    assert saved.step == 3
    assert str(tmp_path) not in json.dumps(saved.notes)


def test_a_recipe_without_a_budget_is_refused(few_bottles: Path, tmp_path: Path) -> None:
    """Training never runs for ever by default."""
    recipe = tmp_path / "r.yaml"
    recipe.write_text("name: r\nclasses: [Bottle, Cap]\n")
    parser = argparse.ArgumentParser()
    cli.add_arguments(parser)
    words = [str(recipe), "--data", str(few_bottles), "--out", str(tmp_path / "out")]
    with pytest.raises(UsageFault, match="no budget"):
        cli.run(parser.parse_args(words))
