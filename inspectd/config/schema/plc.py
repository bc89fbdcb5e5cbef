"""Who is told the verdict, and how."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from inspectd.config.schema.key import key

__all__ = ["AbsentPlc", "ModbusPlc", "Plc", "PlcSimulator"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlcSimulator:
    """Start `inspectd plc-sim` with the line: a real Modbus server that plays the PLC."""

    rate_hz: float = key(5.0, gt=0, le=1000)
    """Triggers a second that it fires (stations with `trigger.kind: plc`)."""
    scan_ms: float = key(5.0, gt=0, le=1000)
    """Its scan time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModbusPlc:
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
    timeout_ms: float = key(100.0, gt=0, le=1000)
    """For one request. The sink stands still so long when the PLC is silent, and a process that
    stands still for seconds is taken for dead."""
    reconnect_ms: float = key(500.0, gt=0, le=60000)
    """Between attempts to connect."""
    heartbeat_ms: float = key(200.0, gt=0, le=10000)
    """Period of the heartbeat counter; the PLC's watchdog should be 3 to 5 times as long."""
    write_margin_ms: float = key(10.0, ge=0, le=1000)
    """A verdict is decided this long before the deadline, so that it is there in time."""
    ack_timeout_ms: float = key(500.0, gt=0, le=60000)
    """Wait so long for the PLC to acknowledge a verdict, then set the overrun flag and go on."""
    simulator: PlcSimulator | None = key(None)
    """For trials: play the PLC as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsentPlc:
    """No PLC: verdicts go to the record only. For trials and for re-inspection of files."""

    kind: Literal["none"] = key()


Plc: TypeAlias = ModbusPlc | AbsentPlc
