"""What is remembered, and for how long."""

from dataclasses import dataclass
from typing import Literal

from inspectd.config.schema.key import key

__all__ = ["Record"]


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
