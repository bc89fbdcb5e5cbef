"""The ejector at work in made-up time: a real belt, a module in memory."""

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest

from inspectd.config.schema import ClockEncoder, OutputReject
from inspectd.frame import Kind, Stamp, Ticket, Verdict
from inspectd.ports import Counter

MS = 1_000_000
Benches = Callable[..., Any]
Rejects = Callable[..., OutputReject]
BAD = [Verdict.NG, Verdict.UNFIT, Verdict.LATE, Verdict.FAULT]


def test_a_good_part_passes_and_the_output_falls_again(bench: Any) -> None:
    """Energised for its zone only."""
    part = bench.trigger(1)
    bench.run(300)
    bench.verdict(part)
    bench.run(1000)
    assert bench.fates() == {1: True}
    assert not bench.belt.is_on
    assert bench.counted == {Counter.LET_PASS: 1}


@pytest.mark.parametrize("verdict", BAD)
def test_every_other_verdict_rejects(bench: Any, verdict: Verdict) -> None:
    """And the part is found in the bin."""
    bench.verdict(bench.trigger(1), verdict)
    bench.run(1000)
    assert bench.fates() == {1: False}
    assert bench.counted == {Counter.REJECTED: 1}
    assert bench.step.trouble() == ""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_in_a_long_run_only_the_bad_ones_are_ejected(
    make_bench: Benches, make_reject: Rejects, seed: int
) -> None:
    """Random spacing, delays, verdicts, slip, belt stops: the book has nothing to complain of."""
    bench = make_bench(reject=make_reject(backward_mm=3))
    dice = random.Random(seed)  # noqa: S311  a dice
    bench.run(30)
    waiting: list[tuple[int, Ticket, Verdict]] = []
    for trigger_id in range(150):
        ticket = bench.trigger(trigger_id)
        bench.belt.slip(trigger_id, dice.uniform(-10, 10))
        verdict = dice.choice([Verdict.OK, Verdict.OK, Verdict.OK, *BAD])
        delay_ms = dice.choice([100, 200, 300, None])
        if delay_ms is not None:
            waiting.append((bench.now_ns + delay_ms * MS, ticket, verdict))
        until_ns = bench.now_ns + int(dice.uniform(110, 300) * MS)
        while bench.now_ns < until_ns:
            bench.run(5)
            for due in [one for one in waiting if one[0] <= bench.now_ns]:
                waiting.remove(due)
                bench.verdict(*due[1:])
        if dice.random() < 0.1:
            bench.belt.speed_mm_s = 0
            bench.run(dice.uniform(10, 400))
            bench.belt.speed_mm_s = 500
    bench.run(2000)
    report = bench.belt.report()
    assert report["passed_without_ok"] == []
    assert report["ejected_with_ok"] == []
    assert report["passed"] + report["ejected"] == 150
    assert report["passed"] > 20
    assert bench.counted[Counter.LET_PASS] == report["passed"]
    assert Counter.REJECTS_UNCONFIRMED not in bench.counted


@pytest.mark.parametrize(("has_eye", "worst_ms"), [(True, 3.0), (False, 1.0)])
def test_the_edges_are_where_they_should_be(
    make_bench: Benches, make_reject: Rejects, has_eye: bool, worst_ms: float
) -> None:
    """In made-up time encoder steps cost next to nothing; an eye costs half a look (5 ms)."""
    bench = make_bench(reject=make_reject() if has_eye else make_reject(eye=None))
    bench.run(50)
    for trigger_id in range(20):
        bench.verdict(bench.trigger(trigger_id))
        bench.run(211.3)
    bench.run(1000)
    errors = bench.belt.report()["edge_errors_ms"]
    assert len(errors) == 20
    assert max(map(abs, errors)) < worst_ms


def test_without_a_place_at_the_trigger_a_part_is_rejected(bench: Any) -> None:
    """A trigger whose moment is not known, or lies before our birth."""
    for fired_ns in (0, bench.now_ns - 1000 * MS):
        ticket = Ticket(0, 1).stamped(Stamp.FIRED, fired_ns)
        bench.step.feed(Kind.TRIGGER, ticket, bench.now_ns)
        bench.belt.place(1, bench.now_ns)
        bench.verdict(ticket)
        bench.run(1000)
    assert bench.logged.count("trigger_place_unknown") == 2
    assert set(bench.fates().values()) == {False}


def test_a_part_that_the_step_never_heard_of_is_rejected(bench: Any) -> None:
    """Between two good ones, too."""
    for trigger_id in range(3):
        ticket = bench.trigger(trigger_id, is_told=trigger_id != 1)
        bench.verdict(ticket)
        bench.run(160)
    bench.run(1000)
    assert bench.fates() == {0: True, 1: False, 2: True}
    assert "part_unknown" in bench.logged


def test_while_the_module_is_away_nobody_is_ready_and_everything_is_rejected(bench: Any) -> None:
    """Also what was OK; the watchdog releases the output; afterwards it works again."""
    bench.verdict(bench.trigger(1))
    bench.run(455)
    assert bench.belt.is_on
    bench.io.is_cut = True
    bench.verdict(bench.trigger(2))
    bench.run(700)
    assert not bench.belt.is_on
    assert "no answer" in bench.step.trouble()
    assert bench.fates()[2] is False
    bench.io.is_cut = False
    bench.run(600)
    assert bench.step.trouble() == ""
    bench.verdict(bench.trigger(3))
    bench.run(1000)
    assert bench.fates()[3] is True
    assert bench.logged.count("ejector_lost") == 1
    assert bench.logged.count("ejector_reached") == 2


def test_a_process_that_stands_still_lets_the_watchdog_close_the_way(bench: Any) -> None:
    """The next part does not slip through behind a good one."""
    bench.verdict(bench.trigger(1))
    bench.run(150)
    bench.trigger(2)
    bench.run(310)
    assert bench.belt.is_on
    bench.stall(400)
    bench.run(500)
    assert bench.fates()[2] is False
    assert bench.belt.report()["passed_without_ok"] == []


def test_a_new_life_begins_with_a_released_output(bench: Any) -> None:
    """Killed while it was energised: the next life releases it first, and knows no part."""
    bench.verdict(bench.trigger(1))
    bench.run(400)
    bench.trigger(2)
    bench.run(55)
    assert bench.belt.is_on
    bench.step = bench.new_step()
    bench.io._is_connected = False
    bench.run(1)
    assert not bench.belt.is_on
    bench.run(1000)
    assert bench.fates()[2] is False


def test_a_counter_that_begins_anew_rejects_what_is_on_the_belt(bench: Any) -> None:
    """The module was restarted in a moment: positions of before are void."""
    bench.verdict(bench.trigger(1))
    bench.run(100)
    bench.io.jump = 30_000
    bench.run(1000)
    assert bench.fates() == {1: False}
    assert "encoder_jumped" in bench.logged
    bench.verdict(bench.trigger(2))
    bench.run(1000)
    assert bench.fates()[2] is True


def test_answers_that_take_too_long_do_not_place_the_belt(bench: Any) -> None:
    """A few are bridged; when all of them do, nothing is let pass."""
    bench.verdict(bench.trigger(1))
    bench.run(300)
    bench.io.spread_ns = 30 * MS
    bench.run(20)
    bench.io.spread_ns = 0
    bench.run(600)
    assert bench.fates() == {1: True}
    bench.verdict(bench.trigger(2))
    bench.io.spread_ns = 30 * MS
    bench.run(1000)
    assert bench.fates()[2] is False


def test_without_an_encoder_the_belt_is_taken_on_trust(
    make_bench: Benches, make_reject: Rejects
) -> None:
    """By the clock: good parts pass, others do not."""
    bench = make_bench(reject=make_reject(encoder=ClockEncoder(kind="time"), eye=None))
    bench.run(50)
    for trigger_id, verdict in enumerate((Verdict.OK, Verdict.NG, Verdict.OK)):
        bench.verdict(bench.trigger(trigger_id), verdict)
        bench.run(150)
    bench.run(1000)
    assert bench.fates() == {0: True, 1: False, 2: True}


def test_a_bin_that_stays_empty_is_a_fault_until_the_key_is_turned(bench: Any) -> None:
    """Three rejected parts that nobody saw."""
    bench.io.is_bin_blind = True
    for trigger_id in range(3):
        assert bench.step.trouble() == ""
        bench.trigger(trigger_id)
        bench.run(900)
    assert "turn the reset key" in bench.step.trouble()
    assert bench.counted[Counter.REJECTS_UNCONFIRMED] == 3
    bench.run(2000)
    assert bench.step.trouble()
    bench.io.active = {4}
    bench.run(20)
    assert bench.step.trouble() == ""


@pytest.mark.parametrize(("number", "words"), [(2, "bin is full"), (3, "air pressure is low")])
def test_a_full_bin_or_low_air_keeps_the_station_from_being_ready(
    bench: Any, number: int, words: str
) -> None:
    """As long as it lasts."""
    bench.io.active = {number}
    bench.run(20)
    assert words in bench.step.trouble()
    bench.io.active = set()
    bench.run(20)
    assert bench.step.trouble() == ""


def test_it_is_drained_when_the_belt_is_empty(bench: Any) -> None:
    """What was OK still passes after the stop, and the output is released."""
    bench.verdict(bench.trigger(1))
    bench.step.stop(bench.now_ns)
    assert not bench.step.is_drained()
    bench.run(1000)
    assert bench.step.is_drained()
    assert bench.fates() == {1: True}
    bench.step.close()
    assert not bench.belt.is_on


def test_closing_releases_the_output(bench: Any) -> None:
    """Whatever is on the belt."""
    bench.verdict(bench.trigger(1))
    bench.run(455)
    assert bench.belt.is_on
    bench.step.close()
    assert not bench.belt.is_on


def test_ids_that_come_again_are_other_parts(bench: Any) -> None:
    """The PLC's counter began anew while parts were on the belt."""
    first = bench.trigger(1)
    bench.run(200)
    second = bench.trigger(1)
    bench.verdict(second)
    bench.run(1000)
    assert [fate.is_passed for fate in bench.belt.fates] == [False, True]
    assert first.stamps != second.stamps


def test_a_belt_at_rest_does_not_keep_the_process_spinning(bench: Any) -> None:
    """Between two looks nothing is to be done."""
    bench.trigger(1)
    bench.belt.speed_mm_s = 0
    bench.run(500)
    waits = []
    for _ in itertools.repeat(None, 20):
        wake_at_ns = bench.step.wake_at_ns()
        waits.append(wake_at_ns - bench.now_ns)
        bench.now_ns = max(wake_at_ns, bench.now_ns)
        bench.step.wake(bench.now_ns)
    assert sorted(waits)[len(waits) // 2] > 2 * MS


def test_what_began_at_the_eye_while_nobody_looked_has_no_place(bench: Any) -> None:
    """A window of 12 mm at 500 mm/s is 24 ms: after a longer stall the part is not seen."""
    bench.verdict(bench.trigger(1))
    bench.run(350)
    bench.stall(30)
    bench.run(1000)
    assert bench.fates() == {1: False}
    bench.verdict(bench.trigger(2))
    bench.run(352)
    bench.stall(15)
    bench.run(1000)
    assert bench.fates()[2] is True
