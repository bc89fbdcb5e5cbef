"""Which pictures must go now: too old, or in the way of the free space that was asked for.

`plan` is pure. `Retention` carries it out in small bites. Only what the index names is ever
deleted: an empty or new database deletes nothing (a peer emptied its whole archive that way).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from inspectd.config.schema import Record
from inspectd.record.archive import Archive
from inspectd.record.database import Database
from inspectd.record.event import utc_text
from inspectd.record.unsent import Unsent

__all__ = ["BITE", "Kept", "Retention", "plan"]

BITE = 32
"""Pictures looked at, and events deleted times ten, in one go: a few milliseconds."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A picture of the archive that the index knows."""

    path: str
    recorded_utc: str
    size_bytes: int


def plan(
    pictures: Sequence[Kept], oldest_kept_utc: str, free_mb: float, min_free_mb: float
) -> list[Kept]:
    """Choose the pictures to delete.

    Args:
        pictures: Oldest first.
        oldest_kept_utc: Anything before is too old.
        free_mb: Space left on the disk now.
        min_free_mb: Space that must be left.

    Returns:
        The too old ones, and of the others the oldest until the space is there.
    """
    missing_bytes = (min_free_mb - free_mb) * 2**20
    chosen = []
    for picture in pictures:
        if picture.recorded_utc >= oldest_kept_utc and missing_bytes <= 0:
            break
        chosen.append(picture)
        missing_bytes -= picture.size_bytes
    return chosen


class Retention:
    """Carries the plan out on one archive and its index."""

    def __init__(self, limits: Record, archive: Archive, unsent: Unsent | None = None) -> None:
        """Tie it to one record.

        Args:
            limits: How long, and how much must stay free.
            archive: Of the same record.
            unsent: What receivers outside the line still want; None: there are none.
        """
        self._unsent = unsent
        self._limits = limits
        self._archive = archive

    def bite(
        self, database: Database, now: datetime, gone: frozenset[str] = frozenset()
    ) -> tuple[list[str], bool]:
        """Delete a few of what must go.

        Args:
            database: The index.
            now: Wall-clock time.
            gone: Paths that the index still names although they are deleted: on a full disk it
                cannot be told before more has been deleted.

        Returns:
            Paths that are gone and must be forgotten by the index, and whether more may follow.
        """
        known = database.oldest_archived(BITE + len(gone))
        pictures = [
            Kept(one.path, one.recorded_utc, self._archive.size_bytes(one.path))
            for one in known
            if one.path not in gone
        ]
        limits = self._limits
        days = min(limits.keep_days, limits.keep_events_days)
        oldest = utc_text(now - timedelta(days=days))
        chosen = plan(pictures, oldest, self._archive.free_mb(), limits.min_free_mb)
        for picture in chosen:
            self._archive.delete(picture.path)
        has_deleted = self._delete_events(database, now)
        return [picture.path for picture in chosen], bool(chosen) or has_deleted

    def _delete_events(self, database: Database, now: datetime) -> bool:
        """Delete old events that no receiver wants any more."""
        before = now - timedelta(days=self._limits.keep_events_days)
        holds = self._unsent.holds(database.database_id, now) if self._unsent else []
        deleted = database.delete_events(before, BITE * 10, holds)
        if self._unsent:
            self._unsent.deleted(deleted, holds)
        return bool(deleted)
