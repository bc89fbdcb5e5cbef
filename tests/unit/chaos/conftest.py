"""Fabricated books: a PLC and a record that agree, until a test makes them disagree."""

from collections.abc import Sequence

import pytest

from inspectd.chaos.audit import Audit, Limits, Span, audit
from inspectd.chaos.books import PlcBook, Row
from inspectd.plc.book import Entry, Happening, What

MS = 1_000_000
LIMITS = Limits(deadline_ns=300 * MS, settled_ns=500 * MS)
END_NS = 1 << 60


class Trial:
    """Writes both books; each part is fired at its id times 100 ms."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.rows: list[Row] = []

    def happened(
        self, at_ms: float, what: str, trigger_id: int = 0, verdict: str = "", reason: str = "NONE"
    ) -> None:
        """Write into the PLC's book."""
        happening = Happening(what, trigger_id, verdict, reason, trigger_id % 65535 + 1)
        self.entries.append(Entry(int(at_ms * MS), happening))

    def fired(self, trigger_id: int) -> None:
        """A part at the photo-eye."""
        self.happened(trigger_id * 100, What.FIRED, trigger_id)

    def taken(self, trigger_id: int, verdict: str = "OK", after_ms: float = 50) -> None:
        """The PLC took a verdict."""
        self.happened(trigger_id * 100 + after_ms, What.TAKEN, trigger_id, verdict)

    def gate(self, trigger_id: int, what: str = What.PASSED) -> None:
        """The part reached the gate."""
        self.happened(trigger_id * 100 + 700, what, trigger_id)

    def recorded(
        self, trigger_id: int, verdict: str = "OK", expected: str = "", sent_after_ms: float = 40
    ) -> None:
        """The record has it."""
        fired_ns = trigger_id * 100 * MS
        sent_ns = fired_ns + int(sent_after_ms * MS) if sent_after_ms else 0
        row = Row(trigger_id, verdict, fired_ns + LIMITS.deadline_ns, sent_ns, "run", expected)
        self.rows.append(row)

    def good(self, trigger_id: int) -> None:
        """A part as it should be."""
        self.fired(trigger_id)
        self.taken(trigger_id)
        self.gate(trigger_id)
        self.recorded(trigger_id)

    def book(self) -> PlcBook:
        """The PLC's book, in the order of time."""
        book = PlcBook()
        book.add(sorted(self.entries, key=lambda entry: entry.at_ns))
        return book

    def audited(self, spans: Sequence[Span] = (), *, until_ns: int = END_NS) -> Audit:
        """Hold both books against the rules."""
        return audit(self.book(), self.rows, spans, LIMITS, until_ns=until_ns)

    def rules_broken(self, spans: Sequence[Span] = ()) -> list[str]:
        """Names of the breaches found."""
        return [breach.rule for breach in self.audited(spans).breaches]


@pytest.fixture
def trial() -> Trial:
    """Five parts without a fault."""
    made = Trial()
    for trigger_id in range(1, 6):
        made.good(trigger_id)
    return made
