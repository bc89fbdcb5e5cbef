"""What every wired PLC has in common, and the fieldbuses beside Modbus."""

from dataclasses import dataclass
from typing import Literal

from inspectd.config.schema.key import key

__all__ = ["EtherNetIpPlc", "FieldbusPlc", "S7Plc"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldbusPlc:
    """The conversation with a PLC, whatever the wire."""

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
    tell_late_ms: float = key(10_000.0, ge=0, le=600_000)
    """A part whose time is up while the PLC is away waits so long to be told as LATE when it is
    back; then it is given up. 0: given up at once."""
    plc_watchdog_ms: float = key(2000.0, ge=0, le=60_000)
    """The PLC's own heartbeat may stand still so long; it must count it up at least four times in
    this time. 0: it is not watched."""
    command_timeout_ms: float = key(10_000.0, gt=0, le=600_000)
    """A command of the PLC that takes longer has failed."""
    late_limit: int = key(3, ge=0, le=65_535)
    """So many LATE parts in a row ask the PLC to stop the line. 0: never."""
    reject_limit: int = key(0, ge=0, le=65_535)
    """So many parts in a row that are not OK ask the PLC to stop the line. 0: never."""
    trigger_bits: Literal[16, 32] = key(32)
    """Width of the PLC's trigger counter: 16 goes from 65535 to 0 (`trigger.kind: plc`)."""
    trigger_skips_zero: bool = key(False)
    """Whether the counter wraps to 1 instead of 0."""


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
    digits and single `_`, at most 16. (`inspectd plc-map` lists the tags.)"""
