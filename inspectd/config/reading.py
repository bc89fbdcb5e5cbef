"""What comes together while one station file is read: faults, places, and the parts that are whole.

Nothing is raised on the way, so that one reading finds every fault.
"""

from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from inspectd.config.nodes import WHOLE_FILE, Mapping, Node, Place, Scalar, Sort, Spoilt, quoted
from inspectd.errors import StationFault

__all__ = ["WRONG", "Positions", "Reading", "Wrong", "found"]


class Wrong(Enum):
    """Type of `WRONG`."""

    WRONG = 0


WRONG: Final = Wrong.WRONG
"""In place of a value whose fault has been reported."""


@dataclass(frozen=True, slots=True)
class Positions:
    """Where each key of a file stands."""

    places: AnyMapping[str, Place]
    """By dotted key; the empty key is the top of the file."""

    def of(self, key: str) -> Place:
        """Answer (line, column) of a key, e.g. `stations[0].camera.path`.

        A key that is not in the file (its default counts) is found at the nearest group around it.
        """
        while key not in self.places:
            if not key:
                return Place(1, 1)
            key = key[: max(key.rfind("."), key.rfind("["), 0)]
        return self.places[key]


@dataclass(slots=True)
class Reading:
    """Of one file."""

    file: str
    """As the user wrote it: it stands in every fault."""
    folder: str
    """Absolute; relative paths of the file start here."""
    faults: list[StationFault] = field(default_factory=list)
    places: dict[str, Place] = field(default_factory=dict)
    built: list[tuple[str, Any]] = field(default_factory=list)
    """Dotted key and object of every group without a fault of its own, inner before outer."""

    def refuse(self, place: Place, key: str, what: str) -> Wrong:
        """Report a fault; answers `WRONG` for the value."""
        fault = StationFault(self.file, place.line, place.column, key or WHOLE_FILE, what)
        self.faults.append(fault)
        return WRONG

    def mismatch(self, node: Node, key: str, expected: str, remedy: str) -> Wrong:
        """Report that a value is not what the schema wants; silent where the parser has spoken."""
        if isinstance(node, Spoilt):
            return WRONG
        return self.refuse(node.place, key, f"expected {expected}, found {found(node)}; {remedy}")


def found(node: Node) -> str:
    """Say what stands in the file."""
    if isinstance(node, Scalar):
        return _found_scalar(node)
    return "a group of keys" if isinstance(node, Mapping) else "a list"


def _found_scalar(node: Scalar) -> str:
    if node.sort is Sort.TEXT:
        return ("the text " if node.is_quoted else "") + quoted(node.text)
    return node.text or "nothing"
