"""What a rule between keys answers."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

__all__ = ["Complaint", "CrossRule", "repeated_names"]


class Complaint(NamedTuple):
    """What a rule objects to."""

    key: str
    """Relative to the object that the rule was given, e.g. `budget.infer_ms`."""
    what: str
    """Ends with the remedy."""


CrossRule: TypeAlias = Callable[[Any], Iterable[Complaint]]
"""Is given an object of one class of the schema."""


def repeated_names(key: str, names: list[str]) -> Iterator[Complaint]:
    """Object to every name in the list at `key` that stood there before."""
    for index, name in enumerate(names):
        if name in names[:index]:
            first = f"{key}[{names.index(name)}]"
            yield Complaint(f"{key}[{index}].name", f"{first} has this name too; choose another")
