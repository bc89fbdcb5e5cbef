"""What is written of a part whose sink will never tell it any more: the line was killed.

Pure. Nobody asks the PLC again for such a part, and the PLC rejects what it hears nothing of. A
verdict that was about to be written when its sink was killed has very likely arrived: it is written
as told, and marked.
"""

import json
from dataclasses import replace

from inspectd.frame import Reason, Stamp, Ticket, Verdict
from inspectd.ports import Entry, Journal, Standing

__all__ = ["DOUBT", "abandoned", "closed_books"]

DOUBT = "killed while it was told: the PLC may not have it"
"""Under `doubt` in the detail."""


def abandoned(entry: Entry, now_ns: int) -> Ticket:
    """The event of a part that was held when its sink ended."""
    ticket = entry.ticket
    if entry.standing is Standing.LEAVING:
        return replace(ticket, detail=_marked(ticket.detail))
    lost = ticket if ticket.stamps[Stamp.DECIDED] else ticket.stamped(Stamp.DECIDED, now_ns)
    return replace(lost, verdict=Verdict.FAULT, reason=Reason.PROCESS_LOST, judged=ticket.verdict)


def closed_books(journal: Journal, now_ns: int) -> tuple[Entry, ...]:
    """Have a journal whose sink has ended say TOLD of every part; answer how far they were.

    Each is one change of the journal, so that this may be killed as well, and begun again.
    """
    held = journal.past().held
    for entry in held:
        journal.keep(Standing.TOLD, abandoned(entry, now_ns))
    return held


def _marked(detail: bytes) -> bytes:
    """The detail with the mark; one that is no JSON object is left as it is."""
    try:
        value = json.loads(detail)
    except ValueError:
        return detail
    return json.dumps({**value, "doubt": DOUBT}).encode() if isinstance(value, dict) else detail
