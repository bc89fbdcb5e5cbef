"""Which faults, when, on whom, for how long: a pure function of the seed.

The kinds are dealt from shuffled decks, each kind once a deck, so that every kind has its share
however long the campaign is, and no process is struck so often that its restart budget ends.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from inspectd.chaos.kinds import Kind

__all__ = ["PAUSE_S", "Fault", "describe", "plan"]

PAUSE_S = (0.3, 2.0)
"""Between the recovery from a fault and the next one: the moment is as random as the part's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault of a campaign."""

    number: int
    """Counted from 1."""
    kind: Kind
    station: int
    """Index of the station that it strikes (kinds for the whole line do not ask)."""
    pause_s: float
    """Before it."""
    lasts_s: float
    salt: int
    """Seed of what happens inside the fault (which bytes are garbled, how far a clock steps)."""


def plan(seed: int, count: int, kinds: Sequence[Kind], stations: int) -> tuple[Fault, ...]:
    """Deal so many faults.

    Args:
        seed: The same seed, kinds and stations give the same faults.
        count: How many; a longer plan begins with the shorter one.
        kinds: At least one.
        stations: How many the line has.
    """
    return tuple(islice(_faults(random.Random(seed), kinds, stations), count))  # noqa: S311


def describe(fault: Fault) -> str:
    """One line for a person."""
    lasts = f" for {fault.lasts_s:.2f} s" if fault.lasts_s else ""
    return f"#{fault.number} {fault.kind.name}{lasts} (station {fault.station})"


def _faults(dice: random.Random, kinds: Sequence[Kind], stations: int) -> Iterator[Fault]:
    number = 0
    while True:
        deck = list(kinds)
        dice.shuffle(deck)
        for kind in deck:
            number += 1
            yield Fault(
                number=number,
                kind=kind,
                station=dice.randrange(stations),
                pause_s=round(dice.uniform(*PAUSE_S), 3),
                lasts_s=round(dice.uniform(*kind.lasts_s), 3),
                salt=dice.getrandbits(32),
            )
