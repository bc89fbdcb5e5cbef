"""`inspectd plc-map`: the register map of a station file, for the controls engineer."""

import argparse
from pathlib import Path

from inspectd.config.load import load
from inspectd.config.schema import (
    EtherNetIpPlc,
    Line,
    ModbusPlc,
    OpcuaPlc,
    OpcuaServerPlc,
    S7Plc,
)
from inspectd.errors import UsageFault
from inspectd.plc.datablock import (
    BlockPlace,
    blocks_as_csv,
    blocks_as_markdown,
    blocks_as_scl,
)
from inspectd.plc.map import Place, as_csv, as_markdown, codes_as_markdown
from inspectd.plc.nodemap import (
    SERVED_NAMESPACE,
    SERVED_NODES,
    NodePlace,
    nodes_as_csv,
    nodes_as_markdown,
)
from inspectd.plc.tags import TagPlace, tags_as_csv, tags_as_markdown

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", type=Path, metavar="FILE", help="station file of the line")
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--csv", action="store_true", help="comma separated, for import, instead of Markdown"
    )
    how.add_argument(
        "--scl", action="store_true", help="data blocks of the S7 stations, a source for TIA Portal"
    )


def run(args: argparse.Namespace) -> int:
    """Print the maps of all stations that have a PLC.

    Raises:
        StationFaults: The file is wrong.
        UsageFault: No station of the file has a PLC.
    """
    line = load(args.file)
    places, nodes, blocks, tags = _places(line), _nodes(line), _blocks(line), _tags(line)
    if args.scl:
        print(_scl(blocks, str(args.file)), end="")
        return 0
    if not (places or nodes or blocks or tags):
        raise UsageFault(
            "no station has a PLC (`plc.kind`)", str(args.file), "there is no map to print"
        )
    if args.csv:
        tables = [
            *([as_csv(places)] if places else ()),
            *([nodes_as_csv(nodes)] if nodes else ()),
            *([blocks_as_csv(blocks)] if blocks else ()),
            *([tags_as_csv(tags)] if tags else ()),
        ]
        print("\n".join(tables), end="")
        return 0
    pages = [
        *map(as_markdown, places),
        *map(nodes_as_markdown, nodes),
        *map(blocks_as_markdown, blocks),
        *map(tags_as_markdown, tags),
    ]
    if nodes or blocks or tags:
        pages.append(codes_as_markdown())
    print("\n".join(pages), end="")
    return 0


def _scl(blocks: list[BlockPlace], file: str) -> str:
    if not blocks:
        raise UsageFault("no station has `plc.kind: s7`", file, "leave out --scl")
    return blocks_as_scl(blocks)


def _blocks(line: Line) -> list[BlockPlace]:
    return [
        BlockPlace(
            station.name,
            f"{station.plc.host}:{station.plc.port}",
            station.plc.rack,
            station.plc.slot,
            station.plc.db,
            station.plc.start_byte,
        )
        for station in line.stations
        if isinstance(station.plc, S7Plc)
    ]


def _tags(line: Line) -> list[TagPlace]:
    return [
        TagPlace(
            station.name,
            f"{station.plc.host}:{station.plc.port}",
            station.plc.slot,
            station.plc.tag_prefix,
        )
        for station in line.stations
        if isinstance(station.plc, EtherNetIpPlc)
    ]


def _places(line: Line) -> list[Place]:
    return [
        Place(
            station.name,
            f"{station.plc.host}:{station.plc.port or 'any free port (simulator)'}",
            station.plc.device_id,
            station.plc.base_register,
            station.plc.word_order,
        )
        for station in line.stations
        if isinstance(station.plc, ModbusPlc)
    ]


def _nodes(line: Line) -> list[NodePlace]:
    """Stations with OPC UA, whichever side is the server."""
    nodes = []
    for station in line.stations:
        plc = station.plc
        if isinstance(plc, OpcuaPlc):
            nodes.append(
                NodePlace(station.name, plc.endpoint, plc.nodes, plc.namespace_uri, is_ours=False)
            )
        elif isinstance(plc, OpcuaServerPlc):
            endpoint = f"opc.tcp://{plc.host}:{plc.port}"
            nodes.append(
                NodePlace(station.name, endpoint, SERVED_NODES, SERVED_NAMESPACE, is_ours=True)
            )
    return nodes
