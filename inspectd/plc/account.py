"""The simulated PLC's account of a run: what it fired, what it was told, what went wrong.

Pure; a page of counts and lists that ends up as JSON.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["Account", "Answer"]

_KEPT_ANSWERS = 100_000
"""Verdicts kept for the report; the counts go on."""


class Answer(NamedTuple):
    """One verdict as the PLC took it."""

    trigger_id: int
    verdict: str
    reason: str
    sequence: int
    after_ms: float
    """From the trigger to the scan that took it; -1 for an id that was never fired."""
    recipe: int = 0


@dataclass(slots=True)
class Account:
    """Everything that is counted for the report."""

    scans: int = 0
    fired: int = 0
    passed_unready: int = 0
    passed: int = 0
    rejected: int = 0
    after_window: int = 0
    heartbeat_lost: int = 0
    overruns_seen: int = 0
    stops_requested: int = 0
    by_verdict: dict[str, int] = field(default_factory=dict)
    missing: list[int] = field(default_factory=list)
    verdicts: list[Answer] = field(default_factory=list)
    out_of_order: list[int] = field(default_factory=list)
    duplicates: list[int] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)

    def took(self, answer: Answer) -> None:
        """Count a verdict that was taken over."""
        if len(self.verdicts) < _KEPT_ANSWERS:
            self.verdicts.append(answer)
        self.by_verdict[answer.verdict] = self.by_verdict.get(answer.verdict, 0) + 1

    def report(self, open_ids: Iterable[int], before_gate: int) -> dict[str, object]:
        """As plain values for JSON.

        Args:
            open_ids: parts that wait for their verdict.
            before_gate: parts that have not reached the reject gate.
        """
        missing = [*self.missing, *open_ids]
        return {
            "fired": self.fired,
            "answered": self.fired - len(missing),
            "missing": missing,
            "duplicates": self.duplicates,
            "out_of_order": self.out_of_order,
            "unknown": self.unknown,
            "after_window": self.after_window,
            "before_gate": before_gate,
            "passed": self.passed,
            "rejected": self.rejected,
            "passed_unready": self.passed_unready,
            "heartbeat_lost": self.heartbeat_lost,
            "overruns_seen": self.overruns_seen,
            "stops_requested": self.stops_requested,
            "scans": self.scans,
            "counts": self.by_verdict,
            "verdicts": [answer._asdict() for answer in self.verdicts],
        }
