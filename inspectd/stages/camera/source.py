"""What a camera is to inspectd: something that puts a picture into memory it is given.

Implementations: `inspectd.stages.camera.replay` (files). A real camera implements the same four
methods; the contract suite `tests/contract/test_source.py` runs over every implementation.

Promised to the caller:
- `take` ends within `timeout_ms`, whatever the driver does (as far as the driver lets it: a call
  that hangs in the driver is found by the supervisor, which restarts the camera process).
- Every expected outcome is a value (`Answer`); `take` raises only for a bug.
- After anything but `Captured` the memory may hold half a picture: the part must not be judged.
- One `take` or `skip` per trigger, in the order of the triggers. A picture that comes after its
  `take` has timed out is thrown away, never handed over for a later trigger.
- `close` may be called in any state, also twice, also when `open` failed (a camera that cannot
  be let go of blocks the next start).

Not promised: that frames come in equal intervals, that device time stamps rise, that no frame is
lost between two calls. What was lost shows in `Captured.frame_id`, see `frames_between`.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeAlias

from inspectd.ports import Pixels

__all__ = [
    "Answer",
    "Captured",
    "FrameIds",
    "Incomplete",
    "Nothing",
    "Source",
    "Unusable",
    "Why",
    "frames_between",
]


class Why(Enum):
    """Why no picture came."""

    TIMED_OUT = "the camera did not deliver in time"
    ENDED = "the pictures have come to their end"
    DROPPED = "the picture was dropped"
    LOST = "the camera is gone"


@dataclass(frozen=True, slots=True)
class Captured:
    """A whole picture lies in the memory given."""

    frame_id: int
    """The device's own count, in the range of `Source.frame_ids`."""
    part_id: str
    """Name of the part, when the source knows it; may be empty."""
    copies: int
    """Whole pictures that were copied to get it there; 0 when the device wrote it there itself."""
    image: str = ""
    """File that it came from; empty for a real camera."""
    degraded: str = ""
    """What was done to it on purpose: `blur`, `erase:Cap`, ...; empty: nothing."""


@dataclass(frozen=True, slots=True)
class Incomplete:
    """A picture came with parts missing (lost packets, short read)."""

    detail: str


@dataclass(frozen=True, slots=True)
class Unusable:
    """A picture came that cannot be used: unreadable, of another size or type."""

    detail: str


@dataclass(frozen=True, slots=True)
class Nothing:
    """No picture came."""

    why: Why
    image: str = ""
    """File that was due; empty for a real camera."""
    degraded: str = ""


Answer: TypeAlias = Captured | Incomplete | Unusable | Nothing


@dataclass(frozen=True, slots=True)
class FrameIds:
    """How a device counts its frames."""

    first: int = 0
    last: int = 2**63 - 1
    """GigE Vision block ids of 16 bits run 1 to 65535, and 0 is skipped (measured with Aravis)."""


class Source(Protocol):
    """A camera."""

    frame_ids: FrameIds

    def open(self) -> None:
        """Get hold of the camera.

        Raises:
            FrameFault: it cannot be had; the process ends and is started again with back-off.
        """

    def take(self, into: Pixels, timeout_ms: float) -> Answer:
        """Put the picture of one trigger into `into`.

        A camera with a software trigger exposes now; one with a hardware trigger hands over the
        oldest frame not yet taken. `into` has the station's shape, uint8, C-contiguous.
        """

    def skip(self) -> None:
        """Let the picture of one trigger go by, because there is no memory for it.

        A camera with a hardware trigger has taken it, and must not hand it over for the next part.
        """

    def close(self) -> None:
        """Let go of the camera."""


def frames_between(previous: int, current: int, ids: FrameIds) -> int:
    """Answer how many frames the device counted between two that were received; 0: none.

    The count wraps from `ids.last` to `ids.first`. A device that was restarted counts anew and
    looks like a large gap: also then the next picture cannot be trusted to be the part's.

    >>> frames_between(65535, 1, FrameIds(1, 65535))
    0
    >>> frames_between(7, 9, FrameIds())
    1
    """
    size = ids.last - ids.first + 1
    return (current - previous - 1) % size
