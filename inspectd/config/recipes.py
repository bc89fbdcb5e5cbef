"""The rules of a station, with or without recipes. Pure."""

from collections.abc import Iterator

from inspectd.config.schema import Rule, Station

__all__ = ["NO_RECIPE", "every_rule", "recipe_name", "rules_by_recipe"]

NO_RECIPE = 0
"""Number in the tickets of stations without recipes."""


def rules_by_recipe(station: Station) -> dict[int, tuple[Rule, ...]]:
    """The rules by the number of their recipe; a station without recipes has `NO_RECIPE` alone."""
    if not station.recipes:
        return {NO_RECIPE: station.rules}
    return {recipe.number: recipe.rules for recipe in station.recipes}


def recipe_name(station: Station, number: int) -> str:
    """The name of a recipe; empty when the station has none of this number."""
    return next((one.name for one in station.recipes if one.number == number), "")


def every_rule(station: Station) -> Iterator[tuple[str, Rule]]:
    """Each rule with its place below the station: `rules[0]`, `recipes[1].rules[0]`."""
    for at, rule in enumerate(station.rules):
        yield f"rules[{at}]", rule
    for number, recipe in enumerate(station.recipes):
        for at, rule in enumerate(recipe.rules):
            yield f"recipes[{number}].rules[{at}]", rule
