"""How long until the next good part? Medians and p99 per kind of fault.

Percentiles are values that occurred (nearest rank). Pure.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from inspectd.chaos.audit import Breach
from inspectd.chaos.kinds import Kind

__all__ = ["Done", "Line", "rank", "table"]


class Done(NamedTuple):
    """A fault that was done."""

    number: int
    kind: str
    begin_ns: int
    end_ns: int
    recovered_ns: int
    """When the PLC took the next OK of a part fired after the fault; 0: it never did."""
    starts_ns: int = 0
    """From its beginning (a kill) or from its end (all that lasts): what recovery is counted from.
    """

    @property
    def recovery_s(self) -> float | None:
        """None: there was none."""
        if not self.recovered_ns:
            return None
        return max(0, self.recovered_ns - self.starts_ns) / 1e9


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the table."""

    kind: str
    count: int
    breaches: int
    p50_s: float | None
    p99_s: float | None
    longest_s: float | None


def table(
    kinds: Iterable[Kind], done: Sequence[Done], breaches: Iterable[Breach]
) -> tuple[Line, ...]:
    """One row for each kind that was done, in the order of `kinds`."""
    names = {one.number: one.kind for one in done}
    counts: Mapping[str, int] = Counter(names.get(one.fault, "") for one in breaches)
    rows = []
    for kind in kinds:
        ours = [one for one in done if one.kind == kind.name]
        times = [one.recovery_s for one in ours if one.recovery_s is not None]
        if ours:
            rows.append(
                Line(
                    kind.name,
                    len(ours),
                    counts.get(kind.name, 0),
                    rank(times, 0.5),
                    rank(times, 0.99),
                    max(times, default=None),
                )
            )
    return tuple(rows)


def rank(values: Sequence[float], share: float) -> float | None:
    """The value below which `share` of the values lie, by nearest rank; None of no values.

    >>> rank([3.0, 1.0, 2.0], 0.5)
    2.0
    """
    if not values:
        return None
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]
