"""The register map of OPC UA stations as a document: a node for each value, Markdown or CSV.

Pure: text from the table in `inspectd.plc.registers`. Codes and bits are those of every fieldbus,
and are listed by `inspectd.plc.map`.
"""

import csv
import io
from collections.abc import Iterator
from typing import NamedTuple

from inspectd.plc.nodes import place_of, type_name
from inspectd.plc.registers import GROUPS, Group, Register

__all__ = ["SERVED_NAMESPACE", "SERVED_NODES", "NodePlace", "nodes_as_csv", "nodes_as_markdown"]

SERVED_NAMESPACE = "urn:inspectd:values"
"""Namespace of the values in inspectd's own server."""
SERVED_NODES = "ns={ns};s={station}.{group}.{name}"
"""Their node ids."""
_COLUMNS = ("node", "type", "name", "written_by", "meaning")


class NodePlace(NamedTuple):
    """Where a station's values lie."""

    station: str
    endpoint: str
    pattern: str
    """See `inspectd.plc.nodes.place_of`."""
    namespace_uri: str
    """Empty: the pattern has no `{ns}`."""
    is_ours: bool
    """The server is inspectd's, and the PLC is the client."""


def nodes_as_markdown(place: NodePlace) -> str:
    """The nodes of one station."""
    who = "inspectd's server, the PLC is the client" if place.is_ours else "the PLC's server"
    parts = [f"## Station {place.station}: nodes in {place.endpoint} ({who})"]
    if place.namespace_uri:
        parts.append(f"`<ns>` is the index of the namespace `{place.namespace_uri}`.")
    lines = [_COLUMNS, tuple("---" for _ in _COLUMNS), *_rows(place)]
    parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join(parts) + "\n"


def nodes_as_csv(places: list[NodePlace]) -> str:
    """All stations in one table with a header line, comma separated."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("station", "endpoint", "namespace_uri", *_COLUMNS))
    for place in places:
        for row in _rows(place):
            writer.writerow((place.station, place.endpoint, place.namespace_uri, *row))
    return text.getvalue()


def _rows(place: NodePlace) -> Iterator[tuple[str, ...]]:
    for group in GROUPS:
        for register in group.registers:
            yield _row(place, group, register)


def _row(place: NodePlace, group: Group, register: Register) -> tuple[str, ...]:
    node = place_of(
        place.pattern, station=place.station, group=group, register=register, namespace="<ns>"
    )
    return (node, type_name(register), register.name, group.writer, register.meaning)
