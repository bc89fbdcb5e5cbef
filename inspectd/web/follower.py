"""Follows the record, the board and the machine, and says what the line page shows.

All of it blocks a little (files, /proc) and so runs in one thread of its own, a few times a second;
the answer is one JSON text for all pages. Pictures are kept as bytes, and only the latest.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Protocol

from inspectd import __version__
from inspectd.config.schema import Line
from inspectd.errors import UsageFault
from inspectd.frame import Role
from inspectd.ports import Status
from inspectd.record.database import FILE_NAME
from inspectd.record.paging import Pages
from inspectd.record.reading import Reading
from inspectd.web.node import Node
from inspectd.web.panel import RECENT, Panel
from inspectd.web.thumbnails import Thumbnails

__all__ = ["Follower", "ProcessRow"]

NODE_NS = 2_000_000_000
"""Between two looks at the machine."""
THUMBS_KEPT = 48
PARTS_PER_LOOK = 2000
"""More wait for the next look: news come even while much is caught up."""


class ProcessRow(Protocol):
    """One process of the line, as the board shows it."""

    @property
    def role(self) -> Role:
        """What it does."""

    @property
    def station(self) -> int:
        """Index of its station; -1 for those of the whole line."""

    @property
    def status(self) -> Status:
        """What it says of itself."""

    @property
    def pid(self) -> int:
        """Its id; 0: it does not live."""

    @property
    def restarts(self) -> int:
        """How often it was started again."""

    @property
    def trouble(self) -> str:
        """What is wrong, in one sentence."""


class Follower:
    """The eyes of the view; one thread calls it."""

    def __init__(
        self,
        line: Line,
        run_id: str,
        *,
        clock: Callable[[], int],
        processes: Callable[[], Sequence[ProcessRow]],
        thumbnails: Thumbnails,
        model_digests: Mapping[str, str],
    ) -> None:
        """Look at nothing yet.

        Args:
            line: The station file of the run.
            run_id: Of the run.
            clock: Monotonic nanoseconds.
            processes: Answers the rows of the board.
            thumbnails: Of parts on their way.
            model_digests: By name of the model.
        """
        self._line, self._run_id, self._clock = line, run_id, clock
        self._processes, self._thumbnails = processes, thumbnails
        self._folder = Path(line.record.folder)
        self._path = self._folder / FILE_NAME
        self._reading: Reading | None = None
        self._file: tuple[int, int] = (0, 0)
        self._sequence = 0
        self._panel = Panel(line)
        self._is_begun = False
        self._indexes = {station.name: index for index, station in enumerate(line.stations)}
        self._node = Node(self._folder)
        self._node_ns = 0
        self._load: dict[str, Any] = {}
        self._jpegs: OrderedDict[int, bytes] = OrderedDict()
        self._fixed = {
            "line": line.line,
            "run_id": run_id,
            "recipe": line.digest,
            "models": dict(model_digests),
            "version": __version__,
        }

    def look(self) -> bytes:
        """Take in what is new; answer the page's JSON."""
        now_ns = self._clock()
        if self._line.web is not None and self._line.web.live_pictures:
            self._thumbnails.look(now_ns)
        is_record_read = self._follow()
        rows = self._processes()
        if now_ns - self._node_ns >= NODE_NS:
            self._node_ns = now_ns
            self._load = self._node.look(row.pid for row in rows)
        utc = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        news = {
            **self._fixed,
            "utc": utc.replace("+00:00", "Z"),
            "is_record_read": is_record_read,
            "node": {name: value for name, value in self._load.items() if name != "processes"},
            "processes": [self._process(row) for row in rows],
            **self._panel.snapshot(self._clock()),
        }
        return json.dumps(news, separators=(",", ":"), ensure_ascii=False).encode()

    def jpeg(self, sequence: int) -> bytes | None:
        """The small picture of an event, while it is kept. Any thread may ask."""
        return self._jpegs.get(sequence)

    def close(self) -> None:
        """Let go of the record."""
        if self._reading is not None:
            self._reading.close()
            self._reading = None

    # ---------------------------------------------------------------- the record

    def _follow(self) -> bool:
        """Take parts in; False while the record cannot be read."""
        try:
            self._open()
            if self._reading is None:
                return False
            parts = self._reading.parts(self._run_id, after=self._sequence, with_detail=True)
            for number, part in enumerate(parts, 1):
                self._take(part)
                if number >= PARTS_PER_LOOK:
                    break
        except (UsageFault, OSError):
            self.close()
            return False
        return True

    def _open(self) -> None:
        """Open the record; again when it was moved aside and begun anew."""
        stat = self._path.stat()
        if self._reading is not None and self._file == (stat.st_dev, stat.st_ino):
            return
        self.close()
        self._sequence = 0
        if not self._is_begun:
            pages = Pages(self._path)
            try:
                totals = pages.totals(self._run_id)
            finally:
                pages.close()
            self._panel.begin(totals)
            self._is_begun = True
            counted = max((total.last for total in totals), default=0)
        else:
            counted = 0
        self._reading = Reading(self._path)
        self._file = (stat.st_dev, stat.st_ino)
        self._recall(counted)

    def _recall(self, counted: int) -> None:
        """Take the latest of the parts that were counted already, for bars and strip."""
        if self._reading is None or not counted:
            return
        after = max(0, counted - RECENT * len(self._line.stations))
        for part in self._reading.parts(self._run_id, after=after, with_detail=True):
            self._take(part, is_counted=part.sequence > counted)

    def _take(self, part: Any, *, is_counted: bool = True) -> None:
        self._sequence = part.sequence
        station = self._indexes.get(part.station, -1)
        jpeg = self._thumbnails.of(station, part.trigger_id, part.fired_ns)
        if jpeg is not None and part.archive is None:
            self._jpegs[part.sequence] = jpeg
            while len(self._jpegs) > THUMBS_KEPT:
                self._jpegs.popitem(last=False)
        has_picture = jpeg is not None or part.archive is not None
        self._panel.take(part, has_picture=has_picture, is_counted=is_counted)

    # ---------------------------------------------------------------- processes

    def _process(self, row: ProcessRow) -> dict[str, Any]:
        stations = self._line.stations
        load = self._load.get("processes", {}).get(row.pid) or {}
        return {
            "role": row.role.name.lower(),
            "station": stations[row.station].name if row.station >= 0 else "",
            "status": row.status.name,
            "trouble": row.trouble,
            "restarts": row.restarts,
            "pid": row.pid,
            "cpu_percent": load.get("cpu_percent"),
            "memory_mb": load.get("memory_mb"),
        }
