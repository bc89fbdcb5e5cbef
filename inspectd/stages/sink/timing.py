"""The times of a station's sink, in nanoseconds."""

from dataclasses import dataclass

from inspectd.config.schema import ModbusPlc, PlcTrigger, Station
from inspectd.config.schema.fieldbus import FieldbusPlc

__all__ = ["Timing", "timing_of"]

_NS_PER_MS = 1_000_000
_ACK_POLL_NS = 5 * _NS_PER_MS
"""How often the PLC is read while an acknowledgement is awaited, when not more often anyway."""
_IDLE_POLL_NS = 20 * _NS_PER_MS
"""How often a PLC is read that does not trigger: for its heartbeat and its commands."""
_ABSENT = ModbusPlc(kind="modbus")
"""Times of a station without a PLC: the defaults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The station's times, in nanoseconds."""

    deadline_ns: int
    margin_ns: int
    poll_ns: int
    """Between two looks at what the PLC says; 0: only while an acknowledgement is awaited."""
    ack_poll_ns: int
    """The same while an acknowledgement is awaited."""
    heartbeat_ns: int
    reconnect_ns: int
    ack_timeout_ns: int
    tell_late_ns: int = 0
    """How long past its time a part waits for a PLC that is away, to be told as LATE."""
    plc_watchdog_ns: int = 0
    """How long the PLC's heartbeat may stand still; 0: it is not watched."""
    command_ns: int = 10_000 * _NS_PER_MS
    """How long a command may take."""


def timing_of(station: Station) -> Timing:
    """The times that the station file asks for."""
    is_wired = isinstance(station.plc, FieldbusPlc)
    plc = station.plc if isinstance(station.plc, FieldbusPlc) else _ABSENT
    poll_ns = _poll_ns(station) if is_wired else 0
    return Timing(
        deadline_ns=_ns(station.deadline_ms),
        margin_ns=_ns(plc.write_margin_ms),
        poll_ns=poll_ns,
        ack_poll_ns=min(poll_ns, _ACK_POLL_NS),
        heartbeat_ns=_ns(plc.heartbeat_ms),
        reconnect_ns=_ns(plc.reconnect_ms),
        ack_timeout_ns=_ns(plc.ack_timeout_ms),
        tell_late_ns=_ns(plc.tell_late_ms),
        plc_watchdog_ns=_ns(plc.plc_watchdog_ms) if is_wired else 0,
        command_ns=_ns(plc.command_timeout_ms),
    )


def _poll_ns(station: Station) -> int:
    trigger = station.trigger
    return _ns(trigger.poll_ms) if isinstance(trigger, PlcTrigger) else _IDLE_POLL_NS


def _ns(milliseconds: float) -> int:
    return int(milliseconds * _NS_PER_MS)
