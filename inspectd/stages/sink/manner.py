"""How a station's sink deals with its PLC: everything the station file says about it."""

from dataclasses import dataclass, field

from inspectd.config.schema import Line, PlcTrigger
from inspectd.config.schema.fieldbus import FieldbusPlc
from inspectd.plc.codes import NO_RECIPE
from inspectd.plc.registers import recipe_word
from inspectd.stages.sink.ejector import doubt_ns_of
from inspectd.stages.sink.ids import WIDE, Ids
from inspectd.stages.sink.tally import USUAL, Limits
from inspectd.stages.sink.timing import Timing, timing_of

__all__ = ["Manner", "manner_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """The keys of one station that concern its sink."""

    timing: Timing
    is_plc_triggered: bool
    ids: Ids = WIDE
    limits: Limits = USUAL
    recipe_digest: int = 0
    """See `recipe_word`."""
    recipes: frozenset[int] = field(default=frozenset({NO_RECIPE}))
    """Numbers by which parts may be judged; `NO_RECIPE` alone: the station has no recipes."""
    ejector_doubt_ns: int | None = None
    """See `Ejector`; None: the PLC moves the ejector, and no process of ours is told."""


def manner_of(line: Line, station: int) -> Manner:
    """Read them from the station file."""
    ours = line.stations[station]
    is_plc_triggered = isinstance(ours.trigger, PlcTrigger)
    ids, limits = WIDE, USUAL
    if isinstance(ours.plc, FieldbusPlc):
        limits = Limits(late=ours.plc.late_limit, reject=ours.plc.reject_limit)
        if is_plc_triggered:
            ids = Ids(bits=ours.plc.trigger_bits, skips_zero=ours.plc.trigger_skips_zero)
    return Manner(
        timing=timing_of(ours),
        is_plc_triggered=is_plc_triggered,
        ids=ids,
        limits=limits,
        recipe_digest=recipe_word(line.digest),
        recipes=frozenset(recipe.number for recipe in ours.recipes) or frozenset({NO_RECIPE}),
        ejector_doubt_ns=doubt_ns_of(ours),
    )
