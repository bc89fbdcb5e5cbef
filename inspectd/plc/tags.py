"""The register map as tags of a Logix controller: Markdown, and CSV for Studio 5000's tag import.

Pure: text from the table in `inspectd.plc.registers`. Each group is one array of DINT; an alias for
each element gives it its name. Columns and records follow the Logix 5000 Controllers Import/Export
Reference (Rockwell publication 1756-RM084), chapter on tags and comments.
"""

import csv
import io
from collections.abc import Iterator
from typing import NamedTuple

from inspectd.plc.registers import GROUPS, Group

__all__ = ["TagPlace", "tags_as_csv", "tags_as_markdown"]

_ATTRIBUTES = "(RADIX := Decimal, ExternalAccess := Read/Write)"


class TagPlace(NamedTuple):
    """Where a station's registers lie in a controller."""

    station: str
    peer: str
    """host:port."""
    slot: int
    prefix: str


def tags_as_markdown(place: TagPlace) -> str:
    """The tags of one station."""
    columns = ("tag", "element of", "written by", "meaning")
    rows = [
        (alias, element, group.writer, meaning)
        for group in GROUPS
        for alias, element, meaning in _elements(place, group)
    ]
    lines = [columns, tuple("---" for _ in columns), *rows]
    arrays = ", ".join(f"`{_tag(place, group)} : {_kind(group)}`" for group in GROUPS)
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"""\
## Station {place.station}: tags {place.prefix}_*

Controller {place.peer}, slot {place.slot}. Controller tags, external access Read/Write:
{arrays}.

{table}

An element is the low 32 bits of its value: a counter above 2147483647 shows as negative.
`inspectd plc-map FILE --csv` prints the tags for Studio 5000's import.
"""


def tags_as_csv(places: list[TagPlace]) -> str:
    """The arrays of all stations and an alias for each element, for Tools > Import > Tags."""
    text = io.StringIO()
    text.write('remark,"CSV-Import-Export"\r\n')
    for place in places:
        text.write(f'remark,"inspectd station {place.station}, controller {place.peer}"\r\n')
    text.write("0.3\r\nTYPE,SCOPE,NAME,DESCRIPTION,DATATYPE,SPECIFIER,ATTRIBUTES\r\n")
    for record in (record for place in places for record in _records(place)):
        kind, name, *rest = record
        text.write(f"{kind},,{name},")
        csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow(rest)
    return text.getvalue()


def _records(place: TagPlace) -> Iterator[tuple[str, ...]]:
    for group in GROUPS:
        words = f"written by {group.writer}"
        yield ("TAG", _tag(place, group), words, _kind(group), "", _ATTRIBUTES)
    for group in GROUPS:
        for alias, element, meaning in _elements(place, group):
            yield ("ALIAS", alias, meaning, "", element, _ATTRIBUTES)


def _elements(place: TagPlace, group: Group) -> Iterator[tuple[str, str, str]]:
    """Alias, element and meaning of each register."""
    for index, register in enumerate(group.registers):
        name = register.name.removeprefix(f"{group.name}_")
        alias = f"{place.prefix}_{group.name}_{name}"
        yield alias, f"{_tag(place, group)}[{index}]", register.meaning


def _tag(place: TagPlace, group: Group) -> str:
    return f"{place.prefix}_{group.name}"


def _kind(group: Group) -> str:
    return f"DINT[{len(group.registers)}]"
