"""What was seen of the line at one moment. Plain values."""

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["ArchiveSize", "DiskSize", "Process", "Snapshot", "Usage"]


@dataclass(frozen=True, slots=True)
class Usage:
    """What the kernel says of a process."""

    cpu_s: float
    """User and system time since its start."""
    resident_bytes: int
    open_fds: int


@dataclass(frozen=True, slots=True)
class Process:
    """One process of the line."""

    role: str
    """Lower case."""
    station: str
    """Name; empty: of the whole line."""
    is_up: bool
    is_ready: bool
    restarts: int
    counters: tuple[int, ...]
    """Per `inspectd.ports.Counter`; empty for the supervisor, which has no row on the board."""
    usage: Usage | None = None
    """None: it is not there, or may not be looked at."""


@dataclass(frozen=True, slots=True)
class DiskSize:
    """The disk of the record; bytes."""

    free: int
    size: int
    database: int
    """The file with its write-ahead log."""


@dataclass(frozen=True, slots=True)
class ArchiveSize:
    """The archive, as it was when it was last walked through."""

    size: int
    """Bytes."""
    files: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The line at one moment."""

    taken_ns: int
    """Monotonic."""
    wall_s: float
    """The same moment, seconds since 1970."""
    processes: tuple[Process, ...]
    ready: Mapping[str, bool]
    """By station: whether a part would get its verdict now."""
    slots: Mapping[tuple[str, str], int]
    """In use, by station and role (lower case) of the owner."""
    disk: DiskSize | None
    """None: it does not answer."""
    archive: ArchiveSize | None
    """None: it has not been walked through yet."""
    is_record_readable: bool
    behind: int
    """Events in the record that are not counted yet."""
    started_s: float
    """When the exporter began to count, seconds since 1970."""
    refused: int
    """Connections over the limit."""
