"""What a station file may say about recipes and about the PLC's counter."""

from dataclasses import replace
from typing import Any

import pytest

from inspectd.config import reciperules
from inspectd.config.recipes import every_rule, recipe_name, rules_by_recipe
from inspectd.config.schema import (
    AbsentPlc,
    Budget,
    CountRule,
    ModbusPlc,
    PlcSimulator,
    PlcTrigger,
    Recipe,
    ReplayCamera,
    Station,
    TimerTrigger,
)

RULE = CountRule(kind="count", name="cap", label="Cap", min_score=0.5, min=1)
STATION = Station(
    name="capper",
    cycle_ms=100,
    deadline_ms=100,
    budget=Budget(camera_ms=20, gate_ms=20, infer_ms=20, judge_ms=20, sink_ms=20),
    trigger=PlcTrigger(kind="plc"),
    camera=ReplayCamera(kind="replay", path="", width_px=8, height_px=8),
    model="m",
    rules=(RULE,),
    plc=ModbusPlc(kind="modbus"),
)
HALF, LITRE = (Recipe(number=at, name=name, rules=(RULE,)) for at, name in ((1, "half"), (2, "l")))
WITH_RECIPES = replace(STATION, rules=(), recipes=(HALF, LITRE))


def _keys(one: Any) -> list[str]:
    rules = [rule for cls, rule in reciperules.RULES if isinstance(one, cls)]
    return [complaint.key for rule in rules for complaint in rule(one)]


@pytest.mark.parametrize(
    ("station", "keys"),
    [
        (STATION, []),
        (WITH_RECIPES, []),
        (replace(STATION, rules=()), [""]),
        (replace(STATION, recipes=(HALF,)), ["rules"]),
        (replace(WITH_RECIPES, recipes=(HALF, replace(HALF, name="b"))), ["recipes[1].number"]),
        (replace(WITH_RECIPES, recipes=(HALF, replace(HALF, number=3))), ["recipes[1].name"]),
        (replace(WITH_RECIPES, plc=AbsentPlc(kind="none")), ["recipes"]),
        (
            replace(
                STATION,
                trigger=TimerTrigger(kind="timer", rate_hz=5),
                plc=ModbusPlc(kind="modbus", trigger_bits=16, trigger_skips_zero=True),
            ),
            ["plc.trigger_bits", "plc.trigger_skips_zero"],
        ),
        (replace(STATION, plc=ModbusPlc(kind="modbus", trigger_bits=16)), []),
    ],
)
def test_rules_or_recipes_and_somebody_who_chooses(station: Station, keys: list[str]) -> None:
    """Each mistake is named at its key."""
    assert _keys(station) == keys


def test_commands_of_a_simulator_are_checked_before_it_starts() -> None:
    """A wrong word is named with its place."""
    assert _keys(PlcSimulator(commands=("recipe:1@2", "golden", "halt"))) == ["commands[2]"]


def test_rules_are_found_by_recipe_and_by_place() -> None:
    """With and without recipes."""
    assert rules_by_recipe(STATION) == {0: (RULE,)}
    assert rules_by_recipe(WITH_RECIPES) == {1: (RULE,), 2: (RULE,)}
    places = [place for place, _ in every_rule(WITH_RECIPES)]
    assert places == ["recipes[0].rules[0]", "recipes[1].rules[0]"]
    assert [recipe_name(WITH_RECIPES, number) for number in (0, 1, 2, 3)] == ["", "half", "l", ""]
