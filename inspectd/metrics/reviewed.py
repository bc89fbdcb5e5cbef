"""Follows what people say of verdicts: false calls, escapes. Each saying is counted once."""

from pathlib import Path

from inspectd.errors import UsageFault
from inspectd.metrics.tally import Tally
from inspectd.review.store import Reviews

__all__ = ["REVIEWS_PER_LOOK", "ReviewFollower"]

REVIEWS_PER_LOOK = 10_000
"""People do not say more between two looks."""


class ReviewFollower:
    """Reads on in the reviews of a line; begins with those that are added from now on."""

    def __init__(self, folder: Path, tally: Tally) -> None:
        """Open nothing yet.

        Args:
            folder: Of the record.
            tally: Is given them.
        """
        self._reviews, self._tally = Reviews(folder), tally
        self._folder = folder
        self._after: int | None = None
        self.trouble = ""
        """Why they cannot be read."""

    def look(self) -> None:
        """Count what is new."""
        try:
            self._look()
        except UsageFault as fault:
            self.trouble = str(fault)
        else:
            self.trouble = ""

    def _look(self) -> None:
        if self._after is None:
            if not self._folder.is_dir():
                return
            self._reviews = Reviews(self._folder)
            self._after = max((one.number for one in self._reviews.trail(1)), default=0)
            return
        for review in self._reviews.trail(REVIEWS_PER_LOOK, self._after):
            self._tally.add_review(review.station, review.judgement.value)
            self._after = max(self._after, review.number)
