"""Rules about an ejector that inspectd drives itself; each a named function without I/O.

Everything happens on the belt, and the fastest belt is the worst case:

    trigger |----- deadline_ms -----|-- to the ejector's process --|-- lead_ms --|- pulse/2 -| part
"""

from collections.abc import Iterator
from typing import Any

from inspectd.config.complaint import Complaint, CrossRule
from inspectd.config.schema import (
    GpioEncoder,
    GpioIo,
    ModbusEncoder,
    ModbusIo,
    ModbusPlc,
    OutputReject,
    PlcTrigger,
    Station,
)
from inspectd.config.shapes import plain

__all__ = ["HOP_MS", "INPUTS_MAX", "RULES", "decided_ms", "zone_mm"]

INPUTS_MAX = 2000
"""Discrete inputs that one request reads (Modbus Application Protocol V1.1b3, 6.2)."""
HOP_MS = 20.0
"""For a verdict to get from the sink to the process of the ejector, on a loaded machine."""
_EDGE_SAMPLES = 2
"""So many looks until something that the eye sees is acted on."""


def zone_mm(reject: OutputReject) -> float:
    """So much belt the output serves for one part."""
    return reject.belt_speed_mm_s * reject.pulse_ms / 1000


def decided_ms(reject: OutputReject) -> float:
    """Milliseconds from the trigger until the verdict must be there, at the fastest belt."""
    way_ms = reject.distance_mm / reject.belt_speed_mm_s * 1000
    return way_ms - reject.pulse_ms / 2 - reject.lead_ms


def deadline_is_before_the_ejector(station: Station) -> Iterator[Complaint]:
    """`deadline_ms`, and 20 ms on the way, end before the part needs the output.

    That is `reject.distance_mm / belt_speed_mm_s`, less half of `pulse_ms`, less `lead_ms`.
    """
    reject = station.reject
    if not isinstance(reject, OutputReject):
        return
    left_ms = decided_ms(reject) - HOP_MS
    if station.deadline_ms > left_ms:
        what = (
            f"the part needs the output {decided_ms(reject):g} ms after its trigger, so at most "
            f"{max(left_ms, 0):g} ms are left for a verdict; move the ejector back, slow the belt "
            "down, or shorten deadline_ms"
        )
        yield Complaint("reject.distance_mm", what)


def pulses_fit_the_cycle(station: Station) -> Iterator[Complaint]:
    """`reject.pulse_ms` is not above `cycle_ms`: otherwise every part is hit with its neighbour."""
    reject = station.reject
    if isinstance(reject, OutputReject) and reject.pulse_ms > station.cycle_ms:
        what = (
            f"above cycle_ms ({plain(station.cycle_ms)}): good parts would be rejected with their "
            "neighbours; shorten it"
        )
        yield Complaint("reject.pulse_ms", what)


def watchdog_is_faster_than_the_next_part(station: Station) -> Iterator[Complaint]:
    """`reject.io.watchdog_ms` is not above `cycle_ms` less `pulse_ms`.

    A computer that dies while a good part passes must not leave the way open for the next one.
    """
    reject = station.reject
    if not isinstance(reject, OutputReject):
        return
    left_ms = max(station.cycle_ms - reject.pulse_ms, 0)
    if reject.io.watchdog_ms > left_ms:
        what = (
            f"the next part comes {left_ms:g} ms after a good one has passed: if we died then, it "
            "would pass unjudged; shorten it here and in the module, or shorten pulse_ms"
        )
        yield Complaint("reject.io.watchdog_ms", what)


def eye_tells_parts_apart(station: Station) -> Iterator[Complaint]:
    """Twice `reject.eye.window_mm` is below the distance of two parts at `cycle_ms`."""
    reject = station.reject
    if not isinstance(reject, OutputReject) or reject.eye is None:
        return
    apart_mm = reject.belt_speed_mm_s * station.cycle_ms / 1000
    if 2 * reject.eye.window_mm >= apart_mm:
        what = (
            f"parts may be {apart_mm:g} mm apart: one could be taken for the next; keep it below "
            "half of that"
        )
        yield Complaint("reject.eye.window_mm", what)


def simulated_module_has_its_plc(station: Station) -> Iterator[Complaint]:
    """`reject.io.simulated` goes with `plc.simulator` and `trigger.kind: plc`: it is one belt."""
    reject = station.reject
    if not isinstance(reject, OutputReject) or not isinstance(reject.io, ModbusIo):
        return
    plc = station.plc
    has_plc = isinstance(plc, ModbusPlc) and plc.simulator is not None
    is_triggered = isinstance(station.trigger, PlcTrigger)
    if reject.io.simulated and not (has_plc and is_triggered):
        what = "nobody plays the belt; add plc.simulator and use trigger.kind: plc, or take it out"
        yield Complaint("reject.io.simulated", what)


def eye_is_before_the_ejector(reject: OutputReject) -> Iterator[Complaint]:
    """`eye.distance_mm` and its window end before the output is needed, less two looks."""
    if reject.eye is None:
        return
    before_ms = reject.pulse_ms / 2 + reject.lead_ms + _EDGE_SAMPLES * reject.sample_ms
    last_mm = reject.distance_mm - reject.belt_speed_mm_s * before_ms / 1000
    if reject.eye.distance_mm + reject.eye.window_mm > last_mm:
        what = (
            f"with its window it must end {last_mm:g} mm after the trigger, where the output is "
            "needed; move the eye forward"
        )
        yield Complaint("eye.distance_mm", what)


def encoder_is_where_the_io_is(reject: OutputReject) -> Iterator[Complaint]:
    """`encoder.kind: modbus` goes with `io.kind: modbus`, and gpio with gpio."""
    is_modbus, is_gpio = isinstance(reject.io, ModbusIo), isinstance(reject.io, GpioIo)
    is_right = {ModbusEncoder: is_modbus, GpioEncoder: is_gpio}.get(type(reject.encoder), True)
    if not is_right:
        what = f"the inputs are wired to io.kind: {reject.io.kind}; read the encoder there, or time"
        yield Complaint("encoder.kind", what)


def inputs_are_told_apart(reject: OutputReject) -> Iterator[Complaint]:
    """No two inputs of `reject` have the same number, and all lie within 2000: one request."""
    inputs = {
        "eye.input": reject.eye.input if reject.eye else None,
        "confirm.input": reject.confirm.input if reject.confirm else None,
        "bin_full_input": reject.bin_full_input,
        "air_low_input": reject.air_low_input,
        "reset_input": reject.reset_input,
    }
    taken: dict[int, str] = {}
    for key, number in inputs.items():
        if number is not None and number in taken:
            yield Complaint(key, f"{taken[number]} is wired to it too; choose another")
        elif number is not None and abs(number - min(taken, default=number)) >= INPUTS_MAX:
            yield Complaint(key, f"over {INPUTS_MAX} from {min(taken)}; wire them closer together")
        elif number is not None:
            taken[number] = key


def free_port_of_the_module_is_simulated(io: ModbusIo) -> Iterator[Complaint]:
    """`port: 0` (take a free one) goes with `simulated`."""
    if io.port == 0 and not io.simulated:
        yield Complaint("port", "0 is for `simulated` only; give the module's port")


def counter_counts(encoder: ModbusEncoder) -> Iterator[Complaint]:
    """`counts_per_mm` is not 0."""
    if encoder.counts_per_mm == 0:
        yield Complaint("counts_per_mm", "0 follows no belt; give the counts of a millimetre")


RULES: tuple[tuple[type[Any], CrossRule], ...] = (
    (Station, deadline_is_before_the_ejector),
    (Station, pulses_fit_the_cycle),
    (Station, watchdog_is_faster_than_the_next_part),
    (Station, eye_tells_parts_apart),
    (Station, simulated_module_has_its_plc),
    (OutputReject, eye_is_before_the_ejector),
    (OutputReject, encoder_is_where_the_io_is),
    (OutputReject, inputs_are_told_apart),
    (ModbusIo, free_port_of_the_module_is_simulated),
    (ModbusEncoder, counter_counts),
)
"""Every rule, with the class of the objects it is asked about."""
