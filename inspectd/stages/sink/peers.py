"""Which peer a station's PLC is: the one place where the kind of fieldbus is chosen.

The edge modules are imported here when a station needs them: their libraries are optional.
"""

import importlib.util
from typing import NamedTuple

from inspectd.config.schema import (
    AbsentPlc,
    EtherNetIpPlc,
    Line,
    ModbusPlc,
    OpcuaPlc,
    OpcuaServerPlc,
    S7Plc,
)
from inspectd.config.schema import Plc as PlcKeys
from inspectd.stages.sink.absent import NoPlc
from inspectd.stages.sink.port import Plc
from inspectd.stages.sink.served import ServedPeer

__all__ = ["check", "peer_of"]


class _Extra(NamedTuple):
    """An optional dependency."""

    module: str
    distribution: str
    name: str
    """Of the extra in `pyproject.toml`."""


_EXTRAS: dict[type, _Extra] = {
    S7Plc: _Extra("snap7.s7protocol", "python-snap7 3.3", "s7"),
    EtherNetIpPlc: _Extra("pylogix", "pylogix", "ethernet-ip"),
    OpcuaPlc: _Extra("asyncua", "asyncua", "opcua"),
    OpcuaServerPlc: _Extra("asyncua", "asyncua", "opcua"),
}


def peer_of(plc: PlcKeys, port: int | None = None, *, station: str = "", road: str = "") -> Plc:
    """Make the peer of a station; nothing is opened yet.

    Args:
        plc: What the station file says.
        port: Overrides the file's (a simulator took a free one).
        station: Name of the station.
        road: Name of the socket to the station's own OPC UA server, where there is one.
    """
    if isinstance(plc, AbsentPlc):
        return NoPlc()
    if isinstance(plc, S7Plc):
        return _s7(plc)
    if isinstance(plc, EtherNetIpPlc):
        return _ethernet_ip(plc)
    if isinstance(plc, OpcuaPlc):
        return _opcua(plc, station)
    if isinstance(plc, OpcuaServerPlc):
        return ServedPeer(road, f"opc.tcp://{plc.host}:{plc.port}", plc.timeout_ms)
    return _modbus(plc, plc.port if port is None else port)


def check(line: Line) -> list[tuple[str, str]]:
    """Complain about stations whose fieldbus is not installed: key and sentence."""
    complaints = []
    for index, station in enumerate(line.stations):
        extra = _EXTRAS.get(type(station.plc))
        if extra is not None and not _is_installed(extra.module):
            what = (
                f"this fieldbus needs {extra.distribution}, which is not installed; "
                f"pip install 'inspectd[{extra.name}]'"
            )
            complaints.append((f"stations[{index}].plc.kind", what))
    return complaints


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _modbus(plc: ModbusPlc, port: int) -> Plc:
    from inspectd.stages.sink.modbus import ModbusPeer  # noqa: PLC0415 - only who needs it pays

    return ModbusPeer(
        plc.host,
        port,
        device_id=plc.device_id,
        base_register=plc.base_register,
        word_order=plc.word_order,
        byte_order=plc.byte_order,
        timeout_ms=plc.timeout_ms,
    )


def _s7(plc: S7Plc) -> Plc:
    from inspectd.stages.sink.s7 import S7Peer  # noqa: PLC0415 - optional

    return S7Peer(
        plc.host,
        plc.port,
        rack=plc.rack,
        slot=plc.slot,
        db=plc.db,
        start_byte=plc.start_byte,
        timeout_ms=plc.timeout_ms,
    )


def _ethernet_ip(plc: EtherNetIpPlc) -> Plc:
    from inspectd.stages.sink.ethernet_ip import EthernetIpPeer  # noqa: PLC0415 - optional

    return EthernetIpPeer(
        plc.host,
        plc.port,
        slot=plc.slot,
        tag_prefix=plc.tag_prefix,
        timeout_ms=plc.timeout_ms,
    )


def _opcua(plc: OpcuaPlc, station: str) -> Plc:
    from inspectd.stages.sink.opcua import OpcuaPeer  # noqa: PLC0415 - optional

    return OpcuaPeer(plc, station)
