"""Commands of the PLC as the sink carries them out, with the simulated PLC commanding."""

from typing import Any

import pytest

from inspectd.frame import Kind, Reason, Role, Stamp, Ticket, Verdict
from inspectd.plc.codes import Command, CommandState, StatusBit
from inspectd.plc.commander import Planned
from inspectd.plc.program import Program
from inspectd.ports import Counter
from inspectd.stages.sink.tally import Limits

MS = 1_000_000
RECIPES = frozenset({1, 2})
CHOOSE_1 = Planned(Command.RECIPE, 1)


def _program(*commands: Planned, **other: Any) -> Program:
    return Program(**{"rate_hz": 20, "window_ms": 10_000, "commands": commands, **other})


def _answers(bench: Any) -> list[tuple[int, str, str]]:
    done = bench.report("commands")
    return [(one["sequence"], one["state"], one["result"]) for one in done]


def _asked_for_golden(bench: Any) -> Ticket:
    (out,) = [out for out in bench.outs if out.kind is Kind.GOLDEN]
    assert out.to is Role.INFER
    ticket: Ticket = out.ticket
    return ticket


def test_a_station_with_recipes_is_not_ready_before_one_is_chosen(make_bench: Any) -> None:
    """Which kind of part comes is never guessed; a trigger all the same is FAULT."""
    bench = make_bench(is_plc_triggered=False, recipes=RECIPES, program=_program())
    bench.run(300)
    assert StatusBit.READY not in bench.plc.head.status
    assert bench.plc.head.heartbeat > 0
    bench.send(Kind.TRIGGER, Ticket(0, 1))
    bench.run(50)
    assert [(e.verdict, e.reason) for e in bench.events] == [(Verdict.FAULT, Reason.WRONG_RECIPE)]


def test_parts_carry_the_recipe_that_was_active_at_their_trigger(make_bench: Any) -> None:
    """Open parts finish under the old one; the PLC reads the number back with each verdict."""
    program = _program(CHOOSE_1, Planned(Command.RECIPE, 2, 0.5))
    bench = make_bench(recipes=RECIPES, program=program)
    bench.run(1200)
    assert _answers(bench) == [(1, "COMPLETED", "NONE"), (2, "COMPLETED", "NONE")]
    recipes = [ticket.recipe for ticket in bench.fired]
    assert recipes == sorted(recipes)
    assert set(recipes) == {1, 2}
    assert [one["recipe"] for one in bench.report("verdicts")] == recipes[: len(bench.events)]
    assert bench.plc.head.active_recipe == 2
    assert bench.report("missing")[:-1] == []


def test_open_parts_are_done_before_the_recipe_changes(make_bench: Any) -> None:
    """Not Ready meanwhile, and the change is answered only when the last of them was told."""
    program = _program(CHOOSE_1, Planned(Command.RECIPE, 2, 0.3), rate_hz=4)
    bench = make_bench(recipes=RECIPES, program=program, answer=lambda _: (80 * MS, Verdict.OK))
    bench.run(10)
    while bench.plc.head.command_echo != 2:
        bench.run(1)
    open_ones = {ticket.trigger_id for ticket in bench.fired} - {e.trigger_id for e in bench.events}
    assert open_ones
    assert StatusBit.READY not in bench.plc.head.status
    while bench.plc.head.active_recipe == 1:
        assert bench.plc.head.command_state == CommandState.EXECUTING
        bench.run(1)
    assert open_ones <= {event.trigger_id for event in bench.events if event.recipe == 1}
    assert bench.plc.head.command_state == CommandState.COMPLETED


def test_an_unknown_recipe_leaves_the_old_one_active(make_bench: Any) -> None:
    """FAILED, with the reason, and Ready again."""
    program = _program(CHOOSE_1, Planned(Command.RECIPE, 9, 0.1))
    bench = make_bench(recipes=RECIPES, program=program)
    bench.run(400)
    assert _answers(bench)[1] == (2, "FAILED", "UNKNOWN_RECIPE")
    assert bench.plc.head.active_recipe == 1
    assert StatusBit.READY in bench.plc.head.status


def test_a_station_without_recipes_has_number_0(make_bench: Any) -> None:
    """Asked for, it is there; any other is not."""
    program = _program(Planned(Command.RECIPE, 0), Planned(Command.RECIPE, 1))
    bench = make_bench(program=program)
    bench.run(400)
    assert [state for _, state, _ in _answers(bench)] == ["COMPLETED", "FAILED"]


def test_a_command_that_nobody_knows_fails(make_bench: Any) -> None:
    """It is answered like any other."""
    bench = make_bench(program=_program(Planned(42)))
    bench.run(400)
    assert _answers(bench) == [(1, "FAILED", "UNKNOWN_COMMAND")]
    assert bench.counted[Counter.COMMANDS] == 1


def test_reset_clears_rows_requests_and_counters(make_bench: Any) -> None:
    """The line may go on; parts are not interrupted."""
    program = _program(Planned(Command.RESET, 0, 1.0), rate_hz=10, parts=5)
    bench = make_bench(program=program, limits=Limits(late=3, reject=4), answer=lambda _: None)
    bench.run(900)
    assert bench.plc.head.late == 5
    assert StatusBit.STOP_REQUEST in bench.plc.head.status
    assert bench.plc.head.stop_cause == 3
    bench.run(400)
    assert _answers(bench) == [(1, "COMPLETED", "NONE")]
    head = bench.plc.head
    assert StatusBit.STOP_REQUEST not in head.status
    assert (head.late, head.late_in_a_row, head.not_ok_in_a_row, head.stop_cause) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("verdict", "reason", "answer"),
    [
        (Verdict.OK, Reason.NONE, ("COMPLETED", "NONE")),
        (Verdict.NG, Reason.ENGINE_ERROR, ("FAILED", "GOLDEN_DIFFERS")),
        (Verdict.FAULT, Reason.ENGINE_ERROR, ("FAILED", "ENGINE_ERROR")),
        (Verdict.FAULT, Reason.GOLDEN_MISSING, ("FAILED", "NO_GOLDEN")),
    ],
)
def test_the_golden_test_is_answered_as_the_engine_says(
    make_bench: Any, verdict: Verdict, reason: Reason, answer: tuple[str, str]
) -> None:
    """While it runs vision is not Ready."""
    bench = make_bench(program=_program(Planned(Command.GOLDEN_TEST), rate_hz=10))
    bench.run(250)
    assert StatusBit.READY not in bench.plc.head.status
    asked = _asked_for_golden(bench)
    bench.send(Kind.PROVED, asked.decided(verdict, reason, bench.now_ns, b'{"error":"so"}'))
    bench.run(300)
    assert _answers(bench) == [(1, *answer)]
    assert StatusBit.READY in bench.plc.head.status


def test_a_trigger_during_a_command_is_missed_and_rejected(make_bench: Any) -> None:
    """A PLC that does not keep to the handshake gets FAULT at once, and no picture is taken."""
    bench = make_bench(
        is_plc_triggered=False, program=_program(Planned(Command.GOLDEN_TEST), rate_hz=10)
    )
    bench.run(250)
    bench.send(Kind.TRIGGER, Ticket(0, 1))
    bench.run(250)
    assert [event.reason for event in bench.events] == [Reason.COMMANDED]
    assert bench.counted[Counter.MISSED] == bench.plc.head.missed == 1


def test_a_command_that_takes_too_long_has_failed(make_bench: Any) -> None:
    """The engine died over it; its answer of another time is none."""
    bench = make_bench(program=_program(Planned(Command.GOLDEN_TEST), rate_hz=10))
    bench.run(250)
    asked = _asked_for_golden(bench)
    bench.run(1200)
    assert _answers(bench) == [(1, "FAILED", "TIMED_OUT")]
    bench.step.feed(Kind.PROVED, asked.decided(Verdict.OK, Reason.NONE, 1), bench.now_ns)
    bench.run(300)
    assert _answers(bench) == [(1, "FAILED", "TIMED_OUT")]


def test_a_sink_killed_over_a_command_fails_it_and_keeps_the_recipe(make_bench: Any) -> None:
    """The answer is INTERRUPTED; the active recipe is read back, not guessed."""
    program = _program(CHOOSE_1, Planned(Command.GOLDEN_TEST, 0, 0.1))
    bench = make_bench(recipes=RECIPES, program=program)
    bench.run(400)
    _asked_for_golden(bench)
    bench.restart()
    bench.run(300)
    assert _answers(bench)[1] == (2, "FAILED", "INTERRUPTED")
    assert bench.plc.head.active_recipe == 1
    assert StatusBit.READY in bench.plc.head.status


def test_a_stop_fails_what_is_under_way(make_bench: Any) -> None:
    """The PLC is not left waiting."""
    bench = make_bench(program=_program(Planned(Command.GOLDEN_TEST), rate_hz=10))
    bench.run(250)
    bench.step.stop(bench.now_ns)
    bench.run(250)
    assert _answers(bench) == [(1, "FAILED", "STOPPING")]


def test_a_camera_that_triggers_itself_is_told_the_recipe(make_bench: Any) -> None:
    """Until it follows, its parts are FAULT: none is judged by rules not meant for it."""
    bench = make_bench(is_plc_triggered=False, recipes=RECIPES, program=_program(CHOOSE_1))
    bench.run(250)
    told = [out.ticket.recipe for out in bench.outs if out.kind is Kind.RECIPE]
    assert told == [1]
    for key, recipe in ((1, 0), (2, 1), (3, 2)):
        ticket = Ticket(0, key, recipe=recipe).stamped(Stamp.FIRED, bench.now_ns)
        bench.step.feed(Kind.TRIGGER, ticket, bench.now_ns)
        bench.send(Kind.VERDICT, ticket.decided(Verdict.OK, Reason.NONE, bench.now_ns))
    bench.run(150)
    verdicts = {e.trigger_id: e.verdict for e in bench.events}
    assert verdicts == {1: Verdict.FAULT, 2: Verdict.OK, 3: Verdict.FAULT}
