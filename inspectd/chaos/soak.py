"""A long run under load: is everything that is held flat, and was every verdict in time?"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic, monotonic_ns
from typing import NamedTuple

from inspectd.chaos.campaign import Campaign, Outcome
from inspectd.chaos.leaks import Holding
from inspectd.chaos.trend import Trend, trend_of
from inspectd.chaos.world import World
from inspectd.errors import UsageFault

__all__ = ["Flatness", "Soak", "Soaked", "flatness"]

_CAPACITY_S = 12.0
_SETTLE_S = 4.0
"""Before and after the capacity is measured."""
_FLOOD_HZ = 200.0
_SAMPLES = 240
"""Looks at everybody during a soak."""
_SAMPLE_MIN_S = 1.0
_WARM_UP_SHARE = 0.2
"""Of the samples: caches fill and pages are touched for the first time."""
_ALLOWED: Mapping[str, float] = {"fds": 1.0, "threads": 1.0, "pss_mb": 4.0}
"""Growth over the soak that counts as flat, if it is certain that there is any."""


class Flatness(NamedTuple):
    """One number of one process over the soak."""

    process: str
    what: str
    first: float
    """Median of the first tenth of the samples after the warm-up."""
    last: float
    trend: Trend
    is_flat: bool


@dataclass(slots=True)
class Soaked:
    """What a soak found."""

    capacity_hz: float = 0.0
    rate_hz: float = 0.0
    seconds: float = 0.0
    parts: int = 0
    late: int = 0
    not_judged: int = 0
    """Of these, verdicts FAULT (no free slot, for example): load that the line did not carry."""
    times_s: list[float] = field(default_factory=list)
    samples: dict[str, list[Holding]] = field(default_factory=dict)
    """By process, one for each time; a process that was away lacks some."""
    slots: list[int] = field(default_factory=list)
    flat: tuple[Flatness, ...] = ()
    outcome: Outcome = field(default_factory=Outcome)

    @property
    def is_good(self) -> bool:
        """Nothing late, nothing left unjudged, everything flat, no breach."""
        is_flat = all(one.is_flat for one in self.flat)
        return is_flat and not (self.late or self.not_judged or self.outcome.breaches)


class Soak:
    """Carries out a soak."""

    def __init__(self, world: World, say: Callable[[str], None]) -> None:
        """Work on `world`; `say` shows a line of text to a person."""
        self._world, self._say = world, say
        self._campaign = Campaign(world, say)

    def run(self, seconds: float, load: float, rate_hz: float) -> Soaked:
        """Soak; `rate_hz` 0: `load` times the capacity, which is measured first.

        Raises:
            UsageFault: The line does not judge, or has no capacity to speak of.
        """
        found = Soaked()
        self._campaign.begin()
        if not rate_hz:
            found.capacity_hz = self._capacity_hz()
            self._say(f"capacity {found.capacity_hz:.1f} parts a second")
        found.rate_hz = rate_hz or load * found.capacity_hz
        self._say(f"{found.rate_hz:.1f} parts a second for {seconds / 60:.1f} minutes")
        self._set_rates(found.rate_hz)
        self._world.wait(_SETTLE_S)
        begin_ns = monotonic_ns()
        self._sample(found, seconds)
        self._count(found, begin_ns, monotonic_ns())
        found.flat = flatness(found.times_s, found.samples)
        found.outcome = self._campaign.end()
        return found

    def _set_rates(self, rate_hz: float) -> None:
        """Share a rate out among the stations."""
        for plc in self._world.plcs:
            plc.set_rate(rate_hz / len(self._world.plcs))

    def _capacity_hz(self) -> float:
        """Parts a second that are judged in time when more come than can be."""
        world = self._world
        self._set_rates(_FLOOD_HZ)
        world.wait(_SETTLE_S)
        begin_ns = monotonic_ns()
        world.wait(_CAPACITY_S)
        end_ns = monotonic_ns()
        self._set_rates(0)
        world.wait(_SETTLE_S)
        judged = sum(
            part.taken[0].verdict in ("OK", "NG", "UNFIT")
            for plc in world.plcs
            for part in plc.book.order
            if begin_ns < part.taken[0].at_ns <= end_ns
        )
        if not judged:
            raise UsageFault(
                "no part was judged under full load", "capacity", "give --rate-hz instead"
            )
        return judged / ((end_ns - begin_ns) / 1e9)

    def _sample(self, found: Soaked, seconds: float) -> None:
        pause_s = max(_SAMPLE_MIN_S, seconds / _SAMPLES)
        begin_s = monotonic()
        while (now_s := monotonic() - begin_s) < seconds:
            found.times_s.append(now_s)
            for name, holding in self._campaign.look().items():
                found.samples.setdefault(name, []).append(holding)
            inside = self._world.house.inside()
            found.slots.append(-1 if inside is None else inside.slots_in_use())
            self._world.wait(min(pause_s, max(0.0, seconds - now_s)))
        found.seconds = monotonic() - begin_s

    def _count(self, found: Soaked, begin_ns: int, end_ns: int) -> None:
        for plc in self._world.plcs:
            for part in plc.book.order:
                if begin_ns < part.fired_ns <= end_ns:
                    found.parts += 1
                    found.late += part.taken[0].verdict == "LATE"
                    reasons = ("NO_FREE_SLOT", "QUEUE_FULL", "TRIGGER_MISSED")
                    found.not_judged += part.taken[0].reason in reasons


def flatness(
    times_s: Sequence[float], samples: Mapping[str, Sequence[Holding]]
) -> tuple[Flatness, ...]:
    """Hold every number of every process against a slope.

    A process that was not there at every time was restarted: it has no slope, and is not flat.
    """
    rows = []
    skipped = int(len(times_s) * _WARM_UP_SHARE)
    for name, holdings in samples.items():
        for what, allowed in _ALLOWED.items():
            values = [float(getattr(holding, what)) for holding in holdings]
            is_whole = len(values) == len(times_s)
            kept = values[skipped:] if is_whole else values
            trend = trend_of(times_s[skipped : skipped + len(kept)], kept)
            is_flat = is_whole and not (trend.is_certain and trend.growth > allowed)
            tenth = max(1, len(kept) // 10)
            first, last = _middle(kept[:tenth]), _middle(kept[-tenth:])
            rows.append(Flatness(name, what, first, last, trend, is_flat))
    return tuple(rows)


def _middle(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]
