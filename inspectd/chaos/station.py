"""The station file of a trial: the given one, with its own record, and wires through the campaign.

Made on the YAML nodes, so that every other value stays as it was written. What reaches out of the
machine is left out: receivers of events, and an ejector of our own. A trial must move nothing.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from inspectd.config import schema
from inspectd.config.schema import Line, ModbusPlc, PlcTrigger
from inspectd.errors import UsageFault

__all__ = ["RATE_HZ", "Place", "places_of", "trial_text"]

RATE_HZ = 5.0
"""Parts a second where the file names no simulator."""


@dataclass(frozen=True, slots=True)
class Place:
    """A station that a campaign can play the PLC of."""

    index: int
    name: str
    plc: ModbusPlc
    rate_hz: float
    scan_ms: float


def places_of(line: Line) -> tuple[Place, ...]:
    """The stations of a line, when all of them can be tried.

    Raises:
        UsageFault: One of them is not triggered by a Modbus PLC.
    """
    return tuple(_place(line, index) for index in range(len(line.stations)))


def trial_text(source: Path, folder: Path, ports: Mapping[int, int], min_free_mb: int) -> str:
    """The text of the trial's station file.

    Args:
        source: The given file; it has been loaded without a fault.
        folder: Of the trial's record.
        ports: Where each station's PLC is reached, by its index.
        min_free_mb: What the trial's disk must keep free.
    """
    root = yaml.compose(source.read_text(encoding="utf-8-sig"), Loader=yaml.SafeLoader)
    assert isinstance(root, yaml.MappingNode)  # noqa: S101 - it was loaded before
    _make_absolute(root, source.absolute().parent)
    _drop(root, "forward")
    record = _child(root, "record")
    _put(record, "folder", str(folder))
    _put(record, "min_free_mb", min_free_mb)
    stations = _child(root, "stations")
    for index, port in ports.items():
        _drop(stations.value[index], "reject")
        plc = _child(stations.value[index], "plc")
        _put(plc, "host", "127.0.0.1")
        _put(plc, "port", port)
        _drop(plc, "simulator")
    return yaml.serialize(root, allow_unicode=True)


def _place(line: Line, index: int) -> Place:
    station = line.stations[index]
    plc = station.plc
    if not isinstance(plc, ModbusPlc) or not isinstance(station.trigger, PlcTrigger):
        raise UsageFault(
            f"station {station.name} is not triggered by a Modbus PLC",
            line.file,
            "a campaign plays the PLC: give a file with trigger.kind plc and plc.kind modbus",
        )
    simulator = plc.simulator
    rate_hz, scan_ms = (simulator.rate_hz, simulator.scan_ms) if simulator else (RATE_HZ, 5.0)
    return Place(index, station.name, plc, rate_hz, scan_ms)


# ---------------------------------------------------------------- nodes


def _path_keys() -> frozenset[str]:
    """Names of the keys that hold paths, from the schema."""
    classes = [one for one in vars(schema).values() if dataclasses.is_dataclass(one)]
    fields = (field for one in classes for field in dataclasses.fields(one))
    return frozenset(field.name for field in fields if field.metadata.get("is_path"))


def _make_absolute(root: yaml.Node, folder: Path) -> None:
    keys = _path_keys()
    for name, node in _scalars(root):
        if name in keys and node.value:
            node.value = str(folder / node.value)


def _scalars(node: yaml.Node) -> Iterator[tuple[str, yaml.ScalarNode]]:
    """Every key with a single value, at any depth."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _scalars(item)
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(value, yaml.ScalarNode):
                yield str(key.value), value
            else:
                yield from _scalars(value)


def _child(node: yaml.Node, name: str) -> yaml.Node:
    found: yaml.Node = next(value for key, value in node.value if key.value == name)
    return found


def _put(node: yaml.Node, name: str, value: str | int) -> None:
    _drop(node, name)
    node.value.append((_scalar(name), _scalar(value)))


def _drop(node: yaml.Node, name: str) -> None:
    node.value = [(key, value) for key, value in node.value if key.value != name]


def _scalar(value: str | int) -> yaml.ScalarNode:
    tag = "tag:yaml.org,2002:" + ("int" if isinstance(value, int) else "str")
    style = None if isinstance(value, int) else '"'
    return yaml.ScalarNode(tag, str(value), style=style)
