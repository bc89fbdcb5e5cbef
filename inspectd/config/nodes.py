"""A YAML file as values with their places, before anything of the schema is known."""

import re
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

__all__ = [
    "DEEPEST",
    "WHOLE_FILE",
    "Entry",
    "Listing",
    "Mapping",
    "Node",
    "Place",
    "Scalar",
    "Sort",
    "Spoilt",
    "below",
    "meaning",
    "quoted",
]

DEEPEST = 32
"""Most levels of nesting; the schema has six, so more is a mistake or mischief."""
WHOLE_FILE = "(whole file)"
"""What stands for the key in faults that concern no single key."""
_SHOWN = 60
"""Longest piece of a file that a message repeats."""


class Place(NamedTuple):
    """Where something stands in the file, as editors count: both from 1, columns in characters."""

    line: int
    column: int


class Sort(Enum):
    """What a scalar is."""

    TEXT = "text"
    WHOLE = "whole number"
    NUMBER = "number"
    TRUTH = "true or false"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Scalar:
    """A single value."""

    place: Place
    text: str
    """As it stands in the file, without quotes."""
    sort: Sort
    value: str | int | float | bool | None
    is_doubtful: bool = False
    """Unquoted, and readers of YAML disagree on it (`no`, `010`, `1e3`, `12:30`, `1_000`)."""
    is_quoted: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """A list."""

    place: Place
    items: tuple["Node", ...]


class Entry(NamedTuple):
    """One `key: value` of a mapping."""

    key: str
    key_place: Place
    node: "Node"


@dataclass(frozen=True, slots=True)
class Mapping:
    """A group of keys in file order; a key may stand in it twice, that is for the reader to say."""

    place: Place
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Spoilt:
    """Something whose fault has been reported already; what contains it stays silent about it."""

    place: Place


Node: TypeAlias = Scalar | Listing | Mapping | Spoilt


# The forms on which YAML 1.1 (PyYAML) and YAML 1.2 (the core schema) agree, value included.
_NOTHING = re.compile(r"|~|null|Null|NULL")
_TRUE = re.compile(r"true|True|TRUE")
_FALSE = re.compile(r"false|False|FALSE")
_WHOLE = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_HEX = re.compile(r"0x[0-9a-fA-F]{1,15}")
_NUMBER = re.compile(r"[-+]?[0-9]{1,40}\.[0-9]{0,40}(?:[eE][-+][0-9]{1,3})?|\.[0-9]{1,40}")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
# What YAML 1.2 alone takes for a number.
_NUMBER_OF_1_2 = re.compile(
    r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
)
_WORD = re.compile(r"[A-Za-z0-9_-]{1,60}")
_TEXT_TAG = "tag:yaml.org,2002:str"


def meaning(text: str, tag: str) -> tuple[Sort, str | int | float | bool | None, bool]:
    """Say what an unquoted scalar is, its value, and whether readers of YAML disagree on it.

    Args:
        text: The scalar as it stands in the file.
        tag: What YAML 1.1 takes it for, as PyYAML resolves it.
    """
    if _NOTHING.fullmatch(text):
        return Sort.NOTHING, None, False
    if _TRUE.fullmatch(text) or _FALSE.fullmatch(text):
        return Sort.TRUTH, _TRUE.fullmatch(text) is not None, False
    if _WHOLE.fullmatch(text) or _HEX.fullmatch(text):
        return Sort.WHOLE, int(text, 16 if text.startswith("0x") else 10), False
    if _NUMBER.fullmatch(text):
        return Sort.NUMBER, float(text), False
    if _NOT_FINITE.fullmatch(text):
        return Sort.NUMBER, float(text.replace(".", "")), False
    is_doubtful = tag != _TEXT_TAG or _NUMBER_OF_1_2.fullmatch(text) is not None
    return Sort.TEXT, text, is_doubtful


def below(key: str, name: str) -> str:
    """Name a key of the group at `key` (empty: the top); odd names are quoted, to stay one line."""
    shown = name if _WORD.fullmatch(name) else quoted(name)
    return f"{key}.{shown}" if key else shown


def quoted(text: str) -> str:
    """Show a piece of the file in a message: in quotes, on one line, not too long, printable."""
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")
