"""What is remembered of one part: one row of the record, made from the sink's ticket.

Pure: the wall-clock time is handed in. `COLUMNS` is the order of a row; the database, the JSON
beside an archived picture and the report all speak these names (`docs/record.md`).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timezone
from typing import Any

from inspectd.config.recipes import NO_RECIPE, recipe_name
from inspectd.config.schema import Line
from inspectd.frame import Stamp, Ticket, Verdict

__all__ = [
    "COLUMNS",
    "STAMP_COLUMNS",
    "Event",
    "as_json",
    "event_of",
    "recipe_of",
    "row_of",
    "utc_text",
]

STAMP_COLUMNS: tuple[str, ...] = tuple(f"{stamp.name.lower()}_ns" for stamp in Stamp)
"""One column per `Stamp`, in its order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One part, from its trigger to its verdict."""

    run_id: str
    line: str
    station: str
    trigger_id: int
    part_id: str
    recorded_utc: str
    """When the record took the event up, ISO 8601 with microseconds and `Z`."""
    verdict: str
    """What the PLC was told."""
    reason: str
    judged: str
    """What the stages said when the PLC had to be told something else; empty otherwise."""
    deadline_ns: int
    stamps: tuple[int, ...]
    """Monotonic nanoseconds per `Stamp`; 0: never got there."""
    batch: int
    model: str
    model_digest: str
    recipe_digest: str
    detail: str
    """JSON object, see `Ticket.detail`."""
    archive: str | None = None
    """Path of the picture, relative to the record's folder; None: not kept (any more)."""


COLUMNS: tuple[str, ...] = tuple(
    column
    for field in fields(Event)
    for column in (STAMP_COLUMNS if field.name == "stamps" else (field.name,))
)


def event_of(
    ticket: Ticket, line: Line, run_id: str, recorded: datetime, archive: str | None = None
) -> Event:
    """Make the row of one part.

    Args:
        ticket: As the sink sent it.
        line: The station file of the run.
        run_id: Names the run.
        recorded: Wall-clock time with its zone.
        archive: Where the picture will lie.
    """
    detail = _object(ticket.detail)
    engine = detail.get("engine")
    digest = engine.get("digest", "") if isinstance(engine, dict) else engine or ""
    station = line.stations[ticket.station]
    name = recipe_name(station, ticket.recipe)
    if name:
        detail["recipe"] = {"number": ticket.recipe, "name": name}
    return Event(
        run_id=run_id,
        line=line.line,
        station=station.name,
        trigger_id=ticket.trigger_id,
        part_id=ticket.part_id,
        recorded_utc=utc_text(recorded),
        verdict=ticket.verdict.name,
        reason=ticket.reason.name,
        judged=_judged(ticket),
        deadline_ns=ticket.deadline_ns,
        stamps=ticket.stamps,
        batch=ticket.batch,
        model=station.model,
        model_digest=str(digest),
        recipe_digest=line.digest,
        detail=json.dumps(detail, separators=(",", ":"), ensure_ascii=False),
        archive=archive,
    )


def recipe_of(detail: Mapping[str, Any]) -> int:
    """The number of the recipe that an event's detail names; `NO_RECIPE`: none."""
    recipe = detail.get("recipe")
    return int(recipe["number"]) if isinstance(recipe, dict) else NO_RECIPE


def row_of(event: Event) -> tuple[Any, ...]:
    """The values of an event in the order of `COLUMNS`."""
    row: list[Any] = []
    for field in fields(event):
        value = getattr(event, field.name)
        row.extend(value if field.name == "stamps" else (value,))
    return tuple(row)


def as_json(event: Event) -> bytes:
    """The whole event as a JSON object for people, `detail` opened up."""
    values = dict(zip(COLUMNS, row_of(event), strict=True))
    values["detail"] = json.loads(event.detail)
    return json.dumps(values, indent=1, ensure_ascii=False).encode() + b"\n"


def utc_text(moment: datetime) -> str:
    """A moment as the record writes it: sorts as text, microseconds always given."""
    return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _judged(ticket: Ticket) -> str:
    return "" if ticket.judged is Verdict.NONE else ticket.judged.name


def _object(detail: bytes) -> dict[str, Any]:
    """The detail of a ticket; what is no JSON object is kept as text under `unreadable`."""
    try:
        value = json.loads(detail)
    except ValueError:
        return {"unreadable": detail.decode(errors="replace")}
    return value if isinstance(value, dict) else {"unreadable": detail.decode()}
