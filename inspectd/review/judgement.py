"""What a person says of a verdict, and what many such sayings amount to. Pure.

A review never changes the record: the event stays as it was told to the PLC. Reviews are only ever
added; of several of one event the last counts, the others stay as the audit trail.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from inspectd.errors import UsageFault
from inspectd.record.history import Recorded

__all__ = [
    "NOTE_MAX_CHARS",
    "REVIEWER_MAX_CHARS",
    "Counts",
    "EventKey",
    "Judgement",
    "Review",
    "checked",
    "counted",
    "latest_of",
]

REVIEWER_MAX_CHARS = 64
NOTE_MAX_CHARS = 1000
_PASSED = "OK"

EventKey = tuple[str, int]
"""Which event: the name of its database file and its number there."""


class Judgement(str, Enum):
    """What the person found."""

    CONFIRMED = "confirmed"
    """The verdict was right."""
    FALSE_CALL = "false_call"
    """A good part was rejected."""
    ESCAPE = "escape"
    """A bad part was passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """One saying of one person; what is known of its event is kept with it, for when it is gone."""

    number: int
    """Counts up; 0: not stored yet."""
    database_id: str
    sequence: int
    run_id: str
    line: str
    station: str
    trigger_id: int
    recorded_utc: str
    """When the event was recorded."""
    verdict: str
    reason: str
    judgement: Judgement
    reviewer: str
    reviewed_utc: str
    note: str

    @property
    def key(self) -> EventKey:
        """Of its event."""
        return self.database_id, self.sequence


@dataclass(frozen=True, slots=True)
class Counts:
    """Events by their last review."""

    rejects: int
    """Reviewed events that were told as anything but OK."""
    false_calls: int
    """Of these, good parts."""
    passes: int
    """Reviewed events that were told as OK."""
    escapes: int
    """Of these, bad parts."""

    @property
    def reviewed(self) -> int:
        """All events with a review."""
        return self.rejects + self.passes

    @property
    def false_call_rate(self) -> float | None:
        """Share of false calls among the reviewed rejects; None: none was reviewed."""
        return self.false_calls / self.rejects if self.rejects else None

    @property
    def escape_rate(self) -> float | None:
        """Share of escapes among the reviewed passes; None: none was reviewed."""
        return self.escapes / self.passes if self.passes else None


def checked(  # noqa: PLR0917 - as a review reads
    event: Recorded, database_id: str, judgement: Judgement, reviewer: str, now_utc: str, note: str
) -> Review:
    """Make a review of an event.

    Args:
        event: As the record has it.
        database_id: Of the record's file.
        judgement: What was found.
        reviewer: Who found it; 1 to 64 characters, printable.
        now_utc: When, as the record writes moments.
        note: Up to 1000 characters, or none.

    Raises:
        UsageFault: nobody says it, the note is too long, or it cannot be said of this verdict.
    """
    where = f"event {event.sequence}"
    who = reviewer.strip()
    if not who or len(who) > REVIEWER_MAX_CHARS or not who.isprintable():
        remedy = f"give 1 to {REVIEWER_MAX_CHARS} printable characters"
        raise UsageFault("the review has no usable name of a reviewer", where, remedy)
    if len(note) > NOTE_MAX_CHARS:
        raise UsageFault(
            f"the note has {len(note)} characters", where, f"keep it to {NOTE_MAX_CHARS}"
        )
    has_passed = event.verdict == _PASSED
    if has_passed and judgement is Judgement.FALSE_CALL:
        raise UsageFault("it was told as OK: no false call", where, "say confirmed or escape")
    if not has_passed and judgement is Judgement.ESCAPE:
        what = f"it was told as {event.verdict}: no escape"
        raise UsageFault(what, where, "say confirmed or false_call")
    return Review(
        number=0,
        database_id=database_id,
        sequence=event.sequence,
        run_id=event.run_id,
        line=event.line,
        station=event.station,
        trigger_id=event.trigger_id,
        recorded_utc=event.recorded_utc,
        verdict=event.verdict,
        reason=event.reason,
        judgement=judgement,
        reviewer=who,
        reviewed_utc=now_utc,
        note=note.strip(),
    )


def latest_of(reviews: Iterable[Review]) -> dict[EventKey, Review]:
    """The review that counts, by event: that of the highest number."""
    found: dict[EventKey, Review] = {}
    for review in sorted(reviews, key=lambda one: one.number):
        found[review.key] = review
    return found


def counted(reviews: Iterable[Review]) -> Counts:
    """Count events by their last review."""
    last = latest_of(reviews).values()
    return Counts(
        rejects=sum(one.verdict != _PASSED for one in last),
        false_calls=sum(one.judgement is Judgement.FALSE_CALL for one in last),
        passes=sum(one.verdict == _PASSED for one in last),
        escapes=sum(one.judgement is Judgement.ESCAPE for one in last),
    )
