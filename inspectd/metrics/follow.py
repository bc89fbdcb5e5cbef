"""Follows the record: every event of this run is counted once, some thousand at a look.

A database that is not there yet, or is put aside and begun anew, is opened again. An exporter that
was restarted begins with the next event: a process's counters begin with 0, and Prometheus knows
what to make of that; what it had counted before it must not count again as if it were new.
"""

from itertools import islice
from pathlib import Path

from inspectd.errors import UsageFault
from inspectd.metrics.tally import Tally
from inspectd.record.database import FILE_NAME
from inspectd.record.reading import Reading

__all__ = ["EVENTS_PER_LOOK", "Follower"]

EVENTS_PER_LOOK = 2000


class Follower:
    """Reads on in the record of a run."""

    def __init__(self, folder: Path, run_id: str, tally: Tally, *, skips_past: bool) -> None:
        """Open nothing yet.

        Args:
            folder: Of the record.
            run_id: Only its events are counted.
            tally: Is given them.
            skips_past: Whether what is there at the first look is left out.
        """
        self._path = folder / FILE_NAME
        self._run_id, self._tally = run_id, tally
        self._skips_past = skips_past
        self._reading: Reading | None = None
        self._file = 0
        self._after = 0
        self.trouble = ""
        """Why the record cannot be read; it is said after it could be read once."""
        self.behind = 0
        self._was_read = False

    @property
    def is_readable(self) -> bool:
        """Whether the last look could read the record."""
        return self._reading is not None

    def look(self) -> None:
        """Count what is new, at most `EVENTS_PER_LOOK`."""
        try:
            self._read_on(self._opened())
        except (UsageFault, OSError) as error:
            self.close()
            self.trouble = str(error) if self._was_read else ""
        else:
            self.trouble, self._was_read = "", True

    def close(self) -> None:
        """Close the file."""
        if self._reading is not None:
            self._reading.close()
        self._reading = None

    def _opened(self) -> Reading:
        number = self._path.stat().st_ino
        if self._reading is not None and number == self._file:
            return self._reading
        self.close()
        self._reading = Reading(self._path)
        if number != self._file:
            self._file, self._after = number, 0
        if self._skips_past:
            self._skips_past = False
            self._after = self._reading.newest()
        return self._reading

    def _read_on(self, reading: Reading) -> None:
        parts = reading.parts(self._run_id, after=self._after, with_detail=True)
        newest = reading.newest()
        count = 0
        for part in islice(parts, EVENTS_PER_LOOK):
            self._tally.add(part)
            self._after = part.sequence
            count += 1
        if count < EVENTS_PER_LOOK:
            self._after = max(self._after, newest)
        self.behind = max(0, newest - self._after)
