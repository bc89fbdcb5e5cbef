"""The values that travel with a part, from its trigger to its record.

Frozen, typed, without I/O. Times are integers of monotonic nanoseconds (`time.monotonic_ns`,
one clock for all processes of a machine). Boxes are `x1 y1 x2 y2` in frame pixels, origin at the
top left corner, x to the right.
"""

from dataclasses import dataclass, replace
from enum import IntEnum

__all__ = [
    "NO_SLOT",
    "Detection",
    "Fitness",
    "Kind",
    "Measure",
    "Reason",
    "Role",
    "Stamp",
    "Ticket",
    "Verdict",
]

NO_SLOT = -1
"""Slot number of a ticket that carries no frame (nothing was captured, or it was given back)."""


class Role(IntEnum):
    """A process of the line; also the owner of a slot. The order is the journey's."""

    NOBODY = 0
    CAMERA = 1
    GATE = 2
    INFER = 3
    JUDGE = 4
    SINK = 5
    RECORD = 6
    SUPERVISOR = 7
    FORWARD = 8
    REJECT = 9
    OPCUA = 10
    WEB = 11
    METRICS = 12


class Kind(IntEnum):
    """What a message says; who sends it to whom is the table in `inspectd.host.journey`."""

    FIRE = 1
    """sink -> camera: the PLC triggered a part, capture it (`trigger.kind: plc`)."""
    TRIGGER = 2
    """camera -> sink: the camera was triggered by itself; the deadline clock of the part starts.
    sink -> reject: a part was opened; the stamp FIRED says where it is, 0: nobody knows."""
    FRAME = 3
    """camera -> gate: the slot holds a picture."""
    TENSOR = 4
    """gate -> infer: the picture is fit, and the slot holds its tensor."""
    RAW = 5
    """infer -> judge: the slot holds the raw outputs of the model."""
    VERDICT = 6
    """any stage -> sink: the part is decided. sink -> reject: as the PLC was told."""
    LOST = 7
    """supervisor -> sink: the process that held this part died with it."""
    EVENT = 8
    """sink -> record: the verdict left (or came too late to leave), with everything known of it."""
    STOP = 9
    """supervisor -> any: finish what you hold, then end."""
    RECIPE = 10
    """sink -> camera: triggers of your own are of this `recipe` from now on."""
    GOLDEN = 11
    """sink -> infer: the PLC wants the golden picture of the station's model to be run."""
    PROVED = 12
    """infer -> sink: how it went: OK, NG (something else was found), FAULT (it was not run)."""


class Verdict(IntEnum):
    """What the PLC is told. Everything but OK rejects the part."""

    NONE = 0
    OK = 1
    NG = 2
    UNFIT = 3
    LATE = 4
    FAULT = 5


class Reason(IntEnum):
    """Why a part is not OK. The hundreds digit is its verdict; numbers stay."""

    NONE = 0
    DEFECT = 200
    COUNT_LOW = 201
    COUNT_HIGH = 202
    PAIR_MISSING = 203
    BLURRED = 300
    DARK = 301
    BRIGHT = 302
    SATURATED = 303
    GLARE = 304
    OCCLUDED = 305
    PART_MISSING = 306
    FROZEN = 307
    DEADLINE_PASSED = 400
    NO_FRAME = 500
    NO_FREE_SLOT = 501
    BAD_FRAME = 502
    PROCESS_LOST = 503
    ENGINE_DOWN = 504
    ENGINE_ERROR = 505
    OUTPUT_NOT_FINITE = 506
    TRIGGER_MISSED = 507
    TEMPLATE_MISSING = 508
    STOPPING = 509
    QUEUE_FULL = 510
    COMMANDED = 511
    TRIGGER_DISABLED = 512
    WRONG_RECIPE = 513
    GOLDEN_MISSING = 514


class Stamp(IntEnum):
    """Points of a part's journey whose monotonic time is kept; 0 means it never got there."""

    FIRED = 0
    """The trigger was seen."""
    CAMERA_START = 1
    """The camera process took the trigger up."""
    CAPTURED = 2
    """The last pixel is in the slot."""
    GATE_START = 3
    MEASURED = 4
    """The gate's measures are taken."""
    PREPARED = 5
    """The tensor is in the slot."""
    INFER_QUEUED = 6
    """The inference process took the tensor into its planner."""
    INFER_START = 7
    INFER_END = 8
    JUDGE_START = 9
    DECIDED = 10
    """A verdict exists."""
    SINK_QUEUED = 11
    """The sink has the verdict in its ledger."""
    SENT = 12
    """The PLC confirmed the write of the verdict block."""


class Fitness(IntEnum):
    """Whether a picture may be judged; the answer of the gate."""

    FIT = 0
    UNFIT = 1


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of the gate, with the limit it was held against."""

    name: str
    value: float
    limit: float
    reason: Reason
    """`Reason.NONE` when the limit is kept."""


@dataclass(frozen=True, slots=True)
class Detection:
    """One object found in a frame."""

    label: str
    score: float
    """0 to 1."""
    x1: float
    y1: float
    x2: float
    y2: float

    @property
    def width_px(self) -> float:
        """Extent along x."""
        return self.x2 - self.x1

    @property
    def height_px(self) -> float:
        """Extent along y."""
        return self.y2 - self.y1


@dataclass(frozen=True, slots=True)
class Ticket:
    """What goes from process to process about one part: never pixels, only where they lie.

    The same value serves every `Kind`; fields that do not apply keep their defaults.
    """

    station: int
    """Index of the station in the station file."""
    trigger_id: int
    """Counter of the trigger, 0 to 2**32 - 1; wraps."""
    part_id: str = ""
    """The part's own name (from the PLC or the picture's file), at most 64 bytes of UTF-8."""
    slot: int = NO_SLOT
    generation: int = 0
    """Use count of the slot when the picture was written: a stale ticket never matches."""
    deadline_ns: int = 0
    """The verdict must be at the PLC by then."""
    verdict: Verdict = Verdict.NONE
    reason: Reason = Reason.NONE
    batch: int = 0
    """Number of frames that went through the model together with this one."""
    stamps: tuple[int, ...] = (0,) * len(Stamp)
    """Monotonic nanoseconds per `Stamp`."""
    detail: bytes = b"{}"
    """JSON object for the record: measures, detections, names of broken rules. Never parsed by the
    sink. Keys in use: `image`, `measures`, `detections`, `broken`, `engine`, `error`,
    `degraded`."""
    judged: Verdict = Verdict.NONE
    """What the stages had said when the sink had to tell the PLC something else (too late, lost);
    NONE when they were not overruled."""
    recipe: int = 0
    """Number of the recipe by which the part is judged; 0: the station has none, or none is active.
    """

    def stamped(self, stamp: Stamp, now_ns: int) -> "Ticket":
        """Answer this ticket with one more time kept."""
        stamps = self.stamps
        return self._with_stamps((*stamps[:stamp], now_ns, *stamps[stamp + 1 :]))

    def inferred(self, times_ns: tuple[int, int, int], batch: int, detail: bytes) -> "Ticket":
        """Answer this ticket after its run: INFER_QUEUED, _START and _END, batch size, detail."""
        stamps = self.stamps
        kept = (*stamps[: Stamp.INFER_QUEUED], *times_ns, *stamps[Stamp.JUDGE_START :])
        return self._with_stamps(kept, batch, detail)

    def _with_stamps(
        self, stamps: tuple[int, ...], batch: int | None = None, detail: bytes | None = None
    ) -> "Ticket":
        """Answer this ticket with other stamps.

        In the order of the fields: this is on the path of every frame, and takes a fifth of the
        time of `dataclasses.replace`.
        """
        return Ticket(
            self.station,
            self.trigger_id,
            self.part_id,
            self.slot,
            self.generation,
            self.deadline_ns,
            self.verdict,
            self.reason,
            self.batch if batch is None else batch,
            stamps,
            self.detail if detail is None else detail,
            self.judged,
            self.recipe,
        )

    def decided(
        self, verdict: Verdict, reason: Reason, now_ns: int, detail: bytes | None = None
    ) -> "Ticket":
        """Answer this ticket with a verdict, stamped `DECIDED`."""
        return replace(
            self.stamped(Stamp.DECIDED, now_ns),
            verdict=verdict,
            reason=reason,
            detail=self.detail if detail is None else detail,
        )
