"""The judge's door: what becomes of a part, and of its slot."""

import json
from collections import Counter as Tally
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from inspectd.bus.arena import MemfdArena
from inspectd.config.schema import (
    AbsentPlc,
    Budget,
    ForbidRule,
    Line,
    Model,
    PaddleEngine,
    Record,
    ReplayCamera,
    ScriptedEngine,
    Station,
    TimerTrigger,
)
from inspectd.errors import ModelFault
from inspectd.frame import (
    NO_SLOT,
    Detection,
    Kind,
    Reason,
    Role,
    Stamp,
    Ticket,
    Verdict,
)
from inspectd.ports import Context, Counter, Out
from inspectd.stages.judge.step import DETECTIONS_MAX, Judge, JudgeStep, build

NOW_NS = 5_000
DECIDED_NS = 7_000
SCRATCH = Detection("Scratch", 0.87654321, 10.123, 20.0, 30.0, 40.0)
FAINT = Detection("Scratch", 0.05, 1.0, 2.0, 3.0, 4.0)


def as_told(raw: Mapping[str, npt.NDArray[Any]]) -> Sequence[Detection]:
    """Decode outputs that say how many scratches there are."""
    return [SCRATCH] * int(raw["scratches"][0]) + [FAINT]


JUDGE = Judge(
    decode=as_told,
    rules={0: (ForbidRule(kind="forbid", name="no-scratch", labels=("Scratch",), min_score=0.5),)},
    frame_w=200,
    frame_h=100,
    um_per_px=0.0,
    archive=frozenset({"NG"}),
    min_score=0.1,
)


STATION = Station(
    name="cam-1",
    cycle_ms=100,
    deadline_ms=50,
    budget=Budget(camera_ms=10, gate_ms=10, infer_ms=10, judge_ms=10, sink_ms=10),
    trigger=TimerTrigger(kind="timer", rate_hz=10),
    camera=ReplayCamera(kind="replay", path="/nowhere", width_px=200, height_px=100),
    model="none",
    rules=JUDGE.rules[0],
    plc=AbsentPlc(kind="none"),
)


def context(arena: MemfdArena, counted: Tally[Counter]) -> Context:
    """As the host would make it."""
    return Context(
        arenas={0: arena},
        clock=lambda: DECIDED_NS,
        count=_counter(counted),
        log=lambda *_, **__: None,
        is_ready=lambda *_: True,
        is_line_healthy=lambda _: True,
    )


def part(arena: MemfdArena, scratches: float, deadline_ns: int = 0) -> Ticket:
    """A part whose outputs lie in a slot of the judge."""
    loan = arena.loan(1)
    assert loan is not None
    slot, generation = loan
    road = (Role.CAMERA, Role.GATE, Role.INFER, Role.JUDGE)
    for owner, following in pairwise(road):
        assert arena.hand_over(slot, generation, owner, following)
    arena.write_raw(slot, {"scratches": np.array([scratches], np.float32)})
    return Ticket(
        station=0,
        trigger_id=1,
        slot=slot,
        generation=generation,
        deadline_ns=deadline_ns,
        detail=b'{"image":"a.png"}',
    )


def judged(arena: MemfdArena, counted: Tally[Counter], ticket: Ticket, judge: Judge = JUDGE) -> Out:
    """Feed one part, expect one verdict."""
    step = JudgeStep(judge, arena, lambda: DECIDED_NS, _counter(counted))
    outs = step.feed(Kind.RAW, ticket, NOW_NS)
    assert [(out.to, out.kind) for out in outs] == [(Role.SINK, Kind.VERDICT)]
    return outs[0]


def _counter(counted: Tally[Counter]) -> Any:
    def count(counter: Counter, times: int) -> None:
        counted[counter] += times

    return count


def test_a_good_part_gives_its_slot_back_before_its_verdict_leaves(
    arena: MemfdArena, counted: Tally[Counter]
) -> None:
    """OK is not archived here, so the frame is free again."""
    ticket = judged(arena, counted, part(arena, 0)).ticket
    assert (ticket.verdict, ticket.reason, ticket.slot) == (Verdict.OK, Reason.NONE, NO_SLOT)
    assert len(arena.owned(Role.NOBODY)) == 4
    assert counted == {Counter.FRAMES: 1}


def test_a_bad_part_leaves_its_slot_to_the_record(
    arena: MemfdArena, counted: Tally[Counter]
) -> None:
    """NG is archived: the record owns the picture, the ticket tells where it lies."""
    given = part(arena, 2)
    ticket = judged(arena, counted, given).ticket
    assert (ticket.verdict, ticket.reason) == (Verdict.NG, Reason.DEFECT)
    assert arena.holds(given.slot, given.generation, Role.RECORD)
    assert ticket.slot == given.slot


def test_the_detail_tells_boxes_and_broken_rules_beside_what_was_there(
    arena: MemfdArena, counted: Tally[Counter]
) -> None:
    """Rounded, without those below the limit of the record."""
    detail = json.loads(judged(arena, counted, part(arena, 1)).ticket.detail)
    assert detail == {
        "image": "a.png",
        "detections": [["Scratch", 0.8765, 10.12, 20.0, 30.0, 40.0]],
        "broken": [["no-scratch", "1 object of Scratch, 0 tolerated", 1]],
    }


def test_a_frame_full_of_boxes_still_fits_into_a_message(
    arena: MemfdArena, counted: Tally[Counter]
) -> None:
    """The verdict counts all, the event keeps the best."""
    detail = judged(arena, counted, part(arena, 5000)).ticket.detail
    assert len(json.loads(detail)["detections"]) == DETECTIONS_MAX
    assert json.loads(detail)["broken"][0][2] == 5000
    assert len(detail) < 64 * 1024


def test_start_and_decision_are_stamped(arena: MemfdArena, counted: Tally[Counter]) -> None:
    """The start with the loop's time, the decision with the clock after the work."""
    stamps = judged(arena, counted, part(arena, 0)).ticket.stamps
    assert (stamps[Stamp.JUDGE_START], stamps[Stamp.DECIDED]) == (NOW_NS, DECIDED_NS)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_outputs_that_are_no_numbers_are_a_fault(
    arena: MemfdArena, counted: Tally[Counter], number: float
) -> None:
    """Some graphs give NaN on some kernels: never OK, never NG."""
    ticket = judged(arena, counted, part(arena, number)).ticket
    assert (ticket.verdict, ticket.reason) == (Verdict.FAULT, Reason.OUTPUT_NOT_FINITE)
    assert len(arena.owned(Role.NOBODY)) == 4


def test_outputs_of_a_foreign_shape_are_a_fault_that_says_why(
    arena: MemfdArena, counted: Tally[Counter]
) -> None:
    """The decoder's complaint goes into the record."""

    def foreign(raw: Mapping[str, npt.NDArray[Any]]) -> Sequence[Detection]:
        raise ModelFault("model", "outputs", f"{len(raw)} outputs", "export it again")

    ticket = judged(arena, counted, part(arena, 0), replace(JUDGE, decode=foreign)).ticket
    assert (ticket.verdict, ticket.reason) == (Verdict.FAULT, Reason.ENGINE_ERROR)
    assert "export it again" in json.loads(ticket.detail)["error"]


def test_a_stale_part_is_dropped_and_counted(arena: MemfdArena, counted: Tally[Counter]) -> None:
    """The slot was reclaimed: the sink has been told that the part is lost."""
    ticket = part(arena, 0)
    arena.release(ticket.slot, ticket.generation, Role.JUDGE)
    step = JudgeStep(JUDGE, arena, lambda: DECIDED_NS, _counter(counted))
    assert step.feed(Kind.RAW, ticket, NOW_NS) == ()
    assert counted == {Counter.STALE: 1}


def test_a_part_whose_slot_is_reclaimed_while_it_is_judged_gets_no_verdict(
    arena: MemfdArena, counted: Tally[Counter]
) -> None:
    """Its outputs may have become those of another part halfway."""
    ticket = part(arena, 0)

    def reclaimed(raw: Mapping[str, npt.NDArray[Any]]) -> Sequence[Detection]:
        arena.release(ticket.slot, ticket.generation, Role.JUDGE)
        arena.loan(2)
        return ()

    step = JudgeStep(replace(JUDGE, decode=reclaimed), arena, lambda: DECIDED_NS, _counter(counted))
    assert step.feed(Kind.RAW, ticket, NOW_NS) == ()
    assert counted == {Counter.STALE: 1}
    assert [held.slot for held in arena.owned(Role.CAMERA)] == [ticket.slot]


def test_a_late_part_is_judged_all_the_same(arena: MemfdArena, counted: Tally[Counter]) -> None:
    """Deadlines belong to the sink."""
    ticket = judged(arena, counted, part(arena, 1, deadline_ns=DECIDED_NS - 1)).ticket
    assert ticket.verdict is Verdict.NG


def test_the_picture_of_a_late_part_is_kept_where_late_ones_are_archived(
    arena: MemfdArena, counted: Tally[Counter]
) -> None:
    """It was OK, but the sink will say LATE."""
    ticket = part(arena, 0, deadline_ns=DECIDED_NS - 1)
    judged(arena, counted, ticket, replace(JUDGE, archive=frozenset({"LATE"})))
    assert arena.holds(ticket.slot, ticket.generation, Role.RECORD)


def test_a_scripted_engine_finds_nothing_whatever_it_wrote(
    arena: MemfdArena, counted: Tally[Counter]
) -> None:
    """No model directory is read then: the line need not have one."""
    line = Line(
        line="bench",
        engine=ScriptedEngine(kind="scripted"),
        models=(Model(name="none", path="/nowhere"),),
        stations=(STATION,),
        record=Record(folder="/nowhere"),
    )
    step = build(line, 0, context(arena, counted))
    (out,) = step.feed(Kind.RAW, part(arena, 3), NOW_NS)
    assert out.ticket.verdict is Verdict.OK


def test_a_model_directory_that_is_not_there_is_named(
    arena: MemfdArena, counted: Tally[Counter]
) -> None:
    """The process ends with that error before it says READY."""
    line = Line(
        line="bench",
        engine=PaddleEngine(kind="paddle"),
        models=(Model(name="none", path="/nowhere"),),
        stations=(STATION,),
        record=Record(folder="/nowhere"),
    )
    with pytest.raises(ModelFault, match="/nowhere"):
        build(line, 0, context(arena, counted))


def test_the_judge_holds_nothing_between_two_messages(
    arena: MemfdArena, counted: Tally[Counter]
) -> None:
    """Other kinds are not its business, and it is drained at any time."""
    step = JudgeStep(JUDGE, arena, lambda: DECIDED_NS, _counter(counted))
    assert step.feed(Kind.TENSOR, part(arena, 0), NOW_NS) == ()
    assert step.wake_at_ns() is None
    assert (list(step.wake(0)), list(step.stop(0)), step.is_drained()) == ([], [], True)
    assert not step.trouble()
    step.close()


def test_the_recipe_of_the_ticket_chooses_the_rules(
    arena: MemfdArena, counted: Tally[Counter]
) -> None:
    """A part is judged by its own recipe, whichever came before; an unknown one is FAULT."""
    lenient = (
        ForbidRule(
            kind="forbid", name="no-scratch", labels=("Scratch",), min_score=0.5, max_count=5
        ),
    )
    judge = replace(JUDGE, rules={1: JUDGE.rules[0], 2: lenient})
    told = []
    for recipe in (1, 2, 1, 0):
        ticket = judged(arena, counted, replace(part(arena, 1), recipe=recipe), judge).ticket
        told.append((ticket.verdict, ticket.reason))
        arena.release(ticket.slot, ticket.generation, Role.RECORD)
    assert [verdict for verdict, _ in told[:3]] == [Verdict.NG, Verdict.OK, Verdict.NG]
    assert told[3] == (Verdict.FAULT, Reason.WRONG_RECIPE)
