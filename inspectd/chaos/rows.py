"""EDGE (sqlite3): the record of a trial, read while the line writes it, over all of its runs."""

import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from inspectd.chaos.books import Row
from inspectd.chaos.inject import FORGED_FROM
from inspectd.coco import Labels
from inspectd.config.schema import Line, Station
from inspectd.record.labels import expected
from inspectd.stages.judge.rules import evaluate

__all__ = ["Recorded"]

_QUERY = (
    "SELECT sequence, station, trigger_id, verdict, deadline_ns, sent_ns, run_id, detail"
    " FROM events WHERE sequence > ? ORDER BY sequence"
)
_NO_VERDICT = "NONE"


class Recorded:
    """Everything that the record has had since the trial began."""

    def __init__(self, line: Line, database: Path) -> None:
        """Read `database` from now on; nothing need be there yet."""
        self._database = database
        self._inode = 0
        self._after = 0
        self._judges = {one.name: _judge_of(one) for one in line.stations}
        self.rows: Mapping[str, list[Row]] = {one.name: [] for one in line.stations}
        """By station, in the order of arrival; strays and forged ones left out."""

    def read(self) -> None:
        """Take up what has come since; a record that cannot be read now is read next time."""
        with suppress(OSError, sqlite3.Error):
            inode = self._database.stat().st_ino
            if inode != self._inode:  # a damaged file was moved aside, and a new one begun
                self._inode, self._after = inode, 0
            uri = f"{self._database.absolute().as_uri()}?mode=ro"
            with closing(sqlite3.connect(uri, uri=True, timeout=1.0)) as connection:
                for row in connection.execute(_QUERY, (self._after,)):
                    self._add(row)

    def _add(self, row: tuple[Any, ...]) -> None:
        self._after, station, *values, detail = row
        kept = Row._make([*values, ""])
        if kept.verdict == _NO_VERDICT or kept.trigger_id >= FORGED_FROM:
            return
        if station in self.rows:
            self.rows[station].append(kept._replace(expected=self._judges[station](detail)))


def _judge_of(station: Station) -> Callable[[str], str]:
    """How to know what a part of this station should have got; empty: it is not known."""
    if not station.camera.labels:
        return lambda _detail: ""
    labels = Labels.read(Path(station.camera.labels))

    def judge(detail: str) -> str:
        wanted = expected(labels, station, json.loads(detail), evaluate)
        return "" if wanted is None else wanted.name

    return judge
