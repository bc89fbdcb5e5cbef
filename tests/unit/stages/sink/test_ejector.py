"""What the ejector's process hears from the sink."""

from pathlib import Path
from typing import Any

import pytest

from inspectd.config.load import load
from inspectd.frame import NO_SLOT, Kind, Reason, Role, Stamp, Ticket, Verdict
from inspectd.ports import Out
from inspectd.stages.sink.ejector import Ejector, doubt_ns_of

MS = 1_000_000
EXAMPLE = Path(__file__).parents[4] / "stations" / "example.yaml"
TICKET = Ticket(0, 7, slot=3, generation=9, detail=b'{"a": 1}').stamped(Stamp.FIRED, 100 * MS)


def test_copies_carry_no_slot_and_no_detail() -> None:
    """The slot is the record's; the ejector wants to know which part, when, and what."""
    ejector = Ejector(25 * MS, is_polled=False)
    (trigger,) = ejector.triggered(TICKET)
    (verdict,) = ejector.told(TICKET.decided(Verdict.OK, Reason.NONE, 200 * MS))
    assert (trigger.to, trigger.kind, verdict.kind) == (Role.REJECT, Kind.TRIGGER, Kind.VERDICT)
    for out in (trigger, verdict):
        assert (out.ticket.slot, out.ticket.detail) == (NO_SLOT, b"{}")
        assert (out.ticket.trigger_id, out.ticket.stamps[Stamp.FIRED]) == (7, 100 * MS)
    assert verdict.ticket.verdict is Verdict.OK


@pytest.mark.parametrize(("before_ms", "is_placed"), [(75, True), (74, False), (None, False)])
def test_a_trigger_has_a_moment_only_if_the_look_before_was_short_ago(
    before_ms: int | None, is_placed: bool
) -> None:
    """Otherwise the part may be anywhere in between."""
    ejector = Ejector(25 * MS, is_polled=True)
    if before_ms is not None:
        ejector.look(before_ms * MS)
    ejector.look(99 * MS)
    (out,) = ejector.triggered(TICKET)
    assert out.ticket.stamps[Stamp.FIRED] == (100 * MS if is_placed else 0)


def test_a_camera_that_triggers_by_itself_knows_the_moment() -> None:
    """However long the PLC has not been looked at."""
    (out,) = Ejector(25 * MS, is_polled=False).triggered(TICKET)
    assert out.ticket.stamps[Stamp.FIRED] == 100 * MS


def test_nobody_is_told_where_the_plc_moves_the_ejector() -> None:
    """No process would hear it."""
    ejector = Ejector(None, is_polled=True)
    assert (*ejector.triggered(TICKET), *ejector.told(TICKET)) == ()


def test_a_quarter_of_a_pulse_is_what_a_place_may_be_wrong() -> None:
    """100 ms of pulse in the example: 25 ms."""
    assert doubt_ns_of(load(EXAMPLE, must_exist=False).stations[0]) == 25 * MS


def test_the_sink_tells_of_every_part_twice(make_bench: Any) -> None:
    """Its trigger when it is opened, its verdict when it has left; the same id and moment."""
    bench = make_bench(ejector_doubt_ns=25 * MS)
    bench.run(1000)
    told = [out for out in bench.outs if out.kind is Kind.VERDICT]
    triggers = [out for out in bench.outs if out.kind is Kind.TRIGGER]
    assert len(told) > 10
    assert [_key(out) for out in told] == [_key(out) for out in triggers[: len(told)]]
    assert all(out.ticket.verdict is Verdict.OK for out in told)


def _key(out: Out) -> tuple[int, int]:
    return out.ticket.trigger_id, out.ticket.stamps[Stamp.FIRED]
