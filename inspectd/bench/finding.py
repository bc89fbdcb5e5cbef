"""What a measurement found: numbers for machines, lines for people, and perhaps an aim."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Finding"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One section of the bench table."""

    title: str
    """What was measured, with the units of the lines."""
    lines: Sequence[tuple[str, str]]
    """Label and value."""
    numbers: Mapping[str, Any]
    """For JSON."""
    aim: str = ""
    """In words; empty: the numbers are for comparison only."""
    is_met: bool = True
    """Whether the aim was met."""

    def text(self) -> str:
        """The section as it is printed."""
        rows = [self.title, *(f"  {label:<34} {value}" for label, value in self.lines)]
        if self.aim:
            rows.append(f"  {'aim':<34} {self.aim}: {'met' if self.is_met else 'MISSED'}")
        return "\n".join(rows)

    def as_json(self) -> dict[str, Any]:
        """The section for a file."""
        return {**self.numbers, "aim": self.aim, "is_met": self.is_met}
