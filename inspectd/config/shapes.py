"""Shapes of single values: each says in words what it wants, and reads it from a node."""

import difflib
import math
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from inspectd.config.nodes import Node, Scalar, Sort
from inspectd.config.reading import Reading

__all__ = ["Choice", "Limits", "Number", "Shape", "Text", "Truth", "Whole", "nearest", "plain"]

_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
_LEFT_EMPTY = "nothing stands after the colon: write the value, or take the key out"


class Shape(Protocol):
    """What a value may look like."""

    @property
    def expected(self) -> str:
        """In words, after "expected"."""

    def read(self, node: Node, key: str, reading: Reading) -> Any:
        """Answer the value, or report all of its faults and answer `WRONG`."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Range of a number; None: no limit on that side."""

    ge: float | None = None
    gt: float | None = None
    le: float | None = None

    def keep(self, value: float) -> bool:
        """Whether the value lies inside."""
        return (
            (self.ge is None or value >= self.ge)
            and (self.gt is None or value > self.gt)
            and (self.le is None or value <= self.le)
        )

    @property
    def words(self) -> str:
        """To follow "a number"; empty, or with a space in front."""
        if self.ge is not None and self.le is not None:
            return f" from {plain(self.ge)} to {plain(self.le)}"
        parts = [f"above {plain(self.gt)}"] if self.gt is not None else []
        parts += [f"of at least {plain(self.ge)}"] if self.ge is not None else []
        parts += [f"at most {plain(self.le)}"] if self.le is not None else []
        return " " + ", ".join(parts) if parts else ""


@dataclass(frozen=True, slots=True)
class Text:
    """A text, a path, or a name."""

    is_needed: bool = False
    """Whether it may not be empty."""
    is_path: bool = False
    is_name: bool = False

    @property
    def expected(self) -> str:
        """In words."""
        if self.is_path:
            return "a path"
        return "a name (letters, digits, _ and -, at most 32)" if self.is_name else "a text"

    def read(self, node: Node, key: str, reading: Reading) -> Any:
        """See `Shape.read`."""
        if not isinstance(node, Scalar) or node.sort is not Sort.TEXT or node.is_doubtful:
            return reading.mismatch(node, key, self.expected, _text_remedy(node))
        if self.is_name and not _NAME.fullmatch(node.text):
            remedy = "it becomes part of file names and metrics, choose another"
            return reading.mismatch(node, key, self.expected, remedy)
        if not node.text and (self.is_needed or self.is_name):
            return reading.mismatch(node, key, f"{self.expected} that is not empty", "write one")
        return self._path(node, key, reading) if self.is_path and node.text else node.text

    def _path(self, node: Scalar, key: str, reading: Reading) -> Any:
        """Make a path absolute, without looking at the disk."""
        if node.text.startswith("~"):
            remedy = "`~` is not expanded here, write the folder out"
            return reading.mismatch(node, key, self.expected, remedy)
        return os.path.normpath(os.path.join(reading.folder, node.text))  # noqa: PTH118  a text


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number."""

    limits: Limits = Limits()

    @property
    def expected(self) -> str:
        """In words."""
        return f"a whole number{self.limits.words}"

    def read(self, node: Node, key: str, reading: Reading) -> Any:
        """See `Shape.read`."""
        if not isinstance(node, Scalar) or not isinstance(node.value, int) or _is_truth(node):
            return reading.mismatch(node, key, self.expected, _number_remedy(node))
        if not self.limits.keep(node.value):
            return reading.mismatch(node, key, self.expected, "keep to this range")
        return node.value


@dataclass(frozen=True, slots=True)
class Number:
    """A number, with a fraction or without."""

    limits: Limits = Limits()

    @property
    def expected(self) -> str:
        """In words."""
        return f"a number{self.limits.words}"

    def read(self, node: Node, key: str, reading: Reading) -> Any:
        """See `Shape.read`."""
        is_number = isinstance(node, Scalar) and node.sort in {Sort.WHOLE, Sort.NUMBER}
        if not isinstance(node, Scalar) or not isinstance(node.value, int | float) or not is_number:
            return reading.mismatch(node, key, self.expected, _number_remedy(node))
        value = float(node.value)
        if not math.isfinite(value):
            return reading.mismatch(node, key, self.expected, "give a finite number")
        if not self.limits.keep(value):
            return reading.mismatch(node, key, self.expected, "keep to this range")
        return value


@dataclass(frozen=True, slots=True)
class Truth:
    """A switch."""

    expected: str = "true or false"

    def read(self, node: Node, key: str, reading: Reading) -> Any:
        """See `Shape.read`."""
        if isinstance(node, Scalar) and _is_truth(node):
            return node.value
        return reading.mismatch(node, key, self.expected, "write true or false, without quotes")


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words or numbers."""

    choices: tuple[str | int, ...]

    @property
    def expected(self) -> str:
        """In words."""
        words = [str(one) for one in self.choices]
        return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"

    def read(self, node: Node, key: str, reading: Reading) -> Any:
        """See `Shape.read`."""
        if isinstance(node, Scalar) and node.sort in {Sort.TEXT, Sort.WHOLE}:
            for one in self.choices:
                if type(one) is type(node.value) and one == node.value:
                    return one
        hint = nearest(node.text, map(str, self.choices)) if isinstance(node, Scalar) else ""
        remedy = f"did you mean {hint}?" if hint else "choose one of these"
        return reading.mismatch(node, key, self.expected, remedy)


def plain(value: float) -> str:
    """Write a number as a person would: 1000000, not 1e+06."""
    return str(int(value)) if value == int(value) else repr(value)


def nearest(word: str, known: Iterable[str]) -> str:
    """Answer the known word that was probably meant; empty when none is near."""
    by_lower = {one.lower(): one for one in known}
    close = difflib.get_close_matches(word[:64].lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[close[0]] if close else ""


def _is_truth(node: Scalar) -> bool:
    return node.sort is Sort.TRUTH


def _is_left_empty(node: Node) -> bool:
    return isinstance(node, Scalar) and node.sort is Sort.NOTHING and not node.text


def _text_remedy(node: Node) -> str:
    if _is_left_empty(node):
        return _LEFT_EMPTY
    if not isinstance(node, Scalar):
        return "write one text"
    if node.is_doubtful:
        return f'readers of YAML disagree on it, put it in quotes: "{node.text[:32]}"'
    return f'if a text is meant, put it in quotes: "{node.text[:32]}"'


def _number_remedy(node: Node) -> str:
    if _is_left_empty(node):
        return _LEFT_EMPTY
    if not isinstance(node, Scalar):
        return "write one number"
    if node.is_quoted:
        return "take the quotes away"
    if node.is_doubtful:
        return "readers of YAML disagree on it, write plain decimal digits"
    if node.sort is Sort.NUMBER:
        return "write it without a fraction"
    return "write the number in digits"
