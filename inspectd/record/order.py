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


def order_of(parts: Iterable[Part], *, has_plc: bool) -> dict[str, Any]:
    """Look at the parts of one station in the order in which their verdicts left.

    Args:
        parts: In the order of the record.
        has_plc: Whether verdicts leave for a PLC; without one none is ever confirmed.

    Returns:
        `missing`: ids that were passed over; `repeated`: ids that came twice in a row;
        `stepped_back`: ids that came after a later one (a PLC that restarted does that, too);
        `sent_out_of_order`: verdicts that left before that of an earlier trigger;
        `never_sent`: verdicts that no PLC confirmed. `is_complete` when all are empty.
    """
    found = _Findings()
    previous: Part | None = None
    sent_ns = 0
    for part in parts:
        if previous is not None:
            found.step(previous.trigger_id, part.trigger_id)
        if has_plc and part.sent_ns == 0:
            found.never_sent.append(part.trigger_id)
        elif 0 < part.sent_ns < sent_ns:
            found.sent_out_of_order.append(part.trigger_id)
        sent_ns = max(sent_ns, part.sent_ns)
        previous = part
    return found.as_dict()


class _Findings:
    """What is not as promised."""

    def __init__(self) -> None:
        self.missing: list[int] = []
        self.missing_count = 0
        self.repeated: list[int] = []
        self.stepped_back: list[int] = []
        self.sent_out_of_order: list[int] = []
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
            "sent_out_of_order": self.sent_out_of_order,
            "never_sent": self.never_sent,
        }
        listed = {"missing": {"count": self.missing_count, "ids": self.missing}}
        for name, ids in kinds.items():
            listed[name] = {"count": len(ids), "ids": ids[:NAMED_MAX]}
        return {"is_complete": not any(one["count"] for one in listed.values()), **listed}
