"""A PLC that is away, stands still, begins anew, or counts otherwise."""

from typing import Any

import pytest

from inspectd.frame import Kind, Reason, Stamp, Ticket, Verdict
from inspectd.plc.codes import Flag, StatusBit
from inspectd.plc.program import Program
from inspectd.plc.registers import Head, PlcPart
from inspectd.ports import Counter
from inspectd.stages.sink.ids import Ids
from inspectd.stages.sink.paper import PaperJournal

MS = 1_000_000


def _program(**other: Any) -> Program:
    return Program(**{"rate_hz": 20, "window_ms": 10_000, **other})


def _clean(bench: Any) -> bool:
    keys = ("missing", "duplicates", "out_of_order", "unknown")
    return all(bench.report(key) == [] for key in keys)


def test_parts_that_wait_for_a_plc_are_told_as_late_in_their_order(make_bench: Any) -> None:
    """One each, oldest first, although their verdicts came in time."""
    bench = make_bench(
        program=_program(rate_hz=40, parts=8), answer=lambda _: (60 * MS, Verdict.OK)
    )
    bench.run(150)
    open_ones = len(bench.fired) - len(bench.events)
    assert open_ones >= 2
    bench.plc.is_reachable = False
    bench.run(500)
    assert len(bench.events) == len(bench.fired) - open_ones
    bench.plc.is_reachable = True
    bench.run(800)
    assert _clean(bench)
    assert [e.trigger_id for e in bench.events] == list(range(1, 9))
    late = [e for e in bench.events if e.judged is Verdict.OK]
    assert [e.verdict for e in late] == [Verdict.LATE] * open_ones


def test_the_picture_of_a_part_that_waits_goes_ahead_to_the_record(make_bench: Any) -> None:
    """Its slot is needed for the next part; the verdict follows, and completes the same event."""
    bench = make_bench(program=_program(rate_hz=4, parts=1), answer=lambda _: None)
    bench.run(20)
    fired = bench.fired[0]
    bench.plc.is_reachable = False
    verdict = Ticket(0, 1, slot=3, generation=7, deadline_ns=fired.deadline_ns)
    verdict = verdict.stamped(Stamp.FIRED, fired.stamps[Stamp.FIRED])
    bench.send(Kind.VERDICT, verdict.decided(Verdict.NG, Reason.DEFECT, bench.now_ns))
    bench.run(300)
    (ahead,) = bench.events
    assert (ahead.verdict, ahead.judged, ahead.slot) == (Verdict.NONE, Verdict.NG, 3)
    bench.plc.is_reachable = True
    bench.run(300)
    _, told = bench.events
    assert (told.verdict, told.judged, told.slot) == (Verdict.LATE, Verdict.NG, -1)
    assert told.stamps[Stamp.FIRED] == ahead.stamps[Stamp.FIRED]


def test_a_stop_waits_for_no_plc(make_bench: Any) -> None:
    """What is past its time goes to the record, and the sink is drained."""
    bench = make_bench(program=_program(rate_hz=10, parts=1), answer=lambda _: None)
    bench.run(20)
    bench.plc.is_reachable = False
    bench.run(300)
    assert not bench.events
    bench.step.stop(bench.now_ns)
    bench.run(100)
    assert bench.step.is_drained()
    assert [(e.verdict, e.stamps[Stamp.SENT]) for e in bench.events] == [(Verdict.LATE, 0)]


def test_a_stop_that_would_take_too_long_tells_the_record_instead(make_bench: Any) -> None:
    """A PLC that takes half a minute for what waits cannot hold the process up."""
    bench = make_bench(is_plc_triggered=False, program=_program())
    bench.run(100)
    bench.is_running = False
    for key in range(1, 201):
        bench.send(Kind.TRIGGER, Ticket(0, key))
    bench.run(20)
    bench.step.stop(bench.now_ns)
    bench.run(3500)
    assert bench.step.is_drained()
    assert [e.trigger_id for e in bench.events] == list(range(1, 201))


def test_a_silent_plc_is_noticed_and_comes_back(make_bench: Any) -> None:
    """Its server answers, its program stands: trouble, FAULT, not Ready, one count, one line."""
    bench = make_bench(program=_program())
    bench.run(300)
    bench.is_running = False
    bench.run(1500)
    assert "heartbeat" in bench.step.trouble()
    assert bench.plc.head.status & (StatusBit.READY | StatusBit.FAULT) == StatusBit.FAULT
    assert bench.counted[Counter.PLC_SILENT] == bench.logged.count("plc_silent") == 1
    bench.is_running = True
    bench.run(500)
    assert bench.step.trouble() == ""
    assert StatusBit.READY in bench.plc.head.status
    assert bench.logged.count("plc_beats_again") == 1


def test_no_verdict_is_written_over_one_that_a_standing_plc_has_not_taken(make_bench: Any) -> None:
    """They wait, and are told in their order when its program runs again."""
    bench = make_bench(program=_program(rate_hz=100, parts=30))
    bench.run(100)
    bench.is_running = False
    bench.run(1800)
    overruns = bench.counted.get(Counter.OVERRUNS, 0)
    told = len(bench.events)
    bench.run(150)
    assert (bench.counted.get(Counter.OVERRUNS, 0), len(bench.events)) == (overruns, told)
    bench.is_running = True
    bench.run(2500)
    assert bench.report("out_of_order") == bench.report("duplicates") == []
    assert [e.trigger_id for e in bench.events] == list(range(1, 31))


class Disabled:
    """A PLC whose counter is set by hand, with or without TRIGGER_ENABLE."""

    def __init__(self, bench: Any) -> None:
        """Take over the scripted PLC's own part."""
        self._bench = bench
        self._beat = 0

    def show(self, counter: int, *, enable: bool = False) -> None:
        """What the PLC says from now on."""
        flags = Flag.TRIGGER_ENABLE if enable else Flag(0)
        self._beat += 1
        plc = self._bench.plc
        plc._part = PlcPart(counter, plc.block.sequence, self._beat, flags)
        self._bench.run(20)


def test_triggers_that_the_plc_does_not_mean_are_fault(make_bench: Any) -> None:
    """TRIGGER_ENABLE is 0: no picture is taken, but each is answered."""
    bench = make_bench(program=_program(rate_hz=0.001))
    bench.run(50)
    bench.is_running = False
    plc = Disabled(bench)
    for counter in (2, 3):
        plc.show(counter)
        plc.show(counter)
    assert not [ticket for ticket in bench.fired if ticket.trigger_id in {2, 3}]
    reasons = [e.reason for e in bench.events if e.trigger_id in {2, 3}]
    assert reasons == [Reason.TRIGGER_DISABLED] * 2


def test_a_counter_that_is_set_while_triggers_are_not_meant_makes_no_part(make_bench: Any) -> None:
    """So a PLC synchronises: to 0, or to any other value; then it counts on from there."""
    bench = make_bench(program=_program(rate_hz=0.001))
    bench.run(50)
    bench.is_running = False
    plc = Disabled(bench)
    before = len(bench.events)
    plc.show(50_000)
    assert (len(bench.events), bench.logged.count("trigger_counter_set")) == (before, 1)
    plc.show(50_001, enable=True)
    assert bench.fired[-1].trigger_id == 50_001
    assert "triggers_missed" not in bench.logged


@pytest.mark.parametrize("skips_zero", [False, True])
def test_a_16_bit_counter_wraps_without_a_missed_part(make_bench: Any, *, skips_zero: bool) -> None:
    """Ids go from 65535 to 0, or to 1."""
    program = _program(
        rate_hz=40, parts=10, first_counter=65_530, trigger_bits=16, trigger_skips_zero=skips_zero
    )
    bench = make_bench(program=program, ids=Ids(bits=16, skips_zero=skips_zero))
    bench.run(800)
    assert _clean(bench)
    first = [1, 2, 3, 4, 5] if skips_zero else [0, 1, 2, 3, 4]
    assert [e.trigger_id for e in bench.events] == [*range(65_531, 65_536), *first]
    assert {e.verdict for e in bench.events} == {Verdict.OK}


def test_a_counter_wider_than_the_file_says_is_trouble_with_its_remedy(make_bench: Any) -> None:
    """Before the first part is mistaken for another."""
    bench = make_bench(program=_program(first_counter=70_000), ids=Ids(bits=16))
    bench.run(300)
    assert "plc.trigger_bits: 32" in bench.step.trouble()
    assert bench.events == bench.fired == []


def test_a_plc_that_begins_anew_forgets_the_parts_of_before(make_bench: Any) -> None:
    """They go to the record as never told; ids that come again mean the new parts."""
    bench = make_bench(program=_program(rate_hz=0.001), answer=lambda _: None)
    bench.run(50)
    bench.is_running = False
    plc = Disabled(bench)
    plc.show(2, enable=True)
    plc.show(3, enable=True)
    plc.show(1, enable=True)
    assert "trigger_ids_restarted" in bench.logged
    untold = [e.trigger_id for e in bench.events if not e.stamps[Stamp.SENT]]
    assert untold == [1, 2, 3]
    assert [ticket.trigger_id for ticket in bench.fired] == [1, 2, 3, 1]


def test_a_sink_that_starts_before_its_plc_puts_the_reject_state_first(make_bench: Any) -> None:
    """What an earlier run left there says nothing any more, from the first word on."""
    bench = make_bench(program=_program(rate_hz=5, parts=2))
    bench.run(300)
    assert bench.plc.head.status
    bench.plc.is_reachable = False
    bench.journal = PaperJournal()
    bench.step = bench.new_step()
    bench.run(100)
    heads: list[Any] = []
    write = bench.plc.write_head

    def noted(head: Head) -> None:
        heads.append(head)
        write(head)

    bench.plc.write_head = noted
    bench.is_healthy = False
    bench.plc.is_reachable = True
    bench.run(100)
    assert heads[0].status == StatusBit(0)
    assert (bench.plc.block.verdict, bench.plc.block.sequence) == (Verdict.NONE, 0)
