"""A mapping read from a model's file, whose every wrong value is a `ModelFault` with its key."""

from collections.abc import Mapping, Sequence
from typing import Any

from inspectd.errors import ModelFault

__all__ = ["Keys"]

_NUMBER_MAX = 1e9
"""Beyond lies nothing that a pixel has to do with; NaN is refused by the same comparison."""


class Keys:
    """One mapping of the file, and where in the file it stands."""

    def __init__(self, file: str, prefix: str, values: Mapping[str, Any]) -> None:
        """`prefix` is the dotted path of the mapping; empty for the whole file."""
        self.file, self.prefix, self.values = file, prefix, values

    def fault(self, key: str, what: str, remedy: str) -> ModelFault:
        """Make (not raise) a fault of `key`."""
        where = f"{self.prefix}.{key}" if self.prefix and key else self.prefix or key
        return ModelFault(self.file, where, what, remedy)

    def only(self, known: Sequence[str]) -> None:
        """Raise for a key that nobody here knows: it would change the pixels unnoticed."""
        for key in self.values:
            if key not in known:
                raise self.fault(str(key), "is not known here", f"known are {', '.join(known)}")

    def child(self, key: str, *, optional: bool = False) -> "Keys":
        """Answer a mapping within this one; an absent optional one is empty."""
        value = self.values.get(key)
        if value is None and optional:
            value = {}
        if not isinstance(value, Mapping):
            raise self.fault(key, f"expected a mapping, found {value!r}", "export the model again")
        return Keys(self.file, f"{self.prefix}.{key}" if self.prefix else key, value)

    def sequence(self, key: str, default: Sequence[Any] | None = None) -> Sequence[Any]:
        """Answer a list."""
        value = self.values.get(key, default)
        if value is None:
            raise self.fault(key, "is missing", "export the model again")
        if not isinstance(value, list | tuple):
            raise self.fault(key, f"expected a list, found {value!r}", "export the model again")
        return value

    def numbers(self, key: str, default: Sequence[float] | None = None) -> tuple[float, ...]:
        """Answer a list of numbers."""
        values = self.sequence(key, default)
        for value in values:
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise self.fault(key, f"expected numbers, found {value!r}", "correct the list")
            if not abs(value) <= _NUMBER_MAX:
                raise self.fault(key, f"has the number {value}", "give finite numbers")
        return tuple(float(value) for value in values)

    def number(self, key: str, default: float, low: float, high: float) -> float:
        """Answer a number from `low` to `high`."""
        value = self.values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.fault(key, f"expected a number, found {value!r}", "correct it")
        if not low <= value <= high:
            raise self.fault(key, f"is {value}", f"give {low} to {high}")
        return float(value)

    def integer(self, key: str, default: int) -> int:
        """Answer a whole number."""
        value = self.values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.fault(key, f"expected a whole number, found {value!r}", "correct it")
        return value

    def flag(self, key: str, *, default: bool) -> bool:
        """Answer yes or no."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self.fault(key, f"expected true or false, found {value!r}", "correct it")
        return value

    def text(self, key: str, default: str) -> str:
        """Answer a text."""
        value = self.values.get(key, default)
        if not isinstance(value, str):
            raise self.fault(key, f"expected a text, found {value!r}", "correct it")
        return value
