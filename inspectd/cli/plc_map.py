"""`inspectd plc-map`: the register map of a station file, for the controls engineer."""

import argparse
from pathlib import Path

from inspectd.config.load import load
from inspectd.config.schema import Line, ModbusPlc
from inspectd.errors import UsageFault
from inspectd.plc.map import Place, as_csv, as_markdown

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", type=Path, metavar="FILE", help="station file of the line")
    parser.add_argument(
        "--csv", action="store_true", help="comma separated, for import, instead of Markdown"
    )


def run(args: argparse.Namespace) -> int:
    """Print the maps of all stations that speak Modbus.

    Raises:
        StationFaults: The file is wrong.
        UsageFault: No station of the file has a PLC.
    """
    places = _places(load(args.file))
    if not places:
        raise UsageFault(
            "no station has a PLC (`plc.kind: modbus`)", str(args.file), "there is no map to print"
        )
    print(as_csv(places) if args.csv else "\n".join(map(as_markdown, places)), end="")
    return 0


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
