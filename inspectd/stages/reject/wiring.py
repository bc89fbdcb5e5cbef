"""From the station file's words to the parts of an ejector: lengths, times, belt, module."""

from dataclasses import dataclass

from inspectd.config.rejectrules import zone_mm
from inspectd.config.schema import (
    ClockEncoder,
    GpioEncoder,
    GpioIo,
    ModbusEncoder,
    OutputReject,
)
from inspectd.ports import Context
from inspectd.stages.reject.gpio_io import GpioModule
from inspectd.stages.reject.inputs import Inputs
from inspectd.stages.reject.modbus_io import ModbusModule
from inspectd.stages.reject.motion import ClockMotion, CounterMotion
from inspectd.stages.reject.port import Io
from inspectd.stages.reject.tracker import Eye, Layout

__all__ = ["Times", "io_of", "layout_of", "motion_of", "times_of"]

_NS_PER_MS = 1_000_000
_NS_PER_S = 1_000_000_000
_LIVES_PER_WATCHDOG = 4
"""Signs of life within the time of the watchdog: one or two may be lost."""
_KEPT_NS = 10 * _NS_PER_S
"""How far back the place of a trigger can be found."""


def layout_of(reject: OutputReject) -> Layout:
    """The lengths of the belt that the station file asks for."""
    eye = reject.eye
    return Layout(
        ejector_mm=reject.distance_mm,
        zone_mm=zone_mm(reject),
        backward_mm=reject.backward_mm,
        eye=None if eye is None else Eye(from_trigger_mm=eye.distance_mm, window_mm=eye.window_mm),
    )


def motion_of(reject: OutputReject) -> ClockMotion | CounterMotion:
    """How the belt is followed."""
    encoder = reject.encoder
    if isinstance(encoder, ClockEncoder):
        return ClockMotion(reject.belt_speed_mm_s)
    return CounterMotion(
        bits=encoder.bits if isinstance(encoder, ModbusEncoder) else 32,
        counts_per_mm=encoder.counts_per_mm,
        speed_max_mm_s=reject.belt_speed_mm_s,
        slack_ns=_ns(reject.pulse_ms / 4),
        horizon_ns=_ns(reject.pulse_ms / 2),
        kept_ns=_KEPT_NS,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Nanoseconds."""

    sample_ns: int
    lead_ns: int
    life_ns: int
    """Between two signs of life."""
    reconnect_ns: int
    spread_max_ns: int
    """An answer that took longer never places the belt: half of it could be the mistake."""
    spread_good_ns: int
    """One that took no longer always does; between the two, one that was quick for this module."""


def times_of(reject: OutputReject) -> Times:
    """The times that the station file asks for."""
    return Times(
        sample_ns=_ns(reject.sample_ms),
        lead_ns=_ns(reject.lead_ms),
        life_ns=_ns(reject.io.watchdog_ms / _LIVES_PER_WATCHDOG),
        reconnect_ns=_ns(500.0 if isinstance(reject.io, GpioIo) else reject.io.reconnect_ms),
        spread_max_ns=_ns(reject.pulse_ms / 4),
        spread_good_ns=_ns(reject.pulse_ms / 16),
    )


def io_of(reject: OutputReject, inputs: Inputs, context: Context) -> Io:
    """The edge of whatever the ejector is wired to.

    Raises:
        IoFault: A package that the wiring needs is not installed.
    """
    encoder = reject.encoder
    if isinstance(reject.io, GpioIo):
        lines = encoder if isinstance(encoder, GpioEncoder) else None
        return GpioModule(reject.io, lines, inputs.numbers, context.clock)
    counter = encoder if isinstance(encoder, ModbusEncoder) else None
    port = int(context.extra.get("io_port", reject.io.port))
    return ModbusModule(reject.io, port, counter, inputs.numbers, context.clock)


def _ns(ms: float) -> int:
    return int(ms * _NS_PER_MS)
