"""Who is told the verdict, and how."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from inspectd.config.schema.fieldbus import EtherNetIpPlc, FieldbusPlc, S7Plc
from inspectd.config.schema.key import key
from inspectd.config.schema.opcua import OpcuaPlc, OpcuaServerPlc

__all__ = ["AbsentPlc", "ModbusPlc", "Plc", "PlcSimulator"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlcSimulator:
    """Start `inspectd plc-sim` with the line: a real Modbus server that plays the PLC."""

    rate_hz: float = key(5.0, gt=0, le=1000)
    """Triggers a second that it fires (stations with `trigger.kind: plc`)."""
    scan_ms: float = key(5.0, gt=0, le=1000)
    """Its scan time."""
    commands: tuple[str, ...] = key(())
    """What it has vision do: `reset`, `golden`, `recipe:2`, perhaps with `@5` for the fifth second.
    Nothing by default, but the first recipe at a station that has recipes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModbusPlc(FieldbusPlc):
    """Verdicts by Modbus TCP: one atomic block, the sequence word last."""

    kind: Literal["modbus"] = key()
    host: str = key("127.0.0.1", nonempty=True)
    """Name or address of the PLC."""
    port: int = key(502, ge=0, le=65535)
    """0 lets the simulator take a free one (only with `simulator`)."""
    device_id: int = key(1, ge=0, le=255)
    """Modbus unit."""
    base_register: int = key(0, ge=0, le=65000)
    """First holding register of the station's blocks (`inspectd plc-map` prints them)."""
    word_order: Literal["high_first", "low_first"] = key("high_first")
    """Order of the two words of 32-bit values; the map's test constant tells."""
    byte_order: Literal["big", "little"] = key("big")
    """Order of the two bytes within a register: `little` for servers that exchange them; the map's
    test constant tells."""
    simulator: PlcSimulator | None = key(None)
    """For trials: play the PLC as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsentPlc:
    """No PLC: verdicts go to the record only. For trials and for re-inspection of files."""

    kind: Literal["none"] = key()


Plc: TypeAlias = ModbusPlc | S7Plc | EtherNetIpPlc | OpcuaPlc | OpcuaServerPlc | AbsentPlc
