"""The times of a station's sink, in nanoseconds."""

from dataclasses import dataclass

from inspectd.config.schema import ModbusPlc, PlcTrigger, Station

__all__ = ["Timing", "timing_of"]

_NS_PER_MS = 1_000_000
_ACK_POLL_NS = 5 * _NS_PER_MS
"""How often the acknowledgement is looked for when nothing else asks the PLC more often."""
_ABSENT = ModbusPlc(kind="modbus")
"""Times of a station without a PLC: the defaults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The station's times, in nanoseconds."""

    deadline_ns: int
    margin_ns: int
    poll_ns: int
    heartbeat_ns: int
    reconnect_ns: int
    ack_timeout_ns: int


def timing_of(station: Station) -> Timing:
    """The times that the station file asks for."""
    plc = station.plc if isinstance(station.plc, ModbusPlc) else _ABSENT
    trigger = station.trigger
    poll_ns = _ACK_POLL_NS if isinstance(station.plc, ModbusPlc) else 0
    if isinstance(trigger, PlcTrigger):
        poll_ns = int(trigger.poll_ms * _NS_PER_MS)
    return Timing(
        deadline_ns=int(station.deadline_ms * _NS_PER_MS),
        margin_ns=int(plc.write_margin_ms * _NS_PER_MS),
        poll_ns=poll_ns,
        heartbeat_ns=int(plc.heartbeat_ms * _NS_PER_MS),
        reconnect_ns=int(plc.reconnect_ms * _NS_PER_MS),
        ack_timeout_ns=int(plc.ack_timeout_ms * _NS_PER_MS),
    )
