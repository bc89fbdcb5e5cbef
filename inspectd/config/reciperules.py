"""Rules about recipes, and about the counter of the PLC that triggers."""

import re
from collections.abc import Iterator
from typing import Any

from inspectd.config.complaint import Complaint, CrossRule, repeated_names
from inspectd.config.schema import AbsentPlc, PlcSimulator, PlcTrigger, Station
from inspectd.config.schema.fieldbus import FieldbusPlc

__all__ = ["COMMAND", "RULES"]

COMMAND = re.compile(r"(?:reset|golden|recipe:\d{1,3})(?:@\d+(?:\.\d+)?s?)?")
"""As `inspectd plc-sim --command` takes it."""


def rules_or_recipes_are_given(station: Station) -> Iterator[Complaint]:
    """A station has `rules`, or `recipes` with rules of their own: one of the two."""
    if not station.rules and not station.recipes:
        yield Complaint("", "when is a part good? give `rules`, or `recipes`")
    if station.rules and station.recipes:
        what = "the recipes have rules of their own; move these into each of them, or take them out"
        yield Complaint("rules", what)


def recipe_names_are_unique(station: Station) -> Iterator[Complaint]:
    """No two recipes of a station have the same `name`: the record names the one that judged."""
    yield from repeated_names("recipes", [recipe.name for recipe in station.recipes])


def recipe_numbers_are_unique(station: Station) -> Iterator[Complaint]:
    """No two recipes of a station have the same `number`: the PLC asks for one by it."""
    seen: dict[int, int] = {}
    for at, recipe in enumerate(station.recipes):
        first = seen.setdefault(recipe.number, at)
        if first != at:
            what = f"the same number as recipes[{first}]; give another"
            yield Complaint(f"recipes[{at}].number", what)


def recipes_have_somebody_to_choose(station: Station) -> Iterator[Complaint]:
    """`recipes` go with a PLC: it says which kind of part comes, and is never guessed."""
    if station.recipes and isinstance(station.plc, AbsentPlc):
        what = "there is no PLC that could choose one; give `rules` instead, or a PLC"
        yield Complaint("recipes", what)


def narrow_counter_triggers(station: Station) -> Iterator[Complaint]:
    """`plc.trigger_bits` and `plc.trigger_skips_zero` go with `trigger.kind: plc`."""
    plc = station.plc
    if not isinstance(plc, FieldbusPlc) or isinstance(station.trigger, PlcTrigger):
        return
    what = "the station triggers itself, so the PLC counts no triggers; take it out"
    if plc.trigger_bits != FieldbusPlc.__dataclass_fields__["trigger_bits"].default:
        yield Complaint("plc.trigger_bits", what)
    if plc.trigger_skips_zero:
        yield Complaint("plc.trigger_skips_zero", what)


def simulator_commands_can_be_read(simulator: PlcSimulator) -> Iterator[Complaint]:
    """`commands` of a simulator: `reset`, `golden` or `recipe:NUMBER`, perhaps with `@SECOND`."""
    for at, command in enumerate(simulator.commands):
        if not COMMAND.fullmatch(command):
            what = f"{command!r} is no command; write reset, golden, or recipe:NUMBER"
            yield Complaint(f"commands[{at}]", what)


RULES: tuple[tuple[type[Any], CrossRule], ...] = (
    (Station, rules_or_recipes_are_given),
    (Station, recipe_numbers_are_unique),
    (Station, recipe_names_are_unique),
    (Station, recipes_have_somebody_to_choose),
    (Station, narrow_counter_triggers),
    (PlcSimulator, simulator_commands_can_be_read),
)
"""Part of `inspectd.config.crossrules.RULES`."""
