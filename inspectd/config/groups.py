"""Shapes made of other shapes: lists, groups of keys, and groups told apart by their `kind`."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from inspectd.config.nodes import Entry, Listing, Mapping, Node, Scalar, Sort, below, quoted
from inspectd.config.reading import WRONG, Reading
from inspectd.config.shapes import Choice, Shape, nearest

__all__ = ["Fixed", "Group", "Key", "ListOf", "Maybe", "OneOf"]


@dataclass(frozen=True, slots=True)
class Fixed:
    """A list of a fixed number of values, e.g. a region."""

    items: tuple[Shape, ...]

    @property
    def expected(self) -> str:
        """In words."""
        return f"a list of {len(self.items)} whole numbers"

    def read(self, node: Node, key: str, reading: Reading) -> Any:
        """See `Shape.read`."""
        if not isinstance(node, Listing) or len(node.items) != len(self.items):
            example = ", ".join(str(i) for i in range(len(self.items)))
            return reading.mismatch(node, key, self.expected, f"write it like [{example}]")
        values = _each(node, self.items, key, reading)
        return WRONG if any(one is WRONG for one in values) else tuple(values)


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of any length."""

    item: Shape
    is_needed: bool = False
    """Whether it must have an entry."""

    @property
    def expected(self) -> str:
        """In words."""
        least = " with at least one entry" if self.is_needed else ""
        return f"a list{least}" if isinstance(self.item, Group | OneOf) else self._words(least)

    def _words(self, least: str) -> str:
        return f"a list{least}, each {self.item.expected}"

    def read(self, node: Node, key: str, reading: Reading) -> Any:
        """See `Shape.read`."""
        if not isinstance(node, Listing):
            return reading.mismatch(node, key, self.expected, _list_remedy(node))
        if self.is_needed and not node.items:
            return reading.refuse(node.place, key, "the list is empty; it needs at least one entry")
        values = _each(node, [self.item] * len(node.items), key, reading)
        values += self._repeated(node, key, reading)
        return WRONG if any(one is WRONG for one in values) else tuple(values)

    def _repeated(self, node: Listing, key: str, reading: Reading) -> list[Any]:
        """Refuse a word that stands twice in a list."""
        seen: set[str] = set()
        wrong: list[Any] = []
        for index, one in enumerate(node.items):
            if isinstance(one, Scalar) and one.text in seen:
                what = f"{quoted(one.text)} stands twice in the list; keep one"
                wrong.append(reading.refuse(one.place, f"{key}[{index}]", what))
            elif isinstance(one, Scalar):
                seen.add(one.text)
        return wrong


@dataclass(frozen=True, slots=True)
class Maybe:
    """A value, or none."""

    inner: Shape

    @property
    def expected(self) -> str:
        """In words."""
        return self.inner.expected

    def read(self, node: Node, key: str, reading: Reading) -> Any:
        """See `Shape.read`."""
        if isinstance(node, Scalar) and node.sort is Sort.NOTHING and node.text:
            return None
        return self.inner.read(node, key, reading)


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a group."""

    name: str
    shape: Shape
    is_needed: bool
    """Whether it has no default."""
    default: Any = None
    is_by_loader: bool = False
    """Whether it is set by the loader and refused in a file."""


@dataclass(frozen=True, slots=True)
class Group:
    """The keys of one dataclass of the schema."""

    cls: type[Any]
    keys: tuple[Key, ...]

    @property
    def expected(self) -> str:
        """In words."""
        return "a group of keys"

    def read(self, node: Node, key: str, reading: Reading) -> Any:
        """See `Shape.read`."""
        if not isinstance(node, Mapping):
            return reading.mismatch(node, key, self.expected, _group_remedy(self.keys))
        return self.read_entries(node, _once(node, key, reading), key, reading)

    def read_entries(
        self, node: Mapping, entries: dict[str, Entry], key: str, reading: Reading
    ) -> Any:
        """Build the object from entries of which each key stands once."""
        before = len(reading.faults)
        self._refuse_unknown(entries, key, reading)
        values = {}
        for one in self.keys:
            entry = entries.get(one.name)
            if entry is not None and not one.is_by_loader:
                values[one.name] = one.shape.read(entry.node, below(key, one.name), reading)
            elif entry is None and one.is_needed:
                what = f"missing key; add `{one.name}:` with {one.shape.expected}"
                values[one.name] = reading.refuse(node.place, below(key, one.name), what)
        if len(reading.faults) > before or any(one is WRONG for one in values.values()):
            return WRONG
        built = self.cls(**values)
        reading.built.append((key, built))
        return built

    def _refuse_unknown(self, entries: dict[str, Entry], key: str, reading: Reading) -> None:
        known = [one.name for one in self.keys if not one.is_by_loader]
        for name, entry in entries.items():
            if name in known:
                continue
            if any(one.name == name for one in self.keys):
                what = "this key is set by inspectd itself; take it out"
            else:
                what = _unknown(name, known)
            reading.refuse(entry.key_place, below(key, name), what)


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several groups; the key `kind` says which."""

    groups: tuple[tuple[str, Group], ...]
    """Value of `kind`, and the group."""

    @property
    def expected(self) -> str:
        """In words."""
        return f"a group of keys with `kind:` {self._kinds.expected}"

    @property
    def _kinds(self) -> Choice:
        return Choice(tuple(kind for kind, _ in self.groups))

    def read(self, node: Node, key: str, reading: Reading) -> Any:
        """See `Shape.read`."""
        if not isinstance(node, Mapping):
            remedy = f"begin with `kind: {self.groups[0][0]}`"
            return reading.mismatch(node, key, self.expected, remedy)
        entries = _once(node, key, reading)
        if "kind" not in entries:
            what = f"missing key; add `kind:` with {self._kinds.expected}"
            return reading.refuse(node.place, below(key, "kind"), what)
        kind = self._kinds.read(entries["kind"].node, below(key, "kind"), reading)
        if kind is WRONG:
            return WRONG
        return dict(self.groups)[kind].read_entries(node, entries, key, reading)


def _each(node: Listing, shapes: Iterable[Shape], key: str, reading: Reading) -> list[Any]:
    values = []
    for index, (one, shape) in enumerate(zip(node.items, shapes, strict=True)):
        reading.places[f"{key}[{index}]"] = one.place
        values.append(shape.read(one, f"{key}[{index}]", reading))
    return values


def _once(node: Mapping, key: str, reading: Reading) -> dict[str, Entry]:
    """Answer the entries by key; a key that comes again is a fault, its first value is read."""
    entries: dict[str, Entry] = {}
    for entry in node.entries:
        if entry.key in entries:
            line = entries[entry.key].key_place.line
            what = f"this key stands already in line {line}; keep one of the two"
            reading.refuse(entry.key_place, below(key, entry.key), what)
        else:
            entries[entry.key] = entry
            reading.places[below(key, entry.key)] = entry.node.place
    return entries


def _unknown(name: str, known: list[str]) -> str:
    if name == "<<":
        return "merge keys are not used here; write the keys out"
    hint = nearest(name, known)
    remedy = f"did you mean `{hint}`?" if hint else f"known here: {', '.join(known)}"
    return f"unknown key; {remedy}"


def _list_remedy(node: Node) -> str:
    if isinstance(node, Scalar) and node.sort is Sort.TEXT:
        return f"write it in brackets: [{node.text[:32]}]"
    return "begin each entry with `- `, or write [] for none"


def _group_remedy(keys: tuple[Key, ...]) -> str:
    known = ", ".join(one.name for one in keys)
    return f"write its keys, indented below it (known here: {known}), or take it out"
