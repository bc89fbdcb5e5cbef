"""An event as receivers outside the line get it: its fields, its key, its two forms.

Pure. The key is what the event is (line, run, station, trigger, moment), not where it stood:
`sequence` is given anew by a file that was moved aside, and by one that lost its last commits in a
power cut. `database_id` and `sequence` are there to see gaps.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["FIELDS", "FORMAT", "KEY", "Outgoing", "as_json", "as_row"]

FORMAT = 1
"""Of message and table; a change of meaning or a missing field makes it 2, a new field does not."""

FIELDS: Mapping[str, str] = {
    "line": "text NOT NULL",
    "run_id": "text NOT NULL",
    "station": "text NOT NULL",
    "trigger_id": "bigint NOT NULL",
    "epoch_ns": "bigint NOT NULL",
    "database_id": "text NOT NULL",
    "sequence": "bigint NOT NULL",
    "revision": "bigint NOT NULL",
    "recorded_utc": "timestamptz NOT NULL",
    "part_id": "text NOT NULL",
    "verdict": "text NOT NULL",
    "reason": "text NOT NULL",
    "judged": "text NOT NULL",
    "camera_ms": "double precision",
    "gate_ms": "double precision",
    "infer_ms": "double precision",
    "judge_ms": "double precision",
    "sink_ms": "double precision",
    "total_ms": "double precision",
    "batch": "integer NOT NULL",
    "model": "text NOT NULL",
    "model_digest": "text NOT NULL",
    "recipe_digest": "text NOT NULL",
    "archive": "text",
    "detail": "jsonb",
}
"""Name of a field, and its type in PostgreSQL; in this order everywhere."""
KEY: tuple[str, ...] = ("line", "run_id", "station", "trigger_id", "epoch_ns")
"""Together they name an event, whatever it is sent for the second time."""

_ESCAPED_NUL = re.compile(r"(\\\\)|\\u0000")
_REPLACEMENT = "�"


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One event, or its newer revision."""

    values: Mapping[str, Any]
    """By the names of `FIELDS`, as the record has them; `detail` is JSON text."""

    @property
    def sequence(self) -> int:
        """Its number in the record."""
        return int(self.values["sequence"])

    @property
    def station(self) -> str:
        """Name of its station."""
        return str(self.values["station"])

    @property
    def mark(self) -> str:
        """Its key within the line, as one text that begins with the run."""
        return "/".join(str(self.values[name]) for name in KEY[1:])


def as_json(event: Outgoing, max_bytes: int) -> bytes:
    """Write an event as a JSON object; one that is too large goes without its `detail`."""
    values = {"format": FORMAT, **event.values, "detail": json.loads(event.values["detail"])}
    payload = _encoded(values)
    if len(payload) > max_bytes:
        payload = _encoded({**values, "detail": None, "detail_left_out": True})
    return payload


def as_row(event: Outgoing, *, with_detail: bool = True) -> tuple[Any, ...]:
    """Write an event as values in the order of `FIELDS`; PostgreSQL takes no NUL in a text."""
    row = {name: _storable(event.values[name]) for name in FIELDS}
    row["detail"] = _ESCAPED_NUL.sub(_kept, row["detail"]) if with_detail else None
    return tuple(row.values())


def _encoded(values: Mapping[str, Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()


def _storable(value: Any) -> Any:
    return value.replace("\0", _REPLACEMENT) if isinstance(value, str) else value


def _kept(found: "re.Match[str]") -> str:
    return found[1] or _REPLACEMENT
