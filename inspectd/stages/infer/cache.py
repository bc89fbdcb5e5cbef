"""EDGE (disk): a folder of built engines with its stamp.

    <root>/<model digest>/<route>-<precision>/            what Paddle wrote
    <root>/<model digest>/<route>-<precision>/stamp.json  written last, by rename: it vouches
    <root>/<model digest>/<route>-<precision>.lock        one builder, or any number of users

A folder with anything in it and no stamp is half-written: its builder died. A stamp names every
file with its digest, so that an engine that Paddle replaced by itself is noticed. The kernel opens
a lock when its holder dies.
"""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from inspectd.stages.infer.stamp import Stamp, decoded, differences, encoded

__all__ = ["Cache", "Condition", "Finding"]

_STAMP = "stamp.json"
_CHUNK = 1 << 20


class Condition(Enum):
    """How a cache is."""

    ABSENT = "absent"
    """Nothing was built."""
    HALF_WRITTEN = "half-written"
    """A builder died, or a file was lost or changed afterwards."""
    STALE = "stale"
    """It was built in other circumstances."""
    FRESH = "fresh"


@dataclass(frozen=True, slots=True)
class Finding:
    """A condition, and why, field by field."""

    condition: Condition
    why: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """In one line."""
        return self.condition.value + (f" ({'; '.join(self.why)})" if self.why else "")


class Cache:
    """One folder of engines."""

    def __init__(self, folder: Path) -> None:
        """Name the folder; nothing is made."""
        self.folder = folder
        self._lock = folder.with_name(folder.name + ".lock")

    def examine(self, now: Stamp) -> Finding:
        """Say whether what lies there may be used in these circumstances."""
        present = self._present()
        if not present and not self._stamp.exists():
            return Finding(Condition.ABSENT)
        kept = self._read()
        if kept is None:
            return Finding(Condition.HALF_WRITTEN, ("its stamp is missing or cannot be read",))
        stamp, files = kept
        why = tuple(map(str, differences(stamp, now)))
        if why:
            return Finding(Condition.STALE, why)
        wrong = sorted(name for name in files if self._digest(name) != files[name])
        added = sorted(present - set(files))
        if wrong or added:
            lost = [f"{name}: lost or changed" for name in wrong]
            return Finding(
                Condition.HALF_WRITTEN, (*lost, *(f"{name}: not of it" for name in added))
            )
        return Finding(Condition.FRESH)

    def empty(self) -> None:
        """Take everything away, the stamp first: a work that ends half-way vouches for nothing."""
        self._stamp.unlink(missing_ok=True)
        if self.folder.exists():
            shutil.rmtree(self.folder)
        self.folder.mkdir(parents=True)

    def vouch(self, stamp: Stamp) -> None:
        """Write the stamp for what lies there now: the files to disk first, the stamp at once."""
        files = {}
        for name in sorted(self._present()):
            with (self.folder / name).open("rb+") as file:
                os.fsync(file.fileno())
            files[name] = self._digest(name)
        scratch = self._stamp.with_suffix(".new")
        with scratch.open("w", encoding="utf-8") as file:
            file.write(encoded(stamp, files))
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(self._stamp)
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    @contextmanager
    def building(self) -> Iterator[None]:
        """Be the only one at the folder; waits until all others have left it."""
        with self._locked(fcntl.LOCK_EX):
            yield

    @contextmanager
    def using(self) -> Iterator[None]:
        """Keep builders away; waits until one that is at work has finished."""
        with self._locked(fcntl.LOCK_SH):
            yield

    def is_busy(self) -> bool:
        """Whether somebody builds there now."""
        if not self._lock.exists():
            return False
        with self._lock.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    # ------------------------------------------------------------ inside

    @property
    def _stamp(self) -> Path:
        return self.folder / _STAMP

    @contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        self._lock.parent.mkdir(parents=True, exist_ok=True)
        with self._lock.open("ab") as file:
            fcntl.flock(file, how)
            yield

    def _present(self) -> set[str]:
        """Names of the files in the folder, by path below it, without the stamp."""
        if not self.folder.is_dir():
            return set()
        names = (one.relative_to(self.folder) for one in self.folder.rglob("*") if one.is_file())
        return {str(name) for name in names} - {_STAMP, f"{Path(_STAMP).stem}.new"}

    def _read(self) -> tuple[Stamp, dict[str, str]] | None:
        try:
            return decoded(self._stamp.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            return None

    def _digest(self, name: str) -> str:
        digest = hashlib.sha256()
        try:
            with (self.folder / name).open("rb") as file:
                while chunk := file.read(_CHUNK):
                    digest.update(chunk)
        except OSError:
            return ""
        return digest.hexdigest()
