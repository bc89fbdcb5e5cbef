"""What the sink promises, in made-up time."""

from collections import Counter as Tally
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from inspectd.frame import Kind, Reason, Stamp, Ticket, Verdict
from inspectd.plc.program import Program
from inspectd.plc.registers import StatusBit
from inspectd.ports import Counter
from inspectd.stages.sink.scripted import Mishap

MS = 1_000_000
_PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
"""Without shrinking: a run of the bench is long, its seed is enough to find it again."""


def test_every_trigger_is_answered_once_in_order_with_its_verdict(make_bench: Any) -> None:
    """Promise 1: one trigger, one verdict, in trigger order."""
    bench = make_bench(program=Program(rate_hz=50, parts=20, window_ms=10_000))
    bench.run(1000)
    assert bench.plc.report()["counts"] == {"OK": 20}
    assert [event.trigger_id for event in bench.events] == list(range(1, 21))
    for key in ("missing", "duplicates", "out_of_order", "unknown"):
        assert bench.report(key) == []
    assert all(
        0 < e.stamps[Stamp.FIRED] < e.stamps[Stamp.SENT] < e.deadline_ns for e in bench.events
    )


def test_a_part_without_a_verdict_is_late_before_its_deadline(make_bench: Any) -> None:
    """Promise 2: silence rejects; the PLC hears LATE while it still can act."""
    bench = make_bench(
        program=Program(rate_hz=5, parts=3, window_ms=10_000), answer=lambda _ticket: None
    )
    bench.run(1000)
    assert bench.plc.report()["counts"] == {"LATE": 3}
    assert all(event.stamps[Stamp.SENT] <= event.deadline_ns for event in bench.events)
    assert {event.reason for event in bench.events} == {Reason.DEADLINE_PASSED}
    assert bench.counted[Counter.LATE] == 3


def test_three_late_parts_in_a_row_request_a_stop(make_bench: Any) -> None:
    """DOMAIN 3.3: N late in a row raise the stop request; one in time clears it."""
    verdicts: list[tuple[int, Verdict] | None] = [None] * 3 + [(MS, Verdict.OK)]
    bench = make_bench(
        program=Program(rate_hz=5, parts=4, window_ms=10_000),
        answer=lambda ticket: verdicts[ticket.trigger_id - 1],
    )
    bench.run(560)
    assert bench.plc.head.status & StatusBit.STOP_REQUEST
    bench.run(440)
    assert not bench.plc.head.status & StatusBit.STOP_REQUEST


def test_a_verdict_after_its_deadline_goes_to_the_record_with_its_slot(make_bench: Any) -> None:
    """A picture that was judged too late is not lost, and its slot is let go of by the record."""
    bench = make_bench(program=Program(rate_hz=5, parts=1, window_ms=10_000))
    bench.answer = lambda _ticket: None
    bench.run(50)
    late = Ticket(0, 1, slot=3, generation=7, verdict=Verdict.NG, reason=Reason.DEFECT)
    bench.send(
        Kind.VERDICT, late.stamped(Stamp.FIRED, bench.fired[0].stamps[Stamp.FIRED]), 100 * MS
    )
    bench.run(200)
    told, note = bench.events
    assert (told.verdict, told.judged, told.slot) == (Verdict.LATE, Verdict.NONE, -1)
    assert (note.verdict, note.judged, note.slot, note.generation) == (
        Verdict.LATE,
        Verdict.NG,
        3,
        7,
    )
    assert note.stamps[Stamp.FIRED] == told.stamps[Stamp.FIRED]


def test_triggers_that_were_not_seen_are_fault(make_bench: Any) -> None:
    """Promise 1 holds for triggers that the PLC counted while this process stood still."""
    bench = make_bench(program=Program(rate_hz=50, parts=9, window_ms=10_000))
    bench.run(10)
    bench.stall(75)
    bench.run(1000)
    reasons = Tally(event.reason for event in bench.events)
    assert reasons[Reason.TRIGGER_MISSED] == bench.counted[Counter.MISSED] == 3
    assert len(bench.fired) == 9 - 3
    assert bench.report("missing") == bench.report("out_of_order") == []
    assert bench.plc.head.missed == 3


def test_the_heartbeat_stops_with_the_line_not_with_the_process(make_bench: Any) -> None:
    """Promise 5: an unhealthy line lets Ready and heartbeat fall, and the PLC notices."""
    bench = make_bench()
    bench.run(600)
    assert bench.plc.head.status & StatusBit.READY
    bench.is_healthy = False
    bench.run(100)
    beat = bench.plc.head.heartbeat
    bench.run(1000)
    assert bench.plc.head.heartbeat == beat
    assert bench.plc.head.status & (StatusBit.READY | StatusBit.FAULT) == StatusBit.FAULT


def test_closing_leaves_the_reject_state(make_bench: Any) -> None:
    """Start and stop with outputs in the reject state."""
    bench = make_bench(program=Program(rate_hz=50, parts=3, window_ms=10_000))
    bench.run(500)
    bench.step.stop(bench.now_ns)
    assert bench.step.is_drained()
    bench.step.close()
    assert bench.plc.head.status == StatusBit(0)
    assert bench.plc.block.verdict is Verdict.NONE
    assert (bench.plc.block.sequence, bench.plc.block.trigger_id) == (0, 3)


def test_stopping_rejects_new_triggers_and_finishes_old_ones(make_bench: Any) -> None:
    """A stop takes nothing new; what was triggered before it gets its verdict."""
    bench = make_bench()
    bench.run(101)
    before = len(bench.fired)
    bench.step.stop(bench.now_ns)
    bench.run(300)
    assert bench.step.is_drained()
    assert len(bench.fired) == before
    assert bench.plc.report()["missing"] == []


def test_the_part_limit_ends_the_run_without_a_stop(make_bench: Any) -> None:
    """After N parts Ready falls and the step is drained."""
    bench = make_bench(part_limit=5)
    bench.run(90)
    assert not bench.step.is_drained()
    bench.run(500)
    assert bench.step.is_drained()
    assert len(bench.events) >= 5
    assert not bench.plc.head.status & StatusBit.READY
    assert bench.plc.report()["missing"] == []


def test_a_lost_process_rejects_its_part_at_once(make_bench: Any) -> None:
    """LOST from the supervisor decides FAULT, without waiting for the deadline."""
    bench = make_bench(
        program=Program(rate_hz=5, parts=1, window_ms=10_000), answer=lambda _ticket: None
    )
    bench.run(30)
    bench.send(Kind.LOST, Ticket(0, 1))
    bench.run(20)
    assert [(e.verdict, e.reason) for e in bench.events] == [(Verdict.FAULT, Reason.PROCESS_LOST)]


def test_a_part_of_a_plc_that_is_away_is_told_as_late_when_it_is_back(make_bench: Any) -> None:
    """Not lost and not OK: in its turn, once, with what was judged; the PLC is tried again."""
    bench = make_bench(program=Program(rate_hz=5, window_ms=10_000))
    bench.run(101)
    bench.answer = lambda _ticket: (40 * MS, Verdict.OK)
    bench.run(110)
    bench.plc.is_reachable = False
    requests = bench.plc.requests
    bench.run(400)
    assert bench.step.trouble()
    assert bench.plc.requests - requests < 400 / 50 + 3
    assert len(bench.events) == 1
    bench.plc.is_reachable = True
    bench.run(300)
    assert not bench.step.trouble()
    late = bench.events[1]
    assert (late.verdict, late.judged) == (Verdict.LATE, Verdict.OK)
    assert late.stamps[Stamp.SENT] > late.deadline_ns
    assert bench.plc.report()["missing"] == bench.plc.report()["out_of_order"] == []


def test_a_part_that_cannot_wait_any_longer_is_given_up_and_counted(make_bench: Any) -> None:
    """The wait for a PLC is bounded; the record says that it was never told."""
    bench = make_bench(program=Program(rate_hz=5, parts=2, window_ms=10_000))
    bench.run(215)
    bench.plc.is_reachable = False
    bench.run(2500)
    last = bench.events[-1]
    assert (last.verdict, last.stamps[Stamp.SENT]) == (Verdict.LATE, 0)
    assert bench.counted[Counter.UNTOLD] == 1
    bench.plc.is_reachable = True
    bench.run(300)
    assert bench.plc.head.untold == 1


@pytest.mark.parametrize("mishap", [Mishap.UNCONFIRMED, Mishap.DROPPED])
def test_a_verdict_in_doubt_is_read_back_and_told_once(make_bench: Any, mishap: Mishap) -> None:
    """No blind repetition: whether the write was carried out or not, the PLC takes one verdict."""
    bench = make_bench(program=Program(rate_hz=10, parts=1, window_ms=10_000))
    bench.run(10)
    verdict = bench.fired[0].decided(Verdict.OK, Reason.NONE, bench.now_ns)
    bench.step.feed(Kind.VERDICT, verdict, bench.now_ns)
    bench.plc.verdict_mishaps.append(mishap)
    assert not bench.step.wake(bench.now_ns)
    assert not bench.plc.is_connected
    assert bench.counted[Counter.PLC_FAULTS] == 1
    bench.answer = lambda _ticket: None
    bench.run(200)
    assert [(e.verdict, e.stamps[Stamp.SENT] > 0) for e in bench.events][:1] == [(Verdict.OK, True)]
    assert bench.plc.report()["counts"] == {"OK": 1}
    assert bench.report("duplicates") == []


def test_an_ok_in_doubt_past_its_time_is_told_as_late(make_bench: Any) -> None:
    """Written again only if the deadline still allows; otherwise LATE, with what was judged."""
    bench = make_bench(program=Program(rate_hz=10, parts=1, window_ms=10_000))
    bench.answer = lambda _ticket: None
    bench.run(70)
    verdict = bench.fired[0].decided(Verdict.OK, Reason.NONE, bench.now_ns)
    bench.step.feed(Kind.VERDICT, verdict, bench.now_ns)
    bench.plc.verdict_mishaps.append(Mishap.DROPPED)
    bench.step.wake(bench.now_ns)
    bench.plc.is_reachable = False
    bench.run(40)
    bench.plc.is_reachable = True
    bench.run(60)
    assert bench.plc.report()["counts"] == {"LATE": 1}
    assert [(e.verdict, e.judged) for e in bench.events][:1] == [(Verdict.LATE, Verdict.OK)]


@pytest.mark.slow
@settings(
    max_examples=40,
    deadline=None,
    phases=_PHASES,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_whatever_happens_no_part_is_told_twice_out_of_turn_or_ok_too_late(
    make_bench: Any, data: st.DataObject
) -> None:
    """Promises 1 and 2 under random delays, silence, lost requests, restarts and wrapping ids."""
    delays = data.draw(st.lists(st.none() | st.integers(0, 150), min_size=40, max_size=40))
    verdicts = data.draw(
        st.lists(st.sampled_from([Verdict.OK, Verdict.NG]), min_size=40, max_size=40)
    )
    first = data.draw(st.sampled_from([0, 7, 2**32 - 10]))
    bench = make_bench(program=Program(rate_hz=40, parts=30, window_ms=10_000, first_counter=first))

    def answer(ticket: Ticket) -> tuple[int, Verdict] | None:
        delay = delays[ticket.trigger_id % 40]
        return None if delay is None else (delay * MS, verdicts[ticket.trigger_id % 40])

    bench.answer = answer
    for _ in range(data.draw(st.integers(0, 12))):
        bench.run(data.draw(st.integers(1, 80)))
        what = data.draw(st.sampled_from(["mishap", "restart", "away", "stall"]))
        if what == "mishap":
            queue = data.draw(st.sampled_from(["mishaps", "verdict_mishaps"]))
            getattr(bench.plc, queue).append(data.draw(st.sampled_from(list(Mishap)[1:])))
        elif what == "restart":
            bench.restart()
        elif what == "stall":
            bench.stall(data.draw(st.integers(5, 150)))
        else:
            bench.plc.is_reachable = not bench.plc.is_reachable
    bench.plc.is_reachable = True
    bench.run(3000)
    told = [e for e in bench.events if e.stamps[Stamp.SENT]]
    assert bench.report("out_of_order") == []
    oks = [e for e in told if e.verdict is Verdict.OK]
    assert all(e.stamps[Stamp.SENT] < e.deadline_ns for e in oks)
    answers = [e for e in bench.events if e.verdict is not Verdict.NONE]  # NONE: a stray's note
    firsts = list(dict.fromkeys(e.trigger_id for e in answers))
    assert firsts == sorted(firsts, key=lambda key: (key - first) % 2**32)
    assert {(first + n) % 2**32 for n in range(1, 31)} == set(firsts)
    assert not bench.step._parts.ledger


def test_a_restart_costs_no_part_that_was_open(make_bench: Any) -> None:
    """A killed sink's parts are open again with their own times: verdicts under way still count."""
    bench = make_bench(program=Program(rate_hz=50, parts=30, window_ms=10_000))
    bench.answer = lambda _ticket: (60 * MS, Verdict.OK)
    bench.run(300)
    assert len(bench.step._parts.ledger) > 1
    bench.restart()
    bench.run(1500)
    for key in ("missing", "duplicates", "out_of_order", "unknown"):
        assert bench.report(key) == []
    assert bench.plc.report()["counts"] == {"OK": 30}
    assert [event.trigger_id for event in bench.events] == list(range(1, 31))


def test_triggers_while_nobody_is_there_are_lost(make_bench: Any) -> None:
    """Their moment for a picture is over; the parts open before are not touched by that."""
    bench = make_bench(program=Program(rate_hz=50, parts=30, window_ms=10_000))
    bench.answer = lambda _ticket: (60 * MS, Verdict.OK)
    bench.run(300)
    bench.stall(75)
    bench.restart()
    bench.run(1500)
    for key in ("missing", "duplicates", "out_of_order", "unknown"):
        assert bench.report(key) == []
    lost = [event.trigger_id for event in bench.events if event.reason is Reason.PROCESS_LOST]
    assert len(lost) in {3, 4}
    assert lost == list(range(lost[0], lost[0] + len(lost)))
    assert bench.plc.report()["counts"]["FAULT"] == len(lost)


def test_the_part_limit_counts_on_over_a_restart(make_bench: Any) -> None:
    """A killed sink does not make the run endless: what was told before it counts."""
    bench = make_bench(
        part_limit=10, program=Program(rate_hz=50, parts=10, window_ms=10_000, first_counter=500)
    )
    bench.run(90)
    assert bench.events
    bench.restart()
    bench.run(400)
    assert bench.step.is_drained()
    assert bench.report("missing") == []
    assert bench.plc.head.start_counter == 500


def test_a_timer_triggered_part_is_told_too(make_bench: Any) -> None:
    """TRIGGER messages of a free-running camera open parts; early verdicts wait for them."""
    bench = make_bench(is_plc_triggered=False)
    bench.run(20)
    for key in (1, 2, 3):
        ticket = Ticket(0, key, deadline_ns=bench.now_ns + 100 * MS).stamped(
            Stamp.FIRED, bench.now_ns
        )
        bench.send(Kind.VERDICT, ticket.decided(Verdict.OK, Reason.NONE, bench.now_ns), 1 * MS)
        bench.send(Kind.TRIGGER, ticket, 2 * MS)
    bench.run(100)
    assert [(e.trigger_id, e.verdict) for e in bench.events] == [
        (key, Verdict.OK) for key in (1, 2, 3)
    ]
    assert bench.plc.block.trigger_id == 3


def test_a_plc_that_acknowledges_nothing_is_an_overrun_not_a_standstill(make_bench: Any) -> None:
    """Verdicts go on after ack_timeout, and the overrun is counted and shown."""
    bench = make_bench(is_plc_triggered=False)
    bench.run(20)
    for key in (1, 2):
        bench.send(Kind.TRIGGER, Ticket(0, key))
        bench.send(Kind.VERDICT, Ticket(0, key, verdict=Verdict.NG, reason=Reason.DEFECT), MS)
    bench.run(300, scan_ms=1000)
    assert [event.trigger_id for event in bench.events] == [1, 2]
    assert bench.counted[Counter.OVERRUNS] >= 1
    assert bench.plc.head.status & StatusBit.OVERRUN
