"""Whether each trigger of a station got exactly one verdict, in the order of the triggers.

Pure. Ids are counters of 32 bits that wrap: the distance from one to the next is taken modulo
2**32, and a distance of more than half of that is a step back.
"""

from collections.abc import Iterable
from typing import Any

from inspectd.record.reading import Part

__all__ = ["NAMED_MAX", "order_of"]

NAMED_MAX = 20
"""Ids that are listed; all are counted."""
_WRAP = 1 << 32


def order_of(parts: Iterable[Part]) -> dict[str, Any]:
    """Look at the parts of one station in the order in which their verdicts left.

    Args:
        parts: In any order; a restarted record process may have got events in another one.

    Returns:
        `missing`: ids that were passed over; `repeated`: ids that came twice in a row;
        `stepped_back`: ids that left after a later one (a PLC that restarted does that, too);
        `never_sent`: verdicts that no PLC confirmed. `is_complete` when all are empty.
    """
    found = _Findings()
    previous: Part | None = None
    for part in sorted(parts, key=lambda one: one.sent_ns or one.decided_ns):
        if previous is not None:
            found.step(previous.trigger_id, part.trigger_id)
        if part.sent_ns == 0:
            found.never_sent.append(part.trigger_id)
        previous = part
    return found.as_dict()


class _Findings:
    """What is not as promised."""

    def __init__(self) -> None:
        self.missing: list[int] = []
        self.missing_count = 0
        self.repeated: list[int] = []
        self.stepped_back: list[int] = []
        self.never_sent: list[int] = []

    def step(self, previous: int, this: int) -> None:
        """Book the way from one id to the next."""
        distance = (this - previous) % _WRAP
        if distance == 0:
            self.repeated.append(this)
        elif distance > _WRAP // 2:
            self.stepped_back.append(this)
        else:
            self.missing_count += distance - 1
            room = NAMED_MAX - len(self.missing)
            self.missing.extend((previous + i) % _WRAP for i in range(1, min(distance, room + 1)))

    def as_dict(self) -> dict[str, Any]:
        """Counts and the first ids of each kind."""
        kinds = {
            "repeated": self.repeated,
            "stepped_back": self.stepped_back,
            "never_sent": self.never_sent,
        }
        listed = {"missing": {"count": self.missing_count, "ids": self.missing}}
        for name, ids in kinds.items():
            listed[name] = {"count": len(ids), "ids": ids[:NAMED_MAX]}
        return {"is_complete": not any(one["count"] for one in listed.values()), **listed}
