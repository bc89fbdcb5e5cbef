"""What every process of a run is told at its birth, the same for all: a snapshot of the line.

The supervisor reads the station file and the models once and hands the result down by an inherited
memfd. So a process that is restarted in the middle of a shift sees the line as it was checked, even
if somebody has saved a half-edited station file since.
"""

import os
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from inspectd import __version__
from inspectd.bus.arena import Geometry
from inspectd.config.schema import Line, Station
from inspectd.errors import ArenaFault
from inspectd.ports import Origin

__all__ = ["Manifest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The run, as every process sees it."""

    line: Line
    geometries: tuple[Geometry, ...]
    """Of the arenas, by station."""
    run_id: str
    token: int
    """64 random bits that every message of this run carries; never logged."""
    part_limit: int = 0
    plc_ports: Mapping[int, int] = field(default_factory=dict)
    """Ports that simulators took, by station."""
    io_ports: Mapping[int, int] = field(default_factory=dict)
    """Ports at which they play the I/O module of the ejector, by station."""
    model_digests: Mapping[str, str] = field(default_factory=dict)
    """By model name, as the directories were at the start: a restarted process takes no other."""
    log_level: str = "info"
    steps: Mapping[str, str] = field(default_factory=dict)
    """Steps instead of those in the table of `inspectd.host.build`, by role name: trials."""
    version: str = __version__

    def origin_of(self, station: Station) -> Origin:
        """What the journal of a station is called by."""
        line = self.line
        return Origin(self.run_id, line.line, station.name, station.model, line.digest)

    def write(self) -> BinaryIO:
        """Write the snapshot; answer the open file, whose descriptor children inherit."""
        file = os.fdopen(os.memfd_create("inspectd-manifest", os.MFD_CLOEXEC), "w+b")
        pickle.dump(self, file)
        file.flush()
        return file

    @classmethod
    def read(cls, fd: int) -> "Manifest":
        """Read the snapshot that the parent wrote: same program, same user, never from outside.

        Raises:
            ArenaFault: the program was updated since the supervisor started.
        """
        manifest = pickle.loads(os.pread(fd, os.fstat(fd).st_size, 0))  # noqa: S301  our parent's
        if not isinstance(manifest, cls) or manifest.version != __version__:
            raise ArenaFault(
                f"the supervisor is not of version {__version__}",
                "start the line anew: it was updated while it ran",
            )
        return manifest
