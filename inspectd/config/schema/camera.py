"""Where pictures and triggers come from."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from inspectd.config.schema.key import key

__all__ = ["Camera", "Degrade", "PlcTrigger", "ReplayCamera", "TimerTrigger", "Trigger"]


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
