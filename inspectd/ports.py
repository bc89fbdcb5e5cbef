"""What a stage is given and what it answers: the seams between stages and the host.

A stage's door (`step.py`) offers `build(line, station, context) -> Step`. The host's loop
(`inspectd.host.stage`) owns the socket, the clock and the log; the step owns none of them. What a
step needs from outside comes in its `Context`. All of these are Protocols or plain values, so that
a test can hand in its own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from inspectd.frame import Kind, Role, Ticket

__all__ = [
    "Arena",
    "Context",
    "Counter",
    "Entry",
    "Journal",
    "Origin",
    "Out",
    "Past",
    "Pixels",
    "Standing",
    "Status",
    "Step",
    "Tensor",
]

Pixels: TypeAlias = npt.NDArray[np.uint8]
"""A picture: (height, width) grey or (height, width, 3) blue, green, red; 0 to 255."""
Tensor: TypeAlias = npt.NDArray[np.float32]
"""A model input of one frame: (channels, height, width), float32."""


class Out(NamedTuple):
    """A message that a step wants sent. The host's table knows the address."""

    to: Role
    kind: Kind
    ticket: Ticket


class Counter(IntEnum):
    """Counters that every process keeps in shared memory; read by the supervisor and the report."""

    FRAMES = 0
    """Tickets that this process finished."""
    PIXEL_COPIES = 1
    """Whole pictures copied by this process, the tensor's filling included."""
    STALE = 2
    """Tickets whose slot had been reclaimed meanwhile; dropped."""
    FOREIGN = 3
    """Messages that were not of this run; dropped."""
    SEND_FAILED = 4
    """Messages that found the receiver's queue full."""
    BATCHES = 5
    """Runs of the engine."""
    MISSED = 6
    """Triggers that the PLC counted and this process did not see."""
    PLC_FAULTS = 7
    """Requests to the PLC that failed."""
    OVERRUNS = 8
    """Verdicts that the PLC did not acknowledge in time."""
    LATE = 9
    """Parts decided by the deadline clock."""
    ARCHIVED = 10
    """Pictures written."""
    ARCHIVE_SKIPPED = 11
    """Pictures not written (disk full, falling behind)."""
    EVENTS = 12
    """Events written to the database."""
    EVENTS_LOST = 13
    """Events given up: the disk was full for longer than the memory queue could hold them."""
    FORWARDED = 14
    """Events that a receiver outside the line confirmed (`forward`)."""
    FORWARD_LOST = 15
    """Events deleted before a receiver had them, or that a receiver refused for good."""
    UNTOLD = 16
    """Parts whose verdict the PLC was never told: it was away for longer than they could wait."""
    PLC_SILENT = 17
    """Times that the PLC's own heartbeat stood still for too long."""
    COMMANDS = 18
    """Commands of the PLC that were taken up."""
    LET_PASS = 19
    """Parts that the output let pass (`reject.kind: output`)."""
    REJECTED = 20
    """Parts that it did not let pass, or whose place was lost."""
    REJECTS_UNCONFIRMED = 21
    """Rejected parts that were not seen in the bin in time."""


class Status(IntEnum):
    """What a process says of itself on the board."""

    ABSENT = 0
    STARTING = 1
    READY = 2
    TROUBLED = 3
    """Running, but something it needs does not answer (see `Step.trouble`)."""
    STOPPING = 4
    DONE = 5
    """The sink alone: the part limit of the run is reached, and nothing is held any more."""
    BUILDING = 6
    """Starting, and an engine is being built, which takes minutes (infer alone)."""


class Arena(Protocol):
    """Frame memory of one station: numbered slots, each with a picture, a tensor and raw outputs.

    A slot has exactly one owner (`Role`) at a time; only the owner writes it and hands it on.
    A stale ticket (slot reclaimed since) is recognised by its generation.
    """

    def loan(self, trigger_id: int) -> tuple[int, int] | None:
        """Take a free slot for the camera: (slot, generation), or None when all are in use."""

    def holds(self, slot: int, generation: int, role: Role) -> bool:
        """Whether `role` owns the slot and its picture is still the one of `generation`."""

    def hand_over(self, slot: int, generation: int, owner: Role, to: Role) -> bool:
        """Make `to` the owner; False when the slot is no longer `owner`'s (it was reclaimed)."""

    def release(self, slot: int, generation: int, owner: Role) -> bool:
        """Give the slot back; False when it is no longer `owner`'s."""

    def frame(self, slot: int) -> Pixels:
        """The picture, without a copy, in the shape of the station's camera."""

    def tensor(self, slot: int) -> Tensor:
        """The model input, without a copy, in the shape the model asks for."""

    def write_raw(self, slot: int, outputs: Mapping[str, npt.NDArray[Any]]) -> None:
        """Keep the model's outputs for this frame (names and order kept)."""

    def read_raw(self, slot: int) -> dict[str, npt.NDArray[Any]]:
        """The model's outputs for this frame, read-only views without a copy."""


class Standing(IntEnum):
    """How far a part is, in the journal of its sink."""

    OPEN = 1
    """Its trigger was seen."""
    SETTLED = 2
    """Its verdict is known."""
    LEAVING = 3
    """Its verdict is about to be written to the PLC."""
    TOLD = 4
    """The PLC confirmed it, or was given up; the record is to have it."""


class Entry(NamedTuple):
    """What the journal knows of a part, or of a note for the record."""

    number: int
    """Of the entry; in the order of opening."""
    standing: Standing
    ticket: Ticket
    """As it was then. LEAVING: with the moment in the stamp SENT, for the case that it left."""
    sequence: int
    """Sequence word of the verdict block under which it leaves or left; 0: none."""


class Origin(NamedTuple):
    """Which station of which run a journal is of."""

    run_id: str
    line: str
    station: str
    model: str
    recipe_digest: str


class Past(NamedTuple):
    """What earlier lives of a sink left in its journal."""

    start_id: int | None
    """The trigger id after which the first life began; None: it never got so far."""
    done: int
    """Parts told since then."""
    settled: Entry | None
    """The part told last."""
    held: tuple[Entry, ...]
    """Parts that were not told yet, in the order of their opening."""
    unseen: tuple[Entry, ...]
    """Events that the record neither holds nor has, in the order in which they were told."""
    damaged: int = 0
    """Entries that could not be read: must be 0."""


class Journal(Protocol):
    """What one sink may not forget when it dies, in memory that does not die with it.

    The sink writes, the record confirms; each call leaves the old entry or the new one, at whatever
    instruction its process is killed. Nothing here ever waits.
    """

    def past(self) -> Past:
        """What stands in it (the sink, at its birth)."""

    def begin(self, start_id: int) -> None:
        """Keep after which trigger id the first life begins."""

    def keep(self, standing: Standing, ticket: Ticket, sequence: int = 0) -> bool:
        """Keep how far a part is; it is known by id and moment of its trigger until it is TOLD.

        False: the oldest event had to give way, and the record did not have it.
        """

    def note(self, ticket: Ticket) -> bool:
        """Keep an event that is no part's verdict (a late one, a stray); answers as `keep`."""

    def find(self, ticket: Ticket) -> int | None:
        """The number under which an event stands here (the record); None: not any more."""

    def unrecorded(self) -> tuple[Entry, ...]:
        """Events that the record has not confirmed, in the order in which they were told."""

    def take(self, numbers: Sequence[int]) -> None:
        """The record holds these events in its memory: they may give way."""

    def confirm(self, numbers: Sequence[int]) -> None:
        """The record has committed these events."""


@dataclass(frozen=True, slots=True)
class Context:
    """What the host gives to a step when it is built."""

    arenas: Mapping[int, Arena]
    """By station index; a station's own process has only its own, infer and record have all."""
    clock: Callable[[], int]
    """Monotonic nanoseconds."""
    count: Callable[[Counter, int], None]
    """Add to a shared counter of this process."""
    log: Callable[..., None]
    """`log(level, event, **fields)`: levels error, warning, info, debug."""
    is_ready: Callable[[Role, int], bool]
    """Whether the process (role, station) says READY and moves. Station -1 for infer and record."""
    is_line_healthy: Callable[[int], bool]
    """Whether every process that this station needs says READY and moves: gates the heartbeat."""
    building: Callable[[str], None] = lambda _what: None
    """Say on the board what is being built, while the step is made; empty: nothing any more."""
    part_limit: int = 0
    """Stop after so many parts per station; 0: run until stopped."""
    restarts: int = 0
    """How often this process has been restarted in this run; 0 at the first start."""
    run_id: str = ""
    """Names this run in the record."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Values for single stages: `plc_port`, `io_port` (int) of simulators; `epoch_ns`
    (int, monotonic), when the line began to see parts, for cameras that trigger by themselves;
    `are_sinks_gone` (a call that answers a bool), for the record, which then closes the books;
    `former` (pairs of `Origin` and `Journal`), journals of a run that was killed whole;
    `processes` (a call that answers the rows of the board), for the operator's view."""
    journals: Mapping[int, Journal] = field(default_factory=dict)
    """By station index: the sink has its own, the record has all, nobody else has one."""


class Step(Protocol):
    """One stage at work. It is fed tickets and the time, and answers messages to send.

    It never waits and never raises for an expected outcome. An exception that leaves it ends the
    process; the supervisor turns the parts it held into FAULT.
    """

    def feed(self, kind: Kind, ticket: Ticket, now_ns: int) -> Sequence[Out]:
        """Take one message."""

    def wake_at_ns(self) -> int | None:
        """When to call `wake` (a time in the past: at once); None: only when a message comes."""

    def wake(self, now_ns: int) -> Sequence[Out]:
        """Do what is due."""

    def stop(self, now_ns: int) -> Sequence[Out]:
        """Take nothing new any more; finish what is held."""

    def is_drained(self) -> bool:
        """After `stop`: nothing is held any more."""

    def trouble(self) -> str:
        """Empty when all is well; otherwise one sentence, e.g. that the PLC does not answer."""

    def close(self) -> None:
        """Let go of devices and connections; outputs into the reject state first."""
