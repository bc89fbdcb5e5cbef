"""What every wired PLC has in common, and the fieldbuses beside Modbus."""

from dataclasses import dataclass
from typing import Literal

from inspectd.config.schema.key import key

__all__ = ["EtherNetIpPlc", "FieldbusPlc", "S7Plc"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldbusPlc:
    """The times of a conversation with a PLC, whatever the wire."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class S7Plc(FieldbusPlc):
    """Verdicts by S7 communication (Siemens): one data block, each group in one write."""

    kind: Literal["s7"] = key()
    host: str = key(nonempty=True)
    """Address of the PLC, or its name."""
    port: int = key(102, ge=1, le=65535)
    """TCP port (ISO on TCP)."""
    rack: int = key(0, ge=0, le=7)
    """Rack of the CPU: 0 but for some S7-400."""
    slot: int = key(1, ge=0, le=31)
    """Slot of the CPU: 1 for S7-1200 and S7-1500, 2 for S7-300, as configured for S7-400."""
    db: int = key(ge=1, le=65535)
    """Number of the data block, which must not have optimised access (`inspectd plc-map --scl`
    prints it)."""
    start_byte: int = key(0, ge=0, le=65000)
    """First byte of the station's registers in the data block; even."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EtherNetIpPlc(FieldbusPlc):
    """Verdicts by EtherNet/IP (Rockwell Logix): one array of DINT for each group of registers."""

    kind: Literal["ethernet_ip"] = key()
    host: str = key(nonempty=True)
    """Address of the PLC, or its name."""
    port: int = key(44818, ge=1, le=65535)
    """TCP port (EtherNet/IP explicit messages)."""
    slot: int = key(0, ge=0, le=31)
    """Slot of the controller in its chassis: 0 for CompactLogix."""
    tag_prefix: str = key("Inspectd", nonempty=True)
    """How the names of the controller tags begin, e.g. `Inspectd_verdict`: a letter, then letters,
    digits and single `_`, at most 20. (`inspectd plc-map` lists the tags.)"""
