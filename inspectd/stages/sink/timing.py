"""The times of a station's sink, in nanoseconds."""

from dataclasses import dataclass

from inspectd.config.schema import PlcTrigger, Station
from inspectd.config.schema.fieldbus import FieldbusPlc

__all__ = ["Timing", "timing_of"]

_NS_PER_MS = 1_000_000
_ACK_POLL_NS = 5 * _NS_PER_MS
"""How often the PLC is read while an acknowledgement is awaited, when not more often anyway."""
_ABSENT = FieldbusPlc()
"""Times of a station without a PLC: the defaults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The station's times, in nanoseconds."""

    deadline_ns: int
    margin_ns: int
    poll_ns: int
    """Between two looks at the trigger counter."""
    ack_poll_ns: int
    """The same while an acknowledgement is awaited."""
    heartbeat_ns: int
    reconnect_ns: int
    ack_timeout_ns: int


def timing_of(station: Station) -> Timing:
    """The times that the station file asks for."""
    plc = station.plc if isinstance(station.plc, FieldbusPlc) else _ABSENT
    trigger = station.trigger
    poll_ns = _ACK_POLL_NS
    if isinstance(trigger, PlcTrigger):
        poll_ns = int(trigger.poll_ms * _NS_PER_MS)
    return Timing(
        deadline_ns=int(station.deadline_ms * _NS_PER_MS),
        margin_ns=int(plc.write_margin_ms * _NS_PER_MS),
        poll_ns=poll_ns,
        ack_poll_ns=min(poll_ns, _ACK_POLL_NS) if isinstance(station.plc, FieldbusPlc) else 0,
        heartbeat_ns=int(plc.heartbeat_ms * _NS_PER_MS),
        reconnect_ns=int(plc.reconnect_ms * _NS_PER_MS),
        ack_timeout_ns=int(plc.ack_timeout_ms * _NS_PER_MS),
    )
