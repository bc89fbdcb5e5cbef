"""A recipe says everything that shapes the weights, and nothing that we do not know."""

from pathlib import Path

import pytest

from inspectd.errors import UsageFault
from inspectd.train.recipe import load_recipe, recipe_from_dict, recipe_to_dict

MINIMAL = {"name": "x", "classes": ["a"]}


@pytest.mark.parametrize("name", ["bottle_cap", "deeppcb"])
def test_shipped_recipes_load_and_survive_a_round_trip(name: str) -> None:
    """A checkpoint stores its recipe as plain values and gets the same one back."""
    recipe = load_recipe(name)
    assert recipe.name == name
    assert recipe.credit
    assert recipe.limits
    assert recipe_from_dict(recipe_to_dict(recipe), "test") == recipe


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (MINIMAL | {"learningrate": 1}, "learningrate"),
        (MINIMAL | {"augment": {"flop": True}}, "augment.flop"),
        (MINIMAL | {"network": {"width": [8]}}, "network.width"),
        ({"name": "x"}, "classes"),
        (MINIMAL | {"batch": "many"}, "batch"),
        (MINIMAL | {"batch": True}, "batch"),
        (MINIMAL | {"network": {"widths": [8, "9"]}}, "network.widths"),
        (MINIMAL | {"input_px": 100}, "input_px"),
        ([1, 2], "mapping"),
    ],
)
def test_a_wrong_key_is_refused_by_name(data: object, named: str) -> None:
    """A misspelt key never trains the default in silence."""
    with pytest.raises(UsageFault, match=named):
        recipe_from_dict(data, "some.yaml")


def test_a_whole_number_is_a_fraction_too() -> None:
    """`minutes: 5` needs no decimal point."""
    assert recipe_from_dict(MINIMAL | {"minutes": 5}, "x").minutes == 5.0


def test_an_unknown_recipe_names_the_shipped_ones() -> None:
    """The remedy is in the message."""
    with pytest.raises(UsageFault, match="bottle_cap, deeppcb"):
        load_recipe("bottlecap")


def test_text_that_is_no_yaml_is_one_sentence(tmp_path: Path) -> None:
    """A syntax fault of the file is a fault of use, not a traceback."""
    path = tmp_path / "r.yaml"
    path.write_text("name: [")
    with pytest.raises(UsageFault, match="not YAML"):
        load_recipe(str(path))
