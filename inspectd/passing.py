"""What stages that let parts pass have in common: nothing held, one way to let go of a slot."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from inspectd.frame import NO_SLOT, Role, Stamp, Ticket, Verdict
from inspectd.ports import Arena, Out

__all__ = ["HoldsNothing", "let_go"]


class HoldsNothing:
    """The idle half of a step that answers each message at once (`inspectd.ports.Step`)."""

    def wake_at_ns(self) -> int | None:
        """Nothing is ever waited for."""
        return None

    def wake(self, now_ns: int) -> Sequence[Out]:  # noqa: ARG002 - of the protocol
        """Nothing is ever due."""
        return ()

    def stop(self, now_ns: int) -> Sequence[Out]:  # noqa: ARG002 - of the protocol
        """Nothing is held."""
        return ()

    def is_drained(self) -> bool:
        """Nothing is ever held."""
        return True

    def trouble(self) -> str:
        """It needs nobody."""
        return ""

    def close(self) -> None:
        """Nothing is open."""


def let_go(arena: Arena, ticket: Ticket, owner: Role, archive: AbstractSet[str]) -> Ticket | None:
    """Part with the slot of a decided part: to the record when its picture is kept, else free.

    Args:
        arena: Of the part's station.
        ticket: With its verdict.
        owner: Who lets go.
        archive: Names of the verdicts whose pictures are kept. A part that was decided after its
            deadline is kept as LATE too, whatever was decided: the sink will call it so.

    Returns:
        The ticket to send on, without its slot when that is free; None when the slot was no longer
        the owner's, so that nothing that was read in it counts.
    """
    is_late = 0 < ticket.deadline_ns < ticket.stamps[Stamp.DECIDED]
    names = {ticket.verdict.name, Verdict.LATE.name if is_late else ""}
    if names & archive:
        is_ours = arena.hand_over(ticket.slot, ticket.generation, owner, Role.RECORD)
        return ticket if is_ours else None
    is_ours = arena.release(ticket.slot, ticket.generation, owner)
    return replace(ticket, slot=NO_SLOT) if is_ours else None
