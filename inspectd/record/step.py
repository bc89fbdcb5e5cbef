"""The door of the record: every verdict that left becomes an event, rejected parts a picture.

A process of its own, behind the sink: nothing here can delay a verdict. `feed` only queues;
`wake` takes one bite (encode a picture and give its slot back, commit a batch, write a file, delete
old ones) and comes back for the next. An event is committed before its picture is written, so
that there is never a picture that the index does not know. Whoever is short of anything gives up
pictures first and events last. Events whose message was lost with a process come from the sinks'
journals (`inspectd.record.receipts`): all at the start and at the end, otherwise now and then.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path

from inspectd.config.schema import Line
from inspectd.frame import NO_SLOT, Kind, Ticket
from inspectd.ports import Context, Counter, Journal, Origin, Out, Step
from inspectd.record.archive import Archive
from inspectd.record.clock import SteadyClock
from inspectd.record.database import Database, Run, Written
from inspectd.record.event import as_json, event_of, utc_text
from inspectd.record.pictures import Pictures
from inspectd.record.queue import EventQueue
from inspectd.record.receipts import Receipt, Receipts
from inspectd.record.retention import Retention
from inspectd.record.unsent import Unsent

__all__ = ["RecordStep", "build"]

CHECK_EVERY_NS = 60_000_000_000
"""Between two looks for pictures that are too old."""
HURRY_EVERY_NS = 1_000_000_000
"""The same while space is short."""
LOOK_EVERY_NS = 500_000_000
"""Between two looks into the journals; two of them are the patience for a message."""
LOOK_AGAIN_NS = 20_000_000
"""The same while stopping."""
_NEVER_NS = 1 << 62
LAST_TRIES = 3
"""Refused commits while stopping, until the events are given up."""


def build(line: Line, station: int, context: Context) -> Step:  # noqa: ARG001 - one for all stations
    """Make the record of a line.

    Raises:
        UsageFault: The folder of the record cannot be written.
    """
    return RecordStep(line, context, _utc_now)


class RecordStep:
    """Keeps what a plant needs to know of every part."""

    def __init__(self, line: Line, context: Context, utc: Callable[[], datetime]) -> None:
        """Open the database, note the run.

        Args:
            line: The station file.
            context: With the arenas of all stations.
            utc: Wall clock, with its zone.
        """
        folder = Path(line.record.folder)
        self._line = line
        self._context = context
        self._utc = utc
        self._database = Database(folder, utc, context.log)
        self._archive = Archive(folder)
        lost = partial(context.count, Counter.FORWARD_LOST)
        self._retention = Retention(line.record, self._archive, Unsent(line, context.log, lost))
        self._queue = EventQueue()
        self._pictures = Pictures(line, self._archive, self._queue, context, self._note_full)
        former = dict(enumerate(context.extra.get("former", ()), start=1))
        self._origins: dict[int, Origin] = {-i: origin for i, (origin, _) in former.items()}
        """Of the journals of a run that was killed whole: they stand at negative numbers."""
        former_journals: dict[int, Journal] = {-i: journal for i, (_, journal) in former.items()}
        self._receipts = Receipts({**context.journals, **former_journals})
        self._steady = SteadyClock()
        self._look_at_ns = 0 if context.journals else _NEVER_NS
        """Next look into the journals; 0: there was none, and it comes before everything."""
        self._check_at_ns = 0
        self._trouble = ""
        self._is_stopping = False
        self._has_closed_books = False
        """Parts that their sinks left untold are queued as well."""
        self._refusals = 0
        started = utc_text(utc())
        run = Run(context.run_id, line.line, line.file, line.digest, started)
        self._database.begin_run(run)

    def feed(self, kind: Kind, ticket: Ticket, now_ns: int) -> Sequence[Out]:
        """Queue one part."""
        if kind is not Kind.EVENT:
            return ()
        if self._look_at_ns == 0:
            self._look(now_ns)
        self._take(ticket, self._receipts.of(ticket), now_ns)
        return ()

    def _take(self, ticket: Ticket, receipt: Receipt | None, now_ns: int) -> None:
        """Queue one part, from a message or from a journal."""
        moment = self._utc()
        origin = None if receipt is None else self._origins.get(receipt.station)
        if origin is not None:
            ticket = replace(ticket, station=0, slot=NO_SLOT)  # its arena is no more
        path = self._pictures.planned_path(ticket, moment)
        event = event_of(ticket, self._line, self._context.run_id, moment, path)
        if origin is not None:
            event = replace(event, **origin._asdict())
        before = self._queue.lost
        self._queue.push(event, now_ns)
        self._receipts.queued(receipt)
        lost = self._queue.lost - before
        self._receipts.given_up(lost)
        self._context.count(Counter.EVENTS_LOST, lost)
        if path is not None:
            self._pictures.wait(ticket, path, as_json(event))

    def wake_at_ns(self) -> int | None:
        """At once while there are pictures; otherwise when a commit or a look round is due."""
        if self._pictures.are_waiting or self._pictures.is_next_settled():
            return 0
        due_ns = self._queue.due_at_ns()
        others_ns = min(self._look_at_ns, self._check_at_ns)
        return others_ns if due_ns is None else min(due_ns, others_ns)

    def wake(self, now_ns: int) -> Sequence[Out]:
        """Take one bite: slots first, then events, then files, then the old ones.

        At the end events go first: nobody needs the slots any more, and time may be short.
        """
        due_ns = self._queue.due_at_ns()
        is_due = due_ns is not None and due_ns <= now_ns
        if self._look_at_ns <= now_ns:
            self._look(now_ns)
        elif self._pictures.are_waiting and not (is_due and self._is_stopping):
            self._pictures.encode_next(now_ns)
        elif is_due:
            self._commit(now_ns)
        elif self._pictures.is_next_settled():
            self._pictures.write_next(now_ns)
        elif self._check_at_ns <= now_ns:
            self._check(now_ns)
        return ()

    def stop(self, now_ns: int) -> Sequence[Out]:
        """Go on until everything told is written: the sinks have ended before."""
        self._is_stopping = True
        if self._context.journals:
            self._look_at_ns = now_ns
        self._queue.hasten()
        return ()

    def is_drained(self) -> bool:
        """Nothing waits, or the disk has refused it to the end."""
        if self._refusals >= LAST_TRIES and not self._pictures.are_waiting:
            return True
        return not (self._pictures or self._queue) and self._receipts.has_all()

    def trouble(self) -> str:
        """What a person should see to."""
        if self._trouble:
            return f"{self._trouble}; {len(self._queue)} events wait in memory"
        if not self._pictures.has_space:
            free = self._line.record.min_free_mb
            return f"no pictures are kept: less than record.min_free_mb = {free} is left"
        return ""

    def close(self) -> None:
        """Give slots back, close the database; say what could not be kept."""
        self._pictures.close()
        if self._queue:
            self._context.log("error", "record_events_lost", events=len(self._queue))
            self._context.count(Counter.EVENTS_LOST, len(self._queue))
        self._database.close()

    # ---------------------------------------------------------------- events

    def _look(self, now_ns: int) -> None:
        """Take from the journals what did not come by message; not while the disk refuses."""
        at_once = self._look_at_ns == 0 or self._is_stopping
        if self._look_at_ns == 0:
            self._receipts.close_books(now_ns, self._origins)
        self._look_at_ns = now_ns + (LOOK_AGAIN_NS if self._is_stopping else LOOK_EVERY_NS)
        if self._trouble:
            return
        if self._is_stopping:
            self._close_books(now_ns)
        for receipt, ticket in self._receipts.missing(at_once=at_once):
            self._take(ticket, receipt, now_ns)
        if self._is_stopping:
            self._queue.hasten()

    def _close_books(self, now_ns: int) -> None:
        """Have told what the sinks left untold, once, and not while one of them lives."""
        are_sinks_gone: Callable[[], bool] = self._context.extra.get("are_sinks_gone", lambda: True)
        if self._has_closed_books or not are_sinks_gone():
            return
        self._has_closed_books = True
        for entry in self._receipts.close_books(now_ns, self._context.journals):
            self._context.log(
                "warning",
                "part_untold",
                trigger_id=entry.ticket.trigger_id,
                was=entry.standing.name,
            )

    def _commit(self, now_ns: int) -> None:
        """Write the next batch, or keep it and wait."""
        events, forgotten = self._queue.batch()
        if self._database.write(events, forgotten) is Written.RETRY:
            self._keep(now_ns)
            return
        self._receipts.committed(len(events))
        self._queue.committed(len(events), len(forgotten), now_ns)
        self._context.count(Counter.EVENTS, len(events))
        self._context.count(Counter.FRAMES, len(events))
        self._refusals = 0
        if self._trouble:
            self._context.log("info", "record_writes_again")
            self._trouble = ""
        if self._is_stopping:
            self._queue.hasten()

    def _keep(self, now_ns: int) -> None:
        """The disk refuses: pictures are let go, events are kept."""
        self._queue.refused(now_ns)
        self._refusals += self._is_stopping
        self._pictures.let_go(now_ns)
        self._note_full(now_ns)
        if not self._trouble:
            why = self._database.refusal
            self._trouble = f"the database cannot be written ({why})"
            self._context.log("error", "record_write_failed", error=why, events=len(self._queue))

    # ---------------------------------------------------------------- space

    def _check(self, now_ns: int) -> None:
        """Delete a few old pictures and events; see how much room there is."""
        try:
            already = self._queue.forgotten
            now = self._steady.look(self._utc(), now_ns)
            gone, has_more = self._retention.bite(self._database, now, already)
            has_space = self._archive.free_mb() >= self._line.record.min_free_mb
        except OSError as error:
            self._context.log("warning", "archive_check_failed", error=str(error))
            gone, has_more, has_space = [], False, False
        self._queue.forget(gone, now_ns)
        self._pictures.forget(gone)
        self._note_space(now_ns, has_space=has_space)
        if has_more:
            self._check_at_ns = now_ns

    def _note_full(self, now_ns: int) -> None:
        self._note_space(now_ns, has_space=False)

    def _note_space(self, now_ns: int, *, has_space: bool) -> None:
        had_space, self._pictures.has_space = self._pictures.has_space, has_space
        if had_space and not has_space:
            self._context.log("warning", "archive_paused")
        if has_space and not had_space:
            self._context.log("info", "archive_resumed")
        self._check_at_ns = now_ns + (CHECK_EVERY_NS if has_space else HURRY_EVERY_NS)


def _utc_now() -> datetime:
    return datetime.now(timezone.utc)
