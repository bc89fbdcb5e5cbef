"""Two books of the same parts: what the PLC wrote down, and what the record has.

Pure: made from lines and rows that somebody else read.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from inspectd.plc.book import Entry, What

__all__ = ["PlcBook", "Row", "Taken", "Tracked"]


class Taken(NamedTuple):
    """A verdict as the PLC took it over."""

    at_ns: int
    verdict: str
    reason: str
    sequence: int


@dataclass(slots=True)
class Tracked:
    """A part that the PLC fired."""

    trigger_id: int
    fired_ns: int
    place: int
    """The how-manieth it was, from 0: the order of the triggers."""
    taken: list[Taken] = field(default_factory=list)
    """Mostly one."""
    gate_ns: int = 0
    """When it reached the reject gate; 0: not yet."""
    has_passed: bool = False


class Row(NamedTuple):
    """A part in the record."""

    trigger_id: int
    verdict: str
    deadline_ns: int
    sent_ns: int
    """0: the verdict never left."""
    run_id: str
    expected: str
    """What it should have been by its labels; empty: not known."""


class PlcBook:
    """What the PLC of one station knows."""

    def __init__(self) -> None:
        self.parts: dict[int, Tracked] = {}
        """By trigger id, in the order of the triggers (dicts keep it)."""
        self.strangers: list[tuple[int, Taken]] = []
        """Verdicts for ids that were never fired."""
        self.order: list[Tracked] = []
        """The part of each first verdict, in the order in which they were taken."""
        self.is_ready: list[tuple[int, bool]] = []
        """When vision became ready for triggers (True), or not any more."""
        self.unasked_ns: list[int] = []
        """When parts passed the photo-eye that nobody could judge."""
        self.last_ns = 0

    def add(self, entries: Iterable[Entry]) -> None:
        """Go on with what happened."""
        for entry in entries:
            self.last_ns = entry.at_ns
            self._add(entry)

    def first_ok_after(self, fired_after_ns: int) -> int | None:
        """When the PLC took the first OK of a part fired after this moment; None: not yet."""
        first = None
        for part in reversed(self.order):
            if part.fired_ns <= fired_after_ns:
                break
            if part.taken[0].verdict == "OK":
                first = part.taken[0].at_ns
        return first

    def fell_between(self, begin_ns: int, end_ns: int) -> bool:
        """Whether vision was not ready at some moment between the two."""
        state = False
        for at_ns, is_ready in self.is_ready:
            if at_ns > begin_ns:
                break
            state = is_ready
        falls = (not is_ready for at_ns, is_ready in self.is_ready if begin_ns < at_ns <= end_ns)
        return not state or any(falls)

    def _add(self, entry: Entry) -> None:
        at_ns, (what, trigger_id, verdict, reason, sequence) = entry
        if what in (What.READY, What.UNREADY):
            self.is_ready.append((at_ns, what == What.READY))
        elif what == What.UNASKED:
            self.unasked_ns.append(at_ns)
        elif what == What.FIRED:
            self.parts[trigger_id] = Tracked(trigger_id, at_ns, len(self.parts))
        elif what == What.TAKEN:
            self._take(trigger_id, Taken(at_ns, verdict, reason, sequence))
        elif what in (What.PASSED, What.REJECTED):
            part = self.parts[trigger_id]
            part.gate_ns, part.has_passed = at_ns, what == What.PASSED

    def _take(self, trigger_id: int, taken: Taken) -> None:
        part = self.parts.get(trigger_id)
        if part is None:
            self.strangers.append((trigger_id, taken))
            return
        if not part.taken:
            self.order.append(part)
        part.taken.append(taken)
