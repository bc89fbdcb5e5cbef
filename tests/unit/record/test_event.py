"""What an event says of its part."""

import json
from dataclasses import replace
from typing import Any

import pytest

from inspectd.config.schema import ForbidRule, Recipe
from inspectd.record.event import event_of, recipe_of

RULE = ForbidRule(kind="forbid", name="no-scratch", labels=("Scratch",), min_score=0.5)


@pytest.mark.parametrize(("number", "said"), [(7, {"number": 7, "name": "half-litre"}), (0, None)])
def test_an_event_names_the_recipe_by_which_its_part_was_judged(
    desk: Any, number: int, said: dict[str, object] | None
) -> None:
    """By number and name; a part that had none says nothing."""
    line = desk.line()
    recipes = (Recipe(number=7, name="half-litre", rules=(RULE,)),)
    line = replace(line, stations=(replace(line.stations[0], rules=(), recipes=recipes),))
    ticket = replace(desk.ticket(1), recipe=number)
    detail = json.loads(event_of(ticket, line, "run-1", desk.utc()).detail)
    assert detail.get("recipe") == said
    assert recipe_of(detail) == number
