"""What a ticket says in the end: the wording of answers and of notes for the record.

Pure functions from tickets to tickets; when each applies is the ledger's business.
"""

from dataclasses import replace

from inspectd.frame import Reason, Stamp, Ticket, Verdict

__all__ = ["is_same_trigger", "joined", "late", "note", "stray"]


def is_same_trigger(ours: Ticket, theirs: Ticket) -> bool:
    """Ids begin anew when a PLC restarts; the moment of the trigger does not come twice."""
    fired_ns, their_fired_ns = ours.stamps[Stamp.FIRED], theirs.stamps[Stamp.FIRED]
    return not (fired_ns and their_fired_ns) or fired_ns == their_fired_ns


def joined(part: Ticket, verdict: Ticket) -> Ticket:
    """The verdict's ticket with the part's own deadline, trigger time and recipe."""
    fired_ns = part.stamps[Stamp.FIRED] or verdict.stamps[Stamp.FIRED]
    return replace(
        verdict.stamped(Stamp.FIRED, fired_ns),
        part_id=verdict.part_id or part.part_id,
        deadline_ns=part.deadline_ns,
        recipe=part.recipe,
    )


def late(ticket: Ticket, now_ns: int) -> Ticket:
    """The ticket as LATE; what had been decided is kept in `judged`."""
    if ticket.verdict in {Verdict.NONE, Verdict.LATE}:
        return ticket.decided(Verdict.LATE, Reason.DEADLINE_PASSED, now_ns)
    return replace(
        ticket, verdict=Verdict.LATE, reason=Reason.DEADLINE_PASSED, judged=ticket.verdict
    )


def note(told: Ticket, ticket: Ticket) -> Ticket:
    """A verdict that came too late, as an addition to what was told: its slot, times, findings."""
    stamps = [first or second for first, second in zip(told.stamps, ticket.stamps, strict=True)]
    stamps[Stamp.FIRED] = told.stamps[Stamp.FIRED]  # the record knows a part by it
    return replace(
        ticket,
        part_id=ticket.part_id or told.part_id,
        deadline_ns=told.deadline_ns,
        verdict=told.verdict,
        reason=told.reason,
        judged=ticket.verdict,
        stamps=tuple(stamps),
    )


def stray(ticket: Ticket) -> Ticket:
    """A verdict of which the PLC was never told: no verdict, only what the stages said."""
    return replace(ticket, verdict=Verdict.NONE, judged=ticket.verdict)
