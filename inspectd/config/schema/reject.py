"""Who moves the ejector: the PLC, or inspectd itself through an output."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from inspectd.config.schema.key import key

__all__ = [
    "ClockEncoder",
    "Encoder",
    "GpioEncoder",
    "GpioIo",
    "Io",
    "ModbusEncoder",
    "ModbusIo",
    "OutputReject",
    "PlcReject",
    "Reject",
    "RejectConfirm",
    "RejectEye",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlcReject:
    """The PLC times the ejector: it is told the verdict, and follows the part itself."""

    kind: Literal["plc"] = key()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockEncoder:
    """No encoder: the belt always runs at `belt_speed_mm_s`. A stop of the belt is not seen."""

    kind: Literal["time"] = key()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModbusEncoder:
    """A counter card in the I/O module (`io.kind: modbus`); it may roll over."""

    kind: Literal["modbus"] = key()
    register: int = key(ge=0, le=65535)
    """Address of the counter, counted from 0; a 32-bit counter takes the next one too."""
    table: Literal["input", "holding"] = key("input")
    """Which registers: input (read with FC4) or holding (FC3)."""
    bits: Literal[16, 32] = key(32)
    """Width of the counter."""
    word_order: Literal["high_first", "low_first"] = key("high_first")
    """Order of the two words of a 32-bit counter."""
    counts_per_mm: float = key()
    """Counts for a millimetre of belt; negative when it counts down as the belt runs forward."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpioEncoder:
    """Rising edges of a GPIO line are counted (`io.kind: gpio`). It cannot see one run back."""

    kind: Literal["gpio"] = key()
    line: int = key(ge=0, le=1023)
    """Line of the chip."""
    counts_per_mm: float = key(gt=0)
    """Edges for a millimetre of belt."""


Encoder: TypeAlias = ClockEncoder | ModbusEncoder | GpioEncoder


@dataclass(frozen=True, slots=True, kw_only=True)
class ModbusIo:
    """A digital I/O module by Modbus TCP. It must release its outputs when it is asked no more."""

    kind: Literal["modbus"] = key()
    host: str = key(nonempty=True)
    """Address of the module."""
    port: int = key(502, ge=0, le=65535)
    """0 lets the simulator take a free one (only with `simulated`)."""
    device_id: int = key(1, ge=0, le=255)
    """Modbus unit."""
    coil: int = key(ge=0, le=65535)
    """The output, counted from 0. On: the part passes. Off: it is rejected."""
    timeout_ms: float = key(50.0, gt=0, le=1000)
    """For one request; after one without an answer everything on the belt is rejected."""
    reconnect_ms: float = key(500.0, gt=0, le=60000)
    """Between attempts to connect."""
    watchdog_ms: float = key(gt=0, le=60000)
    """After so long without us the module itself releases the output: set it there as well. No
    default: it bounds for how long a dead computer leaves the way open."""
    watchdog_register: int | None = key(None, ge=0, le=65535)
    """Holding register that keeps the module's watchdog quiet; we write a counter into it. None:
    any request does."""
    simulated: bool = key(False)
    """For trials: `plc.simulator` plays the module and the belt as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpioIo:
    """Lines of a GPIO chip of this computer. Needs the extra `gpio`."""

    kind: Literal["gpio"] = key()
    chip: str = key("/dev/gpiochip0", is_path=True)
    """The chip."""
    line: int = key(ge=0, le=1023)
    """The output. Active: the part passes. Inactive: it is rejected."""
    watchdog_line: int = key(ge=0, le=1023)
    """A line that toggles while we live, for a watchdog relay in series with the ejector's valve:
    a line of a chip stays as it is when its program dies."""
    watchdog_ms: float = key(gt=0, le=60000)
    """After so long without a change the relay releases: set it there as well."""


Io: TypeAlias = ModbusIo | GpioIo


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectEye:
    """A photo-eye in front of the ejector: parts are let pass only where it saw them."""

    input: int = key(ge=0, le=65535)
    """Discrete input of the module, or line of the chip; active while a part covers it."""
    distance_mm: float = key(gt=0)
    """From the place of the trigger to the eye."""
    window_mm: float = key(gt=0)
    """A part is looked for so far before and behind its place: more than belts slip, and less than
    half the distance of two parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectConfirm:
    """A sensor in the bin: did the rejected part arrive?"""

    input: int = key(ge=0, le=65535)
    """Discrete input of the module, or line of the chip; active while a part falls by."""
    window_ms: float = key(gt=0, le=60000)
    """A part must be seen so soon after it was at the ejector."""
    unconfirmed_max: int = key(3, ge=1, le=1000)
    """So many in a row that were not seen are a fault: the station is not ready any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputReject:
    """inspectd drives the ejector: for slow lines, wired so that the released output rejects."""

    kind: Literal["output"] = key()
    distance_mm: float = key(gt=0)
    """From the place of the trigger to the ejector."""
    belt_speed_mm_s: float = key(gt=0, le=10000)
    """The fastest that the belt runs; with `encoder.kind: time` it always runs so."""
    pulse_ms: float = key(gt=0, le=10000)
    """So long, at that speed, the output serves one part: half before and half behind it. Parts
    closer together are rejected with each other."""
    lead_ms: float = key(ge=0, le=1000)
    """From the order to the ejector's move: valve and I/O module together."""
    backward_mm: float = key(5.0, ge=0)
    """A belt may swing back so far; further, and everything on it is rejected."""
    sample_ms: float = key(5.0, ge=1, le=1000)
    """Between two looks at encoder and inputs."""
    io: Io = key()
    """Where output and inputs are wired to."""
    encoder: Encoder = key()
    """How the belt is followed."""
    eye: RejectEye | None = key(None)
    """Corrects for slip, and finds parts that are missing or that nobody triggered."""
    confirm: RejectConfirm | None = key(None)
    """Finds an ejector that does not eject."""
    bin_full_input: int | None = key(None, ge=0, le=65535)
    """Active: the bin is full, and the station is not ready."""
    air_low_input: int | None = key(None, ge=0, le=65535)
    """Active: the air pressure is low, and the station is not ready."""
    reset_input: int | None = key(None, ge=0, le=65535)
    """A key switch that clears the fault of `confirm`; without one a new start does."""


Reject: TypeAlias = PlcReject | OutputReject
