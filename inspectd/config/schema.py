"""What a station file may say: one frozen tree of dataclasses.

The loader (`inspectd.config.load`) is driven by these classes: the annotation is the type, `key()`
holds range, choices and default, the docstring under a field is the text of the manual. Units are
in the names. Rules between fields are in `inspectd.config.crossrules`.
A class with `kind: Literal[...]` as its first field is one of the variants of a union.
Regions are `x1, y1, x2, y2` in frame pixels, the right and lower edge excluded.
"""

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

__all__ = [
    "AbsentPlc",
    "Budget",
    "Camera",
    "CountRule",
    "Degrade",
    "EachHasRule",
    "Engine",
    "Exposure",
    "ForbidRule",
    "Frozen",
    "Gate",
    "Glare",
    "Line",
    "ModbusPlc",
    "Model",
    "PaddleEngine",
    "Plc",
    "PlcSimulator",
    "PlcTrigger",
    "Presence",
    "Record",
    "Region",
    "ReplayCamera",
    "Rule",
    "Saturation",
    "ScriptedEngine",
    "Sharpness",
    "Station",
    "Template",
    "TimerTrigger",
    "Trigger",
    "key",
]

Region: TypeAlias = tuple[int, int, int, int]

_REQUIRED: Any = object()


def key(
    default: Any = _REQUIRED,
    *,
    ge: float | None = None,
    gt: float | None = None,
    le: float | None = None,
    nonempty: bool = False,
    is_path: bool = False,
    is_name: bool = False,
    by_loader: bool = False,
) -> Any:
    """Declare a key of the station file: its default (none: the key must be given) and its limits.

    `is_path`: relative to the folder of the station file; the loader makes it absolute.
    `is_name`: letters, digits, `_` and `-`, at most 32 (it goes into file names and metrics).
    `by_loader`: set by the loader; refused in a file.
    """
    metadata = {
        "ge": ge,
        "gt": gt,
        "le": le,
        "nonempty": nonempty,
        "is_path": is_path,
        "is_name": is_name,
        "by_loader": by_loader,
    }
    if default is _REQUIRED:
        return field(metadata=metadata)
    return field(default=default, metadata=metadata)


# ---------------------------------------------------------------- camera


@dataclass(frozen=True, slots=True, kw_only=True)
class Degrade:
    """Make chosen frames of a replay worse: the gate and the rules have something to find."""

    how: Literal["blur", "glare", "dark", "freeze", "drop", "occlude", "erase"] = key()
    """blur, glare, dark: the picture suffers. freeze: the previous picture comes again. drop: no
    picture comes. occlude: a grey patch covers the middle. erase: the objects of class `label`
    (from the COCO labels) are painted over with their surroundings, as if they were missing."""
    every: int = key(ge=1)
    """Degrade one frame of this many."""
    offset: int = key(0, ge=0)
    """The first degraded frame, counted from 0."""
    label: str = key("")
    """For erase: the class whose objects vanish."""
    strength: float = key(1.0, gt=0, le=10)
    """1 is clearly visible; smaller is milder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayCamera:
    """Frames from files: everybody can run a line without a camera."""

    kind: Literal["replay"] = key()
    path: str = key(is_path=True)
    """A folder of pictures (sorted by name), or a video file."""
    width_px: int = key(ge=16, le=16384)
    """Every frame must have this width; the slots are made for it."""
    height_px: int = key(ge=16, le=16384)
    """Every frame must have this height."""
    channels: Literal[1, 3] = key(3)
    """1: grey. 3: blue, green, red (the order of OpenCV)."""
    labels: str = key("", is_path=True)
    """COCO JSON of the folder: its order of images is used, and verdicts are checked against it."""
    shuffle_seed: int = key(0, ge=0)
    """0: in order. Otherwise the order is shuffled with this seed."""
    loop: bool = key(True)
    """Begin again after the last frame. When false, further triggers give FAULT (no frame)."""
    degrade: tuple[Degrade, ...] = key(())
    """Switches that make chosen frames worse; the first that applies to a frame counts."""
    um_per_px: float = key(0.0, ge=0)
    """Size of a pixel on the part, micrometres; 0: unknown, then no rule may speak of mm."""


Camera: TypeAlias = ReplayCamera


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerTrigger:
    """The camera process triggers by itself at a fixed rate (free-running camera)."""

    kind: Literal["timer"] = key()
    rate_hz: float = key(gt=0, le=1000)
    """Parts a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlcTrigger:
    """The PLC counts a trigger register up; the sink sees it and fires the camera."""

    kind: Literal["plc"] = key()
    poll_ms: float = key(2.0, gt=0, le=1000)
    """How often the trigger counter is read. It is part of every part's latency."""


Trigger: TypeAlias = TimerTrigger | PlcTrigger


# ---------------------------------------------------------------- gate


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharpness:
    """Variance of the Laplacian of the grey picture; low means blurred."""

    min: float = key(ge=0)
    """Below this the picture is UNFIT (blurred)."""
    region: Region | None = key(None)
    """Where it is measured; the whole frame when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """Mean grey value, 0 to 255."""

    min_mean: float = key(ge=0, le=255)
    """Below this the picture is UNFIT (dark)."""
    max_mean: float = key(ge=0, le=255)
    """Above this the picture is UNFIT (bright)."""
    region: Region | None = key(None)
    """Where it is measured; the whole frame when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Saturation:
    """Share of pixels at the end of the scale."""

    max_share: float = key(ge=0, le=1)
    """Above this the picture is UNFIT (saturated)."""
    level: int = key(250, ge=1, le=255)
    """Grey values from here on count as saturated."""
    region: Region | None = key(None)
    """Where it is measured; the whole frame when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Glare:
    """The largest connected blob of saturated pixels."""

    max_blob_px: int = key(ge=0)
    """A larger blob makes the picture UNFIT (glare)."""
    level: int = key(250, ge=1, le=255)
    """Grey values from here on count as glare."""
    region: Region | None = key(None)
    """Where it is measured; the whole frame when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence:
    """Likeness to a reference picture; low means occluded, or that the part is missing."""

    reference: str = key(is_path=True)
    """A good picture of the size of the frames (`inspectd gate learn` writes one)."""
    min_likeness: float = key(ge=-1, le=1)
    """Normalised correlation of the pictures reduced to 64 px; below this the picture is UNFIT."""
    meaning: Literal["occluded", "part_missing"] = key("occluded")
    """What a low likeness means at this station."""
    region: Region | None = key(None)
    """Where it is measured; the whole frame when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """A camera or driver that gives the same picture again."""

    max_repeats: int = key(0, ge=0)
    """So many exact repetitions of the last picture are let pass; the next is UNFIT (frozen)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Is the picture fit to be judged? Checks that are not given are not made."""

    sharpness: Sharpness | None = key(None)
    """Blur."""
    exposure: Exposure | None = key(None)
    """Too dark, too bright."""
    saturation: Saturation | None = key(None)
    """Burnt out."""
    glare: Glare | None = key(None)
    """Reflections."""
    presence: Presence | None = key(None)
    """Occluded, or no part there."""
    frozen: Frozen | None = key(None)
    """The same picture again."""


# ---------------------------------------------------------------- model and engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A detector as PaddleDetection (`infer_cfg.yml`) or PaddleX 3 (`inference.yml`) export it."""

    name: str = key(is_name=True)
    """How stations refer to it."""
    path: str = key(is_path=True)
    """The directory."""
    batch_max: int = key(8, ge=1, le=64)
    """Most frames in one run."""
    max_wait_ms: float = key(0.0, ge=0, le=1000)
    """How long a frame may wait for others to fill a batch; 0: never (batches under load still)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaddleEngine:
    """Paddle Inference in a process of its own."""

    kind: Literal["paddle"] = key()
    device: Literal["cpu", "gpu"] = key("cpu")
    """gpu needs `paddlepaddle-gpu`; it is read back, never assumed."""
    backend: Literal["onednn", "openvino", "plain"] = key("onednn")
    """CPU: which kernels run. openvino takes .pdmodel models only."""
    threads: int = key(1, ge=1, le=64)
    """CPU threads of one run."""
    self_test: Literal["refuse", "fall_back"] = key("refuse")
    """When the golden frame gives other values than stored: refuse the model, or try `plain`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedEngine:
    """No model: sleeps and finds nothing. For measuring the pipeline, never for a line."""

    kind: Literal["scripted"] = key()
    base_ms: float = key(4.0, ge=0)
    """Time of a run before its first frame."""
    per_frame_ms: float = key(2.0, ge=0)
    """Further time for each frame of the batch."""


Engine: TypeAlias = PaddleEngine | ScriptedEngine


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A golden picture per part, for models whose channels include the template."""

    folder: str = key(is_path=True)
    """Where the pictures lie."""
    pattern: str = key("{part_id}.png", nonempty=True)
    """File name; `{part_id}` is the part's name. A name without it serves all parts."""
    strip_suffix: str = key("")
    """Taken off the end of the part's name first, e.g. `_test`."""


# ---------------------------------------------------------------- rules


@dataclass(frozen=True, slots=True, kw_only=True)
class ForbidRule:
    """Any such object makes the part NG (a defect)."""

    kind: Literal["forbid"] = key()
    name: str = key(is_name=True)
    """Appears in the record of every part that breaks it."""
    labels: tuple[str, ...] = key(nonempty=True)
    """Classes of the model."""
    min_score: float = key(gt=0, le=1)
    """Detections below do not count. No default: it decides between false calls and escapes."""
    min_size_px: float = key(0.0, ge=0)
    """Longer side of the box; smaller objects do not count."""
    min_size_mm: float = key(0.0, ge=0)
    """The same in mm; needs `camera.um_per_px`."""
    max_count: int = key(0, ge=0)
    """So many are tolerated."""
    region: Region | None = key(None)
    """Only objects whose centre lies here; the whole frame when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRule:
    """There must be so many objects."""

    kind: Literal["count"] = key()
    name: str = key(is_name=True)
    """Appears in the record of every part that breaks it."""
    label: str = key(nonempty=True)
    """Class of the model."""
    min_score: float = key(gt=0, le=1)
    """Detections below do not count."""
    min: int = key(0, ge=0)
    """Fewer makes the part NG."""
    max: int = key(1_000_000, ge=0)
    """More makes the part NG."""
    region: Region | None = key(None)
    """Only objects whose centre lies here; the whole frame when not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EachHasRule:
    """Each object of one class has its own object of another (a bottle has its cap)."""

    kind: Literal["each_has"] = key()
    name: str = key(is_name=True)
    """Appears in the record of every part that breaks it."""
    label: str = key(nonempty=True)
    """The class that must have something (Bottle)."""
    needs: str = key(nonempty=True)
    """The class that it must have (Cap)."""
    min_score: float = key(gt=0, le=1)
    """Objects of `label` below do not count."""
    needs_min_score: float = key(gt=0, le=1)
    """Objects of `needs` below do not count."""
    min_overlap: float = key(0.5, gt=0, le=1)
    """Share of the needed object's area that must lie inside the other's box."""
    ignore_cut: bool = key(True)
    """Objects of `label` that touch the frame's edge need nothing."""
    region: Region | None = key(None)
    """Only objects of `label` whose centre lies here; the whole frame when not given."""


Rule: TypeAlias = ForbidRule | CountRule | EachHasRule


# ---------------------------------------------------------------- plc


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


# ---------------------------------------------------------------- record


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What is remembered, and for how long."""

    folder: str = key(is_path=True)
    """Holds `events.sqlite` and `archive/`."""
    archive: tuple[Literal["OK", "NG", "UNFIT", "LATE", "FAULT"], ...] = key(("NG", "UNFIT"))
    """Pictures of parts with these verdicts are kept."""
    keep_days: float = key(30.0, gt=0, le=3650)
    """Pictures older than this are deleted."""
    keep_events_days: float = key(365.0, gt=0, le=3650)
    """Events older than this are deleted."""
    min_free_mb: int = key(2000, ge=0)
    """Oldest pictures are deleted until so much is free; then none are written."""
    detections_min_score: float = key(0.1, gt=0, le=1)
    """Detections below are not written into the event."""
    jpeg_quality: int = key(90, ge=1, le=100)
    """Of archived pictures; 100 still loses a little, the boxes are judged on the original."""


# ---------------------------------------------------------------- station and line


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Milliseconds that each stage may take of a part's time; their sum must fit the deadline."""

    camera_ms: float = key(gt=0)
    """From the trigger to the last pixel in the slot."""
    gate_ms: float = key(gt=0)
    """Measures, and the tensor."""
    infer_ms: float = key(gt=0)
    """Queueing, batching and the model."""
    judge_ms: float = key(gt=0)
    """Boxes, rules."""
    sink_ms: float = key(gt=0)
    """To the PLC's confirmation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
    """One camera looking at one place of the line."""

    name: str = key(is_name=True)
    """Unique in the line."""
    cycle_ms: float = key(gt=0, le=3_600_000)
    """Shortest time between two parts."""
    deadline_ms: float = key(gt=0, le=3_600_000)
    """From the trigger to the verdict at the PLC. No default: it protects the reject point."""
    budget: Budget = key()
    """How the deadline is shared out."""
    slots: int = key(8, ge=2, le=256)
    """Frames in memory at once: in work, and waiting to be archived."""
    trigger: Trigger = key()
    """Where triggers come from."""
    camera: Camera = key()
    """Where pictures come from."""
    gate: Gate = key(Gate())
    """Is the picture fit?"""
    model: str = key(nonempty=True)
    """Name of an entry of `models`."""
    template: Template | None = key(None)
    """Golden pictures, for models that want them."""
    rules: tuple[Rule, ...] = key(nonempty=True)
    """When is the part good? All must hold."""
    plc: Plc = key()
    """Who is told?"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A station file: one line, one engine process, one record, any number of stations."""

    line: str = key(is_name=True)
    """Name of the line."""
    engine: Engine = key()
    """What runs the models."""
    models: tuple[Model, ...] = key(nonempty=True)
    """Detectors in use."""
    stations: tuple[Station, ...] = key(nonempty=True)
    """In the order of the line."""
    record: Record = key()
    """What is remembered."""
    memory_max_mb: int = key(2048, ge=16)
    """Upper limit for all frame memory of the line."""
    file: str = key("", is_path=True, by_loader=True)
    """Set by the loader: the station file itself. May not be given."""
    digest: str = key("", by_loader=True)
    """Set by the loader: SHA-256 of the file's text, first 12 hex digits (the recipe
    digest). May not be given."""
