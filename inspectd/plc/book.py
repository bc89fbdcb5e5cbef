"""The simulated PLC's book: everything that happened to its parts, one line of JSON each.

Written while it happens, so that whoever reads it knows what the PLC knew, also when the line, or
the PLC itself, was stopped or killed. Times are monotonic nanoseconds.
"""

import json
from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["Entry", "Happening", "What", "as_lines", "read_line"]


class What:
    """The words of the book."""

    READY = "ready"
    """Vision may be asked: it says Ready, its heartbeat lives, its test constant is right."""
    UNREADY = "unready"
    """It may not be asked any more."""
    FIRED = "fired"
    """A part passed the photo-eye, and the trigger counter was counted up to `trigger_id`."""
    UNASKED = "unasked"
    """A part passed the photo-eye while vision was not ready: it is rejected."""
    TAKEN = "taken"
    """A verdict was taken over from the verdict block."""
    PASSED = "passed"
    """A part passed the reject gate as good."""
    REJECTED = "rejected"
    """A part was rejected at the gate."""


class Happening(NamedTuple):
    """One thing that a scan did or saw."""

    what: str
    """A word of `What`."""
    trigger_id: int = 0
    verdict: str = ""
    reason: str = ""
    sequence: int = 0


class Entry(NamedTuple):
    """A happening with its time."""

    at_ns: int
    happening: Happening


def as_lines(at_ns: int, happenings: Iterable[Happening]) -> str:
    """The lines of one scan; empty when nothing happened."""
    return "".join(
        json.dumps([at_ns, *happening], separators=(",", ":")) + "\n" for happening in happenings
    )


def read_line(line: str) -> Entry:
    """Read one line back.

    Raises:
        ValueError: It is no line of a book.
    """
    values = json.loads(line)
    if not isinstance(values, list) or len(values) != 1 + len(Happening._fields):
        raise ValueError(f"no line of a PLC's book: {line[:80]!r}")
    return Entry(int(values[0]), Happening(*values[1:]))
