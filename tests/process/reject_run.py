"""Runs a station file with a judge of the tests: `python -m tests.process.reject_run FILE PARTS`.

The judge says by the trigger id what a part is, so that every verdict occurs: see `verdict_of`.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace

from inspectd.cli.check import load_checked
from inspectd.config.schema import Line
from inspectd.frame import NO_SLOT, Kind, Reason, Role, Ticket, Verdict
from inspectd.host.log import make_log
from inspectd.host.supervisor import Plan, Supervisor
from inspectd.ports import Context, Out, Step

__all__ = ["build_judge", "verdict_of"]

_REASONS = {
    Verdict.OK: Reason.NONE,
    Verdict.NG: Reason.DEFECT,
    Verdict.UNFIT: Reason.BLURRED,
    Verdict.FAULT: Reason.ENGINE_ERROR,
    Verdict.LATE: Reason.NONE,
}
_EVERY = (
    Verdict.OK,
    Verdict.NG,
    Verdict.OK,
    Verdict.OK,
    Verdict.UNFIT,
    Verdict.OK,
    Verdict.LATE,
    Verdict.OK,
    Verdict.FAULT,
)


def verdict_of(trigger_id: int) -> Verdict:
    """What the judge says of a part; LATE: an OK that comes after the deadline."""
    return _EVERY[trigger_id % len(_EVERY)]


class _Judge:
    """Decides by the trigger id."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._late: list[Ticket] = []

    def feed(self, kind: Kind, ticket: Ticket, now_ns: int) -> Sequence[Out]:
        arena = self._context.arenas[ticket.station]
        if not arena.hand_over(ticket.slot, ticket.generation, Role.JUDGE, Role.RECORD):
            return ()
        verdict = verdict_of(ticket.trigger_id)
        if verdict is Verdict.LATE:
            self._late.append(ticket)
            return ()
        return (Out(Role.SINK, Kind.VERDICT, ticket.decided(verdict, _REASONS[verdict], now_ns)),)

    def wake_at_ns(self) -> int | None:
        return self._late[0].deadline_ns + 50_000_000 if self._late else None

    def wake(self, now_ns: int) -> Sequence[Out]:
        ticket = self._late.pop(0)
        arena = self._context.arenas[ticket.station]
        arena.release(ticket.slot, ticket.generation, Role.RECORD)
        decided = replace(ticket, slot=NO_SLOT).decided(Verdict.OK, Reason.NONE, now_ns)
        return (Out(Role.SINK, Kind.VERDICT, decided),)

    def stop(self, now_ns: int) -> Sequence[Out]:
        return ()

    def is_drained(self) -> bool:
        return not self._late

    def trouble(self) -> str:
        return ""

    def close(self) -> None:
        return


def build_judge(line: Line, station: int, context: Context) -> Step:
    """Make the judge."""
    return _Judge(context)


if __name__ == "__main__":
    plan = Plan(
        part_limit=int(sys.argv[2]), steps={"judge": "tests.process.reject_run:build_judge"}
    )
    log = make_log("supervisor", plan.run_id, "info")
    sys.exit(Supervisor(load_checked(sys.argv[1]), plan, log).run().code)
