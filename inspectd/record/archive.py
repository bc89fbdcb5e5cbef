"""Where pictures lie, and how they get there whole.

`archive/2026-12-01/14/<station>-<trigger id>-<verdict>-<part>.jpg`, the event as `.json` beside
it, day and hour in UTC. A file is written under another name and renamed: whoever sees it sees all
of it. It is not forced to disk: a power cut may take the last pictures, never the events.
"""

import re
import shutil
from collections.abc import Collection
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path, PurePosixPath

import numpy as np
import numpy.typing as npt

from inspectd.frame import Ticket
from inspectd.record.picture import SUFFIX

__all__ = ["FOLDER_NAME", "Archive", "path_for", "sanitised"]

FOLDER_NAME = "archive"
PART_MAX_CHARS = 64
"""Of the part's name in the file name; the event has all of it."""
_UNFINISHED = ".part"
_DEPTH = 4
_FOREIGN = re.compile(r"[^A-Za-z0-9_.]+")


def sanitised(name: str) -> str:
    """What a name keeps in a file name: letters, digits, `_` and `.`; other runs become one `_`.

    Never hidden, never a way out of the folder, never empty.
    """
    return _FOREIGN.sub("_", name).lstrip(".")[:PART_MAX_CHARS] or "_"


def path_for(ticket: Ticket, station: str, recorded: datetime, attempt: int = 1) -> str:
    """The path of a picture, relative to the record's folder.

    Args:
        ticket: Of the part.
        station: Name of its station.
        recorded: Wall-clock time of its event.
        attempt: From 2 on it is added to the name: trigger ids come again.
    """
    hour = recorded.astimezone(timezone.utc).strftime("%Y-%m-%d/%H")
    part = f"-{sanitised(ticket.part_id)}" if ticket.part_id else ""
    again = f"-{attempt}" if attempt > 1 else ""
    name = f"{station}-{ticket.trigger_id}-{ticket.verdict.name}{part}{again}{SUFFIX}"
    return f"{FOLDER_NAME}/{hour}/{name}"


class Archive:
    """The pictures of one record's folder; nothing outside `archive/` is ever touched."""

    def __init__(self, folder: Path) -> None:
        """Args: folder: The record's."""
        self._folder = folder

    def free_path(
        self, ticket: Ticket, station: str, recorded: datetime, taken: Collection[str]
    ) -> str:
        """A path that neither a file nor one of `taken` (planned, not written yet) has."""
        attempt = 1
        path = path_for(ticket, station, recorded)
        while path in taken or (self._folder / path).exists():
            attempt += 1
            path = path_for(ticket, station, recorded, attempt)
        return path

    def write(self, path: str, picture: npt.NDArray[np.uint8], event: bytes) -> None:
        """Write a picture and its event; the event first, so that no picture is without.

        Raises:
            OSError: Disk full, no permission; nothing half is left under the final names.
        """
        target = self._folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            _replace(target.with_suffix(".json"), event)
            _replace(target, picture.data)
        except OSError:
            self.delete(path)
            raise

    def delete(self, path: str) -> int:
        """Delete a picture with all that belongs to it; its folders too once they are empty.

        Returns:
            Bytes freed; 0 when it was not there any more.
        """
        target = self._folder / path
        if not _is_ours(path):
            return 0
        files = (target, target.with_suffix(".json"))
        freed = sum(_unlink(file) + _unlink(_unfinished(file)) for file in files)
        with suppress(OSError):  # other pictures are left in it, or it is gone already
            target.parent.rmdir()
            target.parent.parent.rmdir()
        return freed

    def size_bytes(self, path: str) -> int:
        """Of a picture with its event; 0 when it is not there."""
        target = self._folder / path
        return _size(target) + _size(target.with_suffix(".json"))

    def free_mb(self) -> float:
        """Space left for us on the disk of the archive, in MiB."""
        return shutil.disk_usage(self._folder).free / 2**20


def _is_ours(path: str) -> bool:
    """Whether a path of the index is archive/day/hour/name, whatever wrote it."""
    parts = PurePosixPath(path).parts
    return len(parts) == _DEPTH and parts[0] == FOLDER_NAME and ".." not in parts


def _unfinished(file: Path) -> Path:
    return file.with_name(file.name + _UNFINISHED)


def _replace(file: Path, content: "bytes | memoryview") -> None:
    unfinished = _unfinished(file)
    unfinished.write_bytes(content)
    unfinished.replace(file)


def _unlink(file: Path) -> int:
    size = _size(file)
    with suppress(OSError):
        file.unlink()
    return size


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
