"""EDGE: the only module that imports yaml; text in, nodes with places out.

Station files use a part of YAML only. Anchors, aliases and merge keys are refused: a person who
reads a station must see there what it does, and a change to one station must not reach another
unseen. Tags are refused because the schema says what a value is. All of these are reported and
reading goes on, so that one run shows every fault; only a syntax error ends it.
"""

from dataclasses import dataclass, field
from typing import Any

import yaml

from inspectd.config.nodes import (
    DEEPEST,
    WHOLE_FILE,
    Entry,
    Listing,
    Mapping,
    Node,
    Place,
    Scalar,
    Sort,
    Spoilt,
    below,
    meaning,
    quoted,
)
from inspectd.errors import StationFault

__all__ = ["parse"]


def parse(text: str, file: str) -> tuple[Node | None, list[StationFault]]:
    """Read one YAML document.

    Answers:
        The root (None when the file is empty or not YAML) and the faults found on the way.
    """
    loader = None
    composer = _Composer(file)
    try:
        loader = yaml.SafeLoader(text)
        while loader.check_event() and not composer.is_finished:
            composer.take(loader.get_event(), loader)  # type: ignore[no-untyped-call]
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        place = Place(before.count("\n") + 1, len(before) - before.rfind("\n"))
        what = f"the character U+{error.character:04X} is not allowed in YAML; remove it"
        return None, [composer.fault(place, what)]
    except yaml.MarkedYAMLError as error:
        return None, [*composer.faults, composer.fault(_error_place(error), _error_words(error))]
    except (ValueError, OverflowError):
        # PyYAML 6 lets these out of `chr` for an escape beyond Unicode, "\U00110000".
        place = _place_of(loader)
        what = "an escape in a quoted text is no character of Unicode; correct it"
        return None, [*composer.faults, composer.fault(place, what)]
    if _says_nothing(composer.root) and not composer.faults:
        what = "the file says nothing; start from `stations/example.yaml`"
        return None, [composer.fault(Place(1, 1), what)]
    return composer.root, composer.faults


@dataclass(slots=True)
class _Open:
    """A collection whose end has not come yet."""

    place: Place
    is_block: bool
    is_mapping: bool
    items: list[Node] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    pending: tuple[str, Place] | None = None
    """A key that waits for its value."""

    def closed(self) -> Node:
        if self.is_mapping:
            return Mapping(self.place, tuple(self.entries))
        return Listing(self.place, tuple(self.items))


class _Composer:
    """Builds nodes from the events of a YAML parser, without recursion."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.root: Node | None = None
        self.faults: list[StationFault] = []
        self.is_finished = False
        self._open: list[_Open] = []
        self._documents = 0

    def fault(self, place: Place, what: str) -> StationFault:
        """Make a fault of what is being read."""
        return StationFault(self.file, place.line, place.column, self._key(), what)

    def take(self, event: yaml.Event, loader: yaml.SafeLoader) -> None:
        """Take the next event."""
        if isinstance(event, yaml.DocumentStartEvent):
            self._start_document(event)
        elif isinstance(event, yaml.AliasEvent):
            what = f"`*{event.anchor}` refers to another place of the file; write the value out"
            self._attach(self._spoil(event, what))
        elif isinstance(event, yaml.ScalarEvent):
            self._attach(self._scalar(event, loader))
        elif isinstance(event, yaml.CollectionStartEvent):
            self._start(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._attach(self._open.pop().closed())

    def _start_document(self, event: yaml.DocumentStartEvent) -> None:
        self._documents += 1
        if self._documents > 1:
            what = "a second document begins; keep one document in a file, without `---` in between"
            self.faults.append(self.fault(_place(event), what))
            self.is_finished = True

    def _scalar(self, event: yaml.ScalarEvent, loader: yaml.SafeLoader) -> Node:
        refused = self._refused(event)
        if refused is not None:
            return refused
        place, text = _place(event), str(event.value)
        if any(_is_unprintable(one) for one in text):
            what = f"{quoted(text)} holds a control character; remove it"
            return self._spoil(event, what)
        if not event.implicit[0]:
            return Scalar(place, text, Sort.TEXT, text, is_quoted=True)
        tag = loader.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
        sort, value, is_doubtful = meaning(text, str(tag))
        return Scalar(place, text, sort, value, is_doubtful=is_doubtful)

    def _refused(self, event: yaml.NodeEvent) -> Spoilt | None:
        """Report an anchor (the value counts all the same) or a tag (it does not)."""
        if event.anchor is not None:
            what = f"`&{event.anchor}` names a value for use elsewhere; remove it, write values out"
            self.faults.append(self.fault(_place(event), what))
        tag = event.tag  # type: ignore[attr-defined]  # every event here but an alias has one
        if tag is not None:
            return self._spoil(event, f"the tag {quoted(str(tag))} is not used here; remove it")
        return None

    def _spoil(self, event: yaml.Event, what: str) -> Spoilt:
        self.faults.append(self.fault(_place(event), what))
        return Spoilt(_place(event))

    def _start(self, event: yaml.CollectionStartEvent) -> None:
        if len(self._open) >= DEEPEST:
            self._spoil(event, f"nested deeper than {DEEPEST} levels; a station file needs six")
            self.is_finished = True
            return
        self._refused(event)
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        place, is_block = _place(event), not event.flow_style
        if is_block and self._open and self._open[-1].pending:
            place = self._open[-1].pending[1]
        self._open.append(_Open(place, is_block, is_mapping))

    def _attach(self, node: Node) -> None:
        """Hang a finished node where it belongs."""
        if not self._open:
            self.root = node
            return
        parent = self._open[-1]
        if not parent.is_mapping:
            parent.items.append(node)
        elif parent.pending is None:
            parent.pending = (self._key_text(node), node.place)
        else:
            name, key_place = parent.pending
            if name:
                parent.entries.append(Entry(name, key_place, _at_key(node, key_place)))
            parent.pending = None

    def _key_text(self, node: Node) -> str:
        """Answer the key; empty when it is none, and then its entry is dropped."""
        if isinstance(node, Scalar) and node.text:
            return node.text
        if not isinstance(node, Spoilt):
            self.faults.append(self.fault(node.place, "a key must be one word; correct it"))
        return ""

    def _key(self) -> str:
        """Say where the parser stands, as a dotted key."""
        key = ""
        for one in self._open:
            if one.is_mapping:
                key = below(key, one.pending[0]) if one.pending and one.pending[0] else key
            else:
                key = f"{key}[{len(one.items)}]"
        return key or WHOLE_FILE


def _at_key(node: Node, key_place: Place) -> Node:
    """Let a value that is not there be found at its key."""
    if isinstance(node, Scalar) and _says_nothing(node):
        return Scalar(key_place, node.text, node.sort, node.value)
    return node


def _says_nothing(node: Node | None) -> bool:
    return node is None or (
        isinstance(node, Scalar) and node.sort is Sort.NOTHING and node.text == ""
    )


def _place(event: yaml.Event) -> Place:
    return _place_of(event.start_mark)


def _place_of(mark: Any) -> Place:
    """Translate a mark of PyYAML, which counts from 0; the start of the file when there is none."""
    return Place(mark.line + 1, mark.column + 1) if mark else Place(1, 1)


def _is_unprintable(character: str) -> bool:
    """Whether it is a control character, or half a character, as escapes can make it."""
    is_half = "\ud800" <= character <= "\udfff"
    return is_half or (character < " " and character != "\n") or character == "\x7f"


def _error_place(error: yaml.MarkedYAMLError) -> Place:
    return _place_of(error.problem_mark or error.context_mark)


def _error_words(error: yaml.MarkedYAMLError) -> str:
    """PyYAML's own words, with a remedy for the commonest slips."""
    problem = str(error.problem)
    if "'\\t'" in problem:
        return "a tab stands where YAML wants spaces; indent with spaces"
    context = f" ({error.context})" if error.context else ""
    remedy = "check indentation, colons, quotes and brackets from here upwards"
    return f"not YAML: {problem}{context}; {remedy}"
