"""Parts of a line that was killed: what is written of them."""

import json
from typing import Any

from inspectd.bus.journal import MemfdJournal
from inspectd.frame import Reason, Stamp, Verdict
from inspectd.ports import Entry, Origin, Standing
from inspectd.record.abandoned import DOUBT, abandoned
from inspectd.record.step import RecordStep

ORIGIN = Origin("run-1", "line-1", "cam-1", "bottles", "0123")
START_NS = 10**12


def test_a_part_that_was_not_told_is_a_fault(desk: Any) -> None:
    """Whatever the stages had said, the PLC heard nothing: it rejected the part."""
    ticket = desk.ticket(1, verdict=Verdict.OK, reason=Reason.NONE).stamped(Stamp.SENT, 0)
    told = abandoned(Entry(1, Standing.SETTLED, ticket, 0), START_NS)
    assert (told.verdict, told.reason, told.judged) == (
        Verdict.FAULT,
        Reason.PROCESS_LOST,
        Verdict.OK,
    )
    assert told.stamps == ticket.stamps


def test_a_part_without_a_verdict_is_decided_now(desk: Any) -> None:
    """The record knows a part by a moment."""
    ticket = desk.ticket(1, verdict=Verdict.NONE, reason=Reason.NONE)
    ticket = ticket.stamped(Stamp.DECIDED, 0).stamped(Stamp.SENT, 0)
    told = abandoned(Entry(1, Standing.OPEN, ticket, 0), START_NS)
    assert (told.verdict, told.judged) == (Verdict.FAULT, Verdict.NONE)
    assert (told.stamps[Stamp.DECIDED], told.stamps[Stamp.SENT]) == (START_NS, 0)


def test_a_verdict_on_its_way_is_written_as_told_and_marked(desk: Any) -> None:
    """It has very likely arrived; the mark says why one may doubt it."""
    ticket = desk.ticket(1)
    told = abandoned(Entry(1, Standing.LEAVING, ticket, 7), START_NS)
    assert (told.verdict, told.stamps) == (ticket.verdict, ticket.stamps)
    assert json.loads(told.detail) == {**json.loads(ticket.detail), "doubt": DOUBT}
    odd = desk.ticket(1, detail=b"[no object")
    assert abandoned(Entry(1, Standing.LEAVING, odd, 7), START_NS) == odd


def test_the_journal_of_a_run_that_was_killed_whole_is_recorded(desk: Any) -> None:
    """Under its own run, line, station and recipe; its part that was open is FAULT."""
    former = MemfdJournal.create(Origin("run-0", "old line", "cam-9", "caps", "beef"), entries=16)
    former.keep(Standing.OPEN, desk.ticket(2, station=5, slot=3))
    former.keep(Standing.TOLD, desk.ticket(1, station=5, slot=2))
    ours = MemfdJournal.create(ORIGIN, entries=16)
    desk.journals, desk.extra = {0: ours}, {"former": [(former.origin, former)]}
    step = RecordStep(desk.line(), desk.context, desk.utc)
    for turn in range(10):
        step.wake(START_NS + turn * 30_000_000)
    query = "SELECT run_id, line, station, model, recipe_digest, trigger_id, verdict FROM events"
    known = ("run-0", "old line", "cam-9", "caps", "beef")
    assert desk.asked(query + " ORDER BY sequence") == [(*known, 1, "NG"), (*known, 2, "FAULT")]
    assert former.unrecorded() == ()
    step.close()
    for journal in (former, ours):
        journal.close()


def test_the_books_are_closed_when_the_sinks_have_ended(desk: Any) -> None:
    """After what was told, once, and never while a sink may tell the part itself."""
    journal = MemfdJournal.create(ORIGIN, entries=16)
    desk.journals = {0: journal}
    is_gone = False
    desk.extra = {"are_sinks_gone": lambda: is_gone}
    step = RecordStep(desk.line(), desk.context, desk.utc)
    journal.keep(Standing.OPEN, desk.ticket(2))
    journal.keep(Standing.TOLD, desk.ticket(1))
    step.stop(START_NS)
    now_ns = START_NS
    for is_gone in (False, True, True):
        for _ in range(10):
            now_ns += 10_000_000
            step.wake(now_ns)
        known = desk.asked("SELECT trigger_id, verdict FROM events ORDER BY sequence")
        assert known == [(1, "NG"), *([(2, "FAULT")] if is_gone else [])]
    assert step.is_drained()
    step.close()
    journal.close()
