"""What may not be deleted yet, because a receiver outside the line (`forward`) has not got it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from inspectd.config.schema import Line
from inspectd.cursor import cursor_path, read
from inspectd.record.event import utc_text

__all__ = ["Hold", "Unsent"]


@dataclass(frozen=True, slots=True)
class Hold:
    """What one receiver still wants."""

    receiver: str
    sequence: int
    """Events above are not with it yet."""
    until_utc: str
    """Of these, those before this moment are given up."""


class Unsent:
    """Asks the receivers of a line how far they are."""

    def __init__(self, line: Line, log: Callable[..., None], count: Callable[[int], None]) -> None:
        """Serve one line.

        Args:
            line: its `forward`, and the folder of its record.
            log: as in `inspectd.ports.Context`.
            count: adds events that a receiver will never get.
        """
        self._receivers = {one.name: timedelta(days=one.keep_unsent_days) for one in line.forward}
        self._folder = Path(line.record.folder)
        self._log, self._count = log, count

    def holds(self, database_id: str, now: datetime) -> list[Hold]:
        """What each receiver wants now; one that has never been reached wants everything."""
        holds = []
        for name, kept in self._receivers.items():
            cursor = read(cursor_path(self._folder, name, database_id))
            sequence = cursor.sequence if cursor and cursor.database_id == database_id else 0
            holds.append(Hold(name, sequence, utc_text(now - kept)))
        return holds

    def deleted(self, sequences: Sequence[int], holds: Sequence[Hold]) -> None:
        """Say what receivers have lost by a deletion."""
        for hold in holds:
            lost = [number for number in sequences if number > hold.sequence]
            if lost:
                self._count(len(lost))
                self._log(
                    "error",
                    "events_expired_unsent",
                    receiver=hold.receiver,
                    events=len(lost),
                    first_sequence=lost[0],
                    last_sequence=lost[-1],
                )
