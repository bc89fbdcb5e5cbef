"""The door of the exporter: looks at the line once a second, and serves what it saw.

Nobody of the line sends to it and nobody waits for it. It reads: the board, whose slots are in
use, the record's file, the disk, /proc. Scrapes are answered by threads of this process alone.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from inspectd.config.metricsrules import Address, address_of
from inspectd.config.schema import Line
from inspectd.errors import InspectdError
from inspectd.frame import Kind, Role, Ticket
from inspectd.metrics.families import SLOT_OWNERS, families_of
from inspectd.metrics.follow import Follower
from inspectd.metrics.machine import Walk, disk_of, usage_of
from inspectd.metrics.reviewed import ReviewFollower
from inspectd.metrics.snapshot import ArchiveSize, Process, Snapshot
from inspectd.metrics.tally import Tally
from inspectd.ports import Context, Out, Step

__all__ = ["MetricsStep", "build"]

LOOK_NS = 1_000_000_000
"""Between two looks at the line."""
BIND_NS = 5_000_000_000
"""Between two tries to have the address."""
WALK_NS = 60_000_000_000
"""Between two walks through the archive."""
REVIEWS_NS = 5_000_000_000
"""Between two looks at the reviews."""
_WALK_FILES = 500
"""At one look."""


class _Slots(Protocol):
    """Frame memory, as it is looked at here."""

    def owned(self, role: Role) -> Sequence[object]:
        """The slots of `role`."""


def build(line: Line, station: int, context: Context) -> Step:  # noqa: ARG001 - one for the line
    """Start the exporter of a line."""
    return MetricsStep(line, context, lambda: datetime.now(timezone.utc))


class MetricsStep:
    """The exporter of a line."""

    def __init__(self, line: Line, context: Context, utc: Callable[[], datetime]) -> None:
        """Look at nothing yet.

        Args:
            line: With `metrics`.
            context: `extra` has `processes` (a call that answers the rows of the board) and
                `model_digests`.
            utc: Wall clock.
        """
        self._line, self._context, self._utc = line, context, utc
        folder = Path(line.record.folder)
        self._folder = folder
        self._tally = Tally(line.stations)
        self._follower = Follower(
            folder, context.run_id, self._tally, skips_past=context.restarts > 0
        )
        self._reviews = ReviewFollower(folder, self._tally)
        self._walk = Walk(folder)
        self._archive: ArchiveSize | None = None
        self._walk_at_ns = self._bind_at_ns = self._look_at_ns = self._reviews_at_ns = 0
        self._started_s = utc().timestamp()
        self._bind_trouble = ""
        self._door = _door_of(line, context)

    def feed(self, kind: Kind, ticket: Ticket, now_ns: int) -> Sequence[Out]:  # noqa: ARG002
        """Nobody sends anything."""
        return ()

    def wake_at_ns(self) -> int | None:
        """Once a second."""
        return self._look_at_ns

    def wake(self, now_ns: int) -> Sequence[Out]:
        """Look at the line."""
        self._look_at_ns = now_ns + LOOK_NS
        self._follower.look()
        if self._reviews_at_ns <= now_ns:
            self._reviews_at_ns = now_ns + REVIEWS_NS
            self._reviews.look()
        self._walk_on(now_ns)
        families = families_of(
            self._line,
            self._context.run_id,
            self._context.extra.get("model_digests", {}),
            self._snapshot(now_ns),
            self._tally,
        )
        self._door.show(families, now_ns)
        if self._bind_at_ns <= now_ns:
            self._bind_at_ns = now_ns + BIND_NS
            self._bind_trouble = self._door.open()
        return ()

    def stop(self, now_ns: int) -> Sequence[Out]:  # noqa: ARG002 - of the protocol
        """Nothing is held."""
        return ()

    def is_drained(self) -> bool:
        """Nothing is held."""
        return True

    def trouble(self) -> str:
        """Why nothing can be served, or the record not be read."""
        return " | ".join(
            filter(None, (self._bind_trouble, self._follower.trouble, self._reviews.trouble))
        )

    def close(self) -> None:
        """Stop serving."""
        self._door.close()
        self._follower.close()

    def _snapshot(self, now_ns: int) -> Snapshot:
        stations = [station.name for station in self._line.stations]
        healthy = {
            name: self._context.is_line_healthy(index) and self._context.is_ready(Role.SINK, index)
            for index, name in enumerate(stations)
        }
        return Snapshot(
            taken_ns=now_ns,
            wall_s=self._utc().timestamp(),
            processes=(_supervisor(), *map(self._process, self._context.extra["processes"]())),
            ready=healthy,
            slots=_slots_in_use(stations, self._context.arenas),
            disk=disk_of(self._folder),
            archive=self._archive,
            is_record_readable=self._follower.is_readable,
            behind=self._follower.behind,
            started_s=self._started_s,
            refused=self._door.refused,
        )

    def _process(self, state: Any) -> Process:
        """A row of the board (`inspectd.host.board.State`)."""
        station = self._line.stations[state.station].name if state.station >= 0 else ""
        return Process(
            role=state.role.name.lower(),
            station=station,
            is_up=state.pid > 0,
            is_ready=self._context.is_ready(state.role, state.station),
            restarts=state.restarts,
            counters=state.counters,
            usage=usage_of(state.pid) if state.pid > 0 else None,
        )

    def _walk_on(self, now_ns: int) -> None:
        if now_ns < self._walk_at_ns:
            return
        found = self._walk.go_on(_WALK_FILES)
        if found is not None:
            self._archive = found
            self._walk_at_ns = now_ns + WALK_NS


class _Door:
    """Where the figures are served; stays closed while the address is somebody else's."""

    def __init__(self, line: str, address: Address, context: Context) -> None:
        # prometheus_client, an extra, is imported here: without it there is no door
        from inspectd.metrics.server import Page, Server  # noqa: PLC0415
        from inspectd.metrics.text import text_of  # noqa: PLC0415

        self._make, self._text_of = Server, text_of
        self._line, self._address, self._context = line, address, context
        self._page = Page(context.clock)
        self._server: Server | None = None

    @property
    def refused(self) -> int:
        """Connections that were over the limit."""
        return 0 if self._server is None else self._server.refused

    def open(self) -> str:
        """Listen; answer what is in the way."""
        if self._server is not None:
            return ""
        try:
            self._server = self._make(self._address, self._page, self._context.clock)
        except InspectdError as fault:
            return str(fault)
        self._context.log("info", "metrics_serving", url=self._address.url)
        return ""

    def show(self, families: Sequence[Any], now_ns: int) -> None:
        """Serve these from now on."""
        self._page.renew(partial(self._text_of, self._line, families), now_ns)

    def close(self) -> None:
        """Stop serving."""
        if self._server is not None:
            self._server.close()


class _NoDoor:
    """Instead of a door, where prometheus_client is missing: one sentence of trouble."""

    refused = 0

    def __init__(self, why: str) -> None:
        self._why = why

    def open(self) -> str:
        """Say why not."""
        return self._why

    def show(self, families: Sequence[Any], now_ns: int) -> None:
        """Show nothing."""

    def close(self) -> None:
        """Close nothing."""


def _door_of(line: Line, context: Context) -> _Door | _NoDoor:
    address = address_of(line.metrics.listen) if line.metrics is not None else None
    if address is None:
        return _NoDoor("the station file has no address for metrics; add `metrics.listen`")
    try:
        return _Door(line.line, address, context)
    except ImportError as error:
        return _NoDoor(
            f"prometheus_client cannot be loaded ({error}); pip install 'inspectd[metrics]'"
        )


def _supervisor() -> Process:
    """Our parent: it has no row on the board."""
    pid = os.getppid()
    return Process(
        "supervisor", "", is_up=True, is_ready=True, restarts=0, counters=(), usage=usage_of(pid)
    )


def _slots_in_use(stations: Sequence[str], arenas: Mapping[int, Any]) -> dict[tuple[str, str], int]:
    counts = {}
    for index, arena in arenas.items():
        slots: _Slots = arena
        for role in SLOT_OWNERS:
            counts[stations[index], role.name.lower()] = len(slots.owned(role))
    return counts
