"""Answers what pages ask of record and reviews: in one thread, one question after the other.

So a browser that asks a lot waits for itself, and neither the live page nor the line for it.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from inspectd.config.schema import Line
from inspectd.errors import UsageFault
from inspectd.record.database import FILE_NAME
from inspectd.record.history import History
from inspectd.record.paging import Listed, Pages
from inspectd.review.judgement import Judgement, Review
from inspectd.review.store import Reviews
from inspectd.web.archive import picture_of
from inspectd.web.panel import boxes_of, why_of

__all__ = ["Desk"]

WAITING_MAX = 32
"""Questions that wait at once; further ones are refused."""
SERIES_MAX = 2000
TRAIL_MAX = 100
_T = TypeVar("_T")


class Desk:
    """One line's."""

    def __init__(self, line: Line, jpeg: Callable[[int], bytes | None]) -> None:
        """Args: jpeg: answers the small picture of an event that is not archived."""
        self._folder = Path(line.record.folder)
        self._jpeg = jpeg
        self._sizes = {
            one.name: (one.camera.width_px, one.camera.height_px) for one in line.stations
        }
        self._reviews = Reviews(self._folder / "reviews.sqlite")
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="desk")
        self._waiting = 0

    @property
    def stations(self) -> list[str]:
        """Names, in the order of the line."""
        return list(self._sizes)

    def close(self) -> None:
        """Take no further questions."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def events(self, *, before: int, station: str, verdict: str) -> list[dict[str, Any]]:
        """A page of events, the newest first, with what was said of them."""

        def answer() -> list[dict[str, Any]]:
            with closing(Pages(self._folder / FILE_NAME)) as pages:
                rows = pages.page(before=before, station=station, verdict=verdict)
            return self._with_reviews(rows)

        return await self._asked(answer)

    async def series(self, station: str) -> list[tuple[int, str, str, float | None]]:
        """The latest parts of a station: sequence, time, verdict, total ms; the oldest first."""

        def answer() -> list[tuple[int, str, str, float | None]]:
            with closing(Pages(self._folder / FILE_NAME)) as pages:
                return pages.series(station, SERIES_MAX)

        return await self._asked(answer)

    async def picture(self, sequence: int) -> bytes | None:
        """The picture of an event: as archived, or small while it is remembered."""
        small = self._jpeg(sequence)
        return small or await self._asked(lambda: picture_of(self._folder, sequence))

    async def reviews(self) -> dict[str, Any]:
        """How many reviews there are, and the rates."""

        def answer() -> dict[str, Any]:
            counts = self._reviews.counts()
            return {
                "reviewed": counts.reviewed,
                "rejects": counts.rejects,
                "false_calls": counts.false_calls,
                "escapes": counts.escapes,
                "false_call_rate": counts.false_call_rate,
            }

        return await self._asked(answer)

    async def trail(self) -> list[dict[str, Any]]:
        """Who said what, the newest first."""
        return await self._asked(
            lambda: [_review(one) for one in self._reviews.trail(TRAIL_MAX)],
        )

    async def judge(self, sequence: int, judgement: str, *, reviewer: str, note: str) -> None:
        """Store what a person says of an event.

        Raises:
            UsageFault: it cannot be said of this event.
        """

        def answer() -> None:
            known = [one.value for one in Judgement]
            if judgement not in known:
                raise UsageFault("no such judgement", judgement[:32], f"one of {', '.join(known)}")
            with closing(History(self._folder / FILE_NAME)) as history:
                event = history.event(sequence)
                self._reviews.add(
                    event,
                    history.database_id,
                    Judgement(judgement),
                    reviewer=reviewer,
                    note=note,
                )

        await self._asked(answer)

    async def _asked(self, answer: Callable[[], _T]) -> _T:
        if self._waiting >= WAITING_MAX:
            raise UsageFault("too many questions at once", "view", "try again")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, answer)
        finally:
            self._waiting -= 1

    def _with_reviews(self, rows: Sequence[Listed]) -> list[dict[str, Any]]:
        if not rows:
            return []
        with closing(History(self._folder / FILE_NAME)) as history:
            database_id = history.database_id
        said = self._reviews.latest(since_utc=min(row.recorded_utc for row in rows))
        return [self._row(row, said.get((database_id, row.sequence))) for row in rows]

    def _row(self, row: Listed, review: Review | None) -> dict[str, Any]:
        detail = json.loads(row.detail or "{}")
        width, height = self._sizes.get(row.station, (0, 0))
        return {
            "sequence": row.sequence,
            "station": row.station,
            "trigger_id": row.trigger_id,
            "part_id": row.part_id,
            "utc": row.recorded_utc,
            "verdict": row.verdict,
            "reason": row.reason,
            "judged": row.judged,
            "total_ms": row.total_ms,
            "why": why_of(detail, row.reason),
            "boxes": boxes_of(detail),
            "width": width,
            "height": height,
            "has_picture": row.archive is not None or self._jpeg(row.sequence) is not None,
            "model": row.model_digest,
            "recipe": row.recipe_digest,
            "review": None if review is None else _review(review),
        }


def _review(review: Review) -> dict[str, Any]:
    return {
        "number": review.number,
        "sequence": review.sequence,
        "station": review.station,
        "verdict": review.verdict,
        "judgement": review.judgement.value,
        "reviewer": review.reviewer,
        "reviewed_utc": review.reviewed_utc,
        "note": review.note,
    }
