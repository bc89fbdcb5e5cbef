"""Does what the PLC saw agree with the promises? Every part is held against every rule.

Pure: from books to breaches. What a fault in progress allows is no breach, but an exception with a
number: a part that stayed untold because its PLC did not answer, for example, and which therefore
must have been rejected at the gate.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from inspectd.chaos.books import PlcBook, Row, Tracked
from inspectd.chaos.kinds import Allows

__all__ = ["RULES", "Audit", "Breach", "Limits", "Span", "audit"]

RULES: Mapping[str, str] = {
    "unanswered": "a trigger got no verdict",
    "answered_twice": "a trigger got more than one verdict",
    "out_of_order": "verdicts came in another order than their triggers",
    "unknown_trigger": "a verdict names a trigger that was never fired",
    "escape": "a part was told OK that is not",
    "passed_without_ok": "a part passed the gate without an OK taken before",
    "late_unmarked": "a verdict left after its deadline and did not say LATE",
    "unrecorded": "a verdict that the PLC took is not in the record",
    "recorded_twice": "a part is in the record more than once",
    "differing": "the record has another verdict than the PLC took",
    "ready_stayed": "READY and heartbeat stood although the line could not judge",
    "no_recovery": "no OK came back in time",
    "line_ended": "the line ended by itself",
    "leak": "something was not given back",
}
"""What each name of a breach means."""


class Breach(NamedTuple):
    """A promise that was not kept."""

    rule: str
    """A key of `RULES`."""
    at_ns: int
    """When, monotonic: finds the fault."""
    what: str
    """In words, with ids."""
    fault: int = 0
    """Number of the fault it belongs to; 0: none is near."""


class Span(NamedTuple):
    """The time of one fault, until the line had recovered."""

    fault: int
    begin_ns: int
    end_ns: int
    allows: Allows


class Limits(NamedTuple):
    """Times of the station."""

    deadline_ns: int
    settled_ns: int
    """So long after its trigger a part is told and recorded, when all is well."""


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found."""

    breaches: tuple[Breach, ...]
    exceptions: Mapping[str, int]
    """By name: what faults in progress allow."""
    parts: int
    """Triggers that were looked at."""
    told: int
    """Of these, with at least one verdict."""


def audit(
    book: PlcBook,
    rows: Iterable[Row],
    spans: Sequence[Span],
    limits: Limits,
    *,
    until_ns: int,
    from_ns: int = 0,
) -> Audit:
    """Hold the parts of one station, fired between two moments, against the rules.

    Args:
        book: Of its PLC.
        rows: Of the record, in any order; strays left out.
        spans: Faults in progress, and what they allow.
        limits: Times of the station.
        until_ns: Now; parts that may still be under way are not looked at.
        from_ns: Parts fired before were audited already.
    """
    return _Auditor(book, rows, spans, limits).audited(from_ns, until_ns - limits.settled_ns)


class _Auditor:
    def __init__(
        self, book: PlcBook, rows: Iterable[Row], spans: Sequence[Span], limits: Limits
    ) -> None:
        self._book, self._spans, self._limits = book, spans, limits
        self._rows: dict[int, list[Row]] = {}
        for row in rows:
            self._rows.setdefault(row.trigger_id, []).append(row)
        self._exceptions: Counter[str] = Counter()

    def audited(self, from_ns: int, to_ns: int) -> Audit:
        parts = [one for one in self._book.parts.values() if from_ns < one.fired_ns <= to_ns]
        breaches = [*self._of_parts(parts), *self._strangers(from_ns, to_ns)]
        breaches.extend(self._out_of_order(from_ns, to_ns))
        told = sum(bool(part.taken) for part in parts)
        return Audit(
            tuple(one._replace(fault=self._fault_at(one.at_ns)) for one in breaches),
            dict(self._exceptions),
            len(parts),
            told,
        )

    def _of_parts(self, parts: Iterable[Tracked]) -> Iterator[Breach]:
        for part in parts:
            rows = self._rows.get(part.trigger_id, [])
            allows = self._allowed(part)
            yield from self._told_once(part, allows)
            yield from self._gate(part)
            yield from self._recorded(part, rows, allows)
            for row in rows:
                yield from self._in_time(part, row, allows)
            yield from self._truth(part, rows)

    # ------------------------------------------------------------ one part

    def _told_once(self, part: Tracked, allows: Allows) -> Iterator[Breach]:
        if not part.taken:
            if Allows.UNTOLD in allows:
                self._exceptions["untold"] += 1
                return
            yield Breach("unanswered", part.fired_ns, f"trigger {part.trigger_id}")
        elif len(part.taken) > 1:
            if Allows.TWICE in allows:
                self._exceptions["told twice"] += 1
                return
            said = ", ".join(one.verdict for one in part.taken)
            yield Breach("answered_twice", part.fired_ns, f"trigger {part.trigger_id}: {said}")

    def _gate(self, part: Tracked) -> Iterator[Breach]:
        first = part.taken[0] if part.taken else None
        is_good = first is not None and first.verdict == "OK" and first.at_ns <= part.gate_ns
        if part.has_passed and not is_good:
            yield Breach("passed_without_ok", part.gate_ns, f"trigger {part.trigger_id}")

    def _truth(self, part: Tracked, rows: Sequence[Row]) -> Iterator[Breach]:
        is_told_ok = any(one.verdict == "OK" for one in part.taken)
        wanted = {row.expected for row in rows} - {"", "OK"}
        if is_told_ok and wanted:
            words = f"trigger {part.trigger_id} was told OK and should be {'/'.join(wanted)}"
            yield Breach("escape", part.fired_ns, words)

    def _in_time(self, part: Tracked, row: Row, allows: Allows) -> Iterator[Breach]:
        is_late = 0 < row.deadline_ns < row.sent_ns and row.verdict != "LATE"
        if not is_late:
            return
        if Allows.HELD in allows:
            self._exceptions["confirmed late"] += 1
            return
        over_ms = (row.sent_ns - row.deadline_ns) / 1e6
        words = f"trigger {part.trigger_id}: {row.verdict}, {over_ms:.1f} ms after its deadline"
        yield Breach("late_unmarked", part.fired_ns, words)

    def _recorded(self, part: Tracked, rows: Sequence[Row], allows: Allows) -> Iterator[Breach]:
        if len(rows) > 1:
            said = ", ".join(row.verdict for row in rows)
            yield Breach("recorded_twice", part.fired_ns, f"trigger {part.trigger_id}: {said}")
        if not part.taken:
            return
        told = part.taken[0].verdict
        if not rows:
            words = f"trigger {part.trigger_id}: {told} ({part.taken[0].reason})"
            yield Breach("unrecorded", part.fired_ns, words)
        elif rows[0].verdict != told:
            if Allows.TWICE in allows:
                self._exceptions["carried out late"] += 1
                return
            words = f"trigger {part.trigger_id}: PLC {told}, record {rows[0].verdict}"
            yield Breach("differing", part.fired_ns, words)

    # ------------------------------------------------------------ all parts

    def _strangers(self, from_ns: int, to_ns: int) -> Iterator[Breach]:
        for trigger_id, taken in self._book.strangers:
            if from_ns < taken.at_ns <= to_ns:
                words = f"trigger {trigger_id}: {taken.verdict} ({taken.reason})"
                yield Breach("unknown_trigger", taken.at_ns, words)

    def _out_of_order(self, from_ns: int, to_ns: int) -> Iterator[Breach]:
        highest = -1
        for part in self._book.order:
            if part.place < highest and from_ns < part.fired_ns <= to_ns:
                yield Breach("out_of_order", part.fired_ns, f"trigger {part.trigger_id}")
            highest = max(highest, part.place)

    # ------------------------------------------------------------ faults

    def _allowed(self, part: Tracked) -> Allows:
        """What the faults allow that touched the life of a part."""
        begin_ns, end_ns = part.fired_ns, part.fired_ns + self._limits.deadline_ns
        allows = Allows.NOTHING
        for span in self._spans:
            if span.begin_ns <= end_ns and span.end_ns >= begin_ns:
                allows |= span.allows
        return allows

    def _fault_at(self, at_ns: int) -> int:
        """The latest fault that had begun, in whose reach the moment lies."""
        reach_ns = self._limits.deadline_ns
        near = [
            span.fault
            for span in self._spans
            if span.begin_ns - reach_ns <= at_ns <= span.end_ns + reach_ns
        ]
        return max(near, default=0)
