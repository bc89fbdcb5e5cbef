"""The door of the inference process, with real frame memory and an engine of few lines."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from inspectd.bus.arena import Geometry, MemfdArena
from inspectd.config.schema import Model
from inspectd.errors import EngineFault
from inspectd.frame import NO_SLOT, Kind, Reason, Role, Stamp, Ticket, Verdict
from inspectd.ports import Context, Counter, Out
from inspectd.stages.infer.batch import Planner
from inspectd.stages.infer.engine import Array, Batch
from inspectd.stages.infer.golden import GoldenTests
from inspectd.stages.infer.step import FAILURES_MAX, TROUBLED_NS, InferStep, Loaded, Source

MS = 1_000_000
SHAPE = (3, 4, 4)


class Echo:
    """Answers the first value of each tensor as score, the side input as box; may fail."""

    def __init__(self) -> None:
        self.fails = False
        self.outputs = 2
        self.batches: list[int] = []

    def run(self, images: Batch, side: Mapping[str, Batch]) -> Sequence[Array]:
        """One anchor, one class."""
        if self.fails:
            raise EngineFault("echo", "it was told to fail")
        self.batches.append(len(images))
        boxes = np.tile(side["scale_factor"], 2)[:, np.newaxis]
        return (boxes.astype(np.float32), images[:, :1, :1, 0].copy())[: self.outputs]

    def describe(self) -> Mapping[str, str]:
        """Nothing much."""
        return {}


class Bench:
    """A line of two stations with one model, and its step."""

    def __init__(self, arenas: dict[int, MemfdArena], batch_max: int, archive: str) -> None:
        self.arenas, self.now_ns = arenas, 0
        self.counts: dict[Counter, int] = {}
        self.logged: list[str] = []
        self.engine = Echo()
        room = np.zeros((batch_max, *SHAPE), np.float32)
        loaded = Loaded(
            name="caps",
            digest="0123456789ab",
            layout="scores",
            engine=self.engine,
            batches={size: room[:size] for size in range(1, batch_max + 1)},
        )
        sources = {
            at: Source(
                model="m", side={"scale_factor": np.full((1, 2), at + 1, np.float32)}, reserve_ns=0
            )
            for at in arenas
        }
        context = Context(
            arenas=arenas,
            clock=lambda: self.now_ns,
            count=self._count,
            log=lambda level, event, **fields: self.logged.append(event),
            is_ready=lambda role, station: True,
            is_line_healthy=lambda station: True,
        )
        planner = Planner({"m": Model(name="m", path="", batch_max=batch_max)})
        golden = GoldenTests({}, context.clock)
        self.step = InferStep(
            {"m": loaded}, planner, sources, context, archive=frozenset([archive]), golden=golden
        )

    def _count(self, counter: Counter, by: int) -> None:
        self.counts[counter] = self.counts.get(counter, 0) + by

    def part(self, station: int, trigger_id: int, deadline_ms: int = 0) -> Ticket:
        """A part whose tensor is in its slot; the tensor says its trigger."""
        arena = self.arenas[station]
        loan = arena.loan(trigger_id)
        assert loan is not None
        slot, generation = loan
        arena.tensor(slot)[...] = trigger_id
        arena.hand_over(slot, generation, Role.CAMERA, Role.GATE)
        arena.hand_over(slot, generation, Role.GATE, Role.INFER)
        return Ticket(
            station=station,
            trigger_id=trigger_id,
            slot=slot,
            generation=generation,
            deadline_ns=deadline_ms * MS,
        )

    def feed(self, *tickets: Ticket) -> None:
        """Feed tensors; the step answers nothing to them."""
        for ticket in tickets:
            assert list(self.step.feed(Kind.TENSOR, ticket, self.now_ns)) == []

    def wake(self, now_ms: int = 0) -> list[Out]:
        """Wake the step at a time."""
        self.now_ns = now_ms * MS
        return list(self.step.wake(self.now_ns))


@pytest.fixture
def arenas() -> Iterator[dict[int, MemfdArena]]:
    """Frame memory of two stations."""
    geometry = Geometry(slots=4, frame_shape=(4, 4), tensor_shape=SHAPE, raw_bytes=256)
    made = {at: MemfdArena.create(geometry, f"test{at}") for at in range(2)}
    yield made
    for arena in made.values():
        arena.close()


@pytest.fixture
def bench(arenas: dict[int, MemfdArena]) -> Bench:
    """Batches of up to three; pictures of late parts are kept, those of faults are not."""
    return Bench(arenas, 3, "LATE")


def test_each_part_gets_its_own_outputs(bench: Bench) -> None:
    """Whatever the batch: score of its tensor, side input of its station, slot with the judge."""
    tickets = [bench.part(0, 7), bench.part(1, 8), bench.part(0, 9)]
    bench.feed(*tickets)
    outs = bench.wake()
    assert bench.engine.batches == [3]
    assert sorted(out.ticket.trigger_id for out in outs) == [7, 8, 9]
    for out in outs:
        ticket = out.ticket
        arena = bench.arenas[ticket.station]
        assert (out.to, out.kind, ticket.batch) == (Role.JUDGE, Kind.RAW, 3)
        assert arena.holds(ticket.slot, ticket.generation, Role.JUDGE)
        raw = arena.read_raw(ticket.slot)
        assert raw["scores"].tolist() == [[ticket.trigger_id]]
        assert raw["boxes"].tolist() == [[ticket.station + 1] * 4]
        del raw
    assert bench.counts[Counter.BATCHES] == 1


def test_a_part_says_which_model_judged_it_and_when(bench: Bench) -> None:
    """Name and digest go into the detail, times into the stamps."""
    bench.now_ns = 1 * MS
    bench.feed(bench.part(0, 1))
    (out,) = bench.wake(2)
    assert json.loads(out.ticket.detail)["engine"] == {"model": "caps", "digest": "0123456789ab"}
    assert out.ticket.stamps[Stamp.INFER_QUEUED] == 1 * MS
    assert out.ticket.stamps[Stamp.INFER_START] == 2 * MS
    assert out.ticket.stamps[Stamp.INFER_END] == 2 * MS


def test_a_stale_tensor_is_dropped(bench: Bench) -> None:
    """The slot was reclaimed meanwhile: it may hold another part."""
    ticket = bench.part(0, 1)
    bench.arenas[0].release(ticket.slot, ticket.generation, Role.INFER)
    bench.feed(ticket)
    assert bench.step.wake_at_ns() is None
    assert bench.counts == {Counter.STALE: 1}


def test_a_failed_run_makes_every_part_of_the_batch_a_fault(bench: Bench) -> None:
    """Nobody waits for a verdict; the reason is in the record; slots come back."""
    bench.engine.fails = True
    bench.feed(bench.part(0, 1), bench.part(1, 2))
    outs = bench.wake()
    assert [(out.to, out.kind) for out in outs] == [(Role.SINK, Kind.VERDICT)] * 2
    for out in outs:
        assert (out.ticket.verdict, out.ticket.reason) == (Verdict.FAULT, Reason.ENGINE_ERROR)
        assert "told to fail" in json.loads(out.ticket.detail)["error"]
        assert out.ticket.slot == NO_SLOT
    assert not bench.arenas[0].owned(Role.INFER)
    assert bench.step.trouble()


def test_outputs_that_are_no_answer_are_a_failed_run(bench: Bench) -> None:
    """An engine that gives half of them has judged nobody."""
    bench.engine.outputs = 1
    bench.feed(bench.part(0, 1))
    (out,) = bench.wake()
    assert (out.ticket.verdict, out.ticket.reason) == (Verdict.FAULT, Reason.ENGINE_ERROR)
    assert "expected 2" in json.loads(out.ticket.detail)["error"]
    assert Counter.BATCHES not in bench.counts


@pytest.mark.parametrize("archived", ["FAULT", "LATE"])
def test_the_picture_of_a_fault_is_kept_where_the_line_wants_it(
    arenas: dict[int, MemfdArena], archived: str
) -> None:
    """It goes to the record with its slot, or the slot is free at once."""
    bench = Bench(arenas, 3, archived)
    bench.engine.fails = True
    part = bench.part(0, 1)
    bench.feed(part)
    (out,) = bench.wake()
    is_kept = archived == "FAULT"
    assert (out.ticket.slot == part.slot) is is_kept
    assert arenas[0].holds(part.slot, part.generation, Role.RECORD) is is_kept
    assert not arenas[0].owned(Role.INFER)


def test_other_messages_are_passed_over(bench: Bench) -> None:
    """Only tensors and golden tests are for this process."""
    part = bench.part(0, 1)
    for kind in set(Kind) - {Kind.TENSOR, Kind.GOLDEN}:
        assert list(bench.step.feed(kind, part, 0)) == []
    assert bench.step.is_drained()


def test_a_golden_test_is_answered_and_lets_no_batch_go_early(bench: Bench) -> None:
    """The test of a model without golden outputs fails, and says why; parts keep their turn."""
    bench.feed(bench.part(0, 1))
    bench.step.feed(Kind.GOLDEN, Ticket(1, 77, deadline_ns=10**12), 0)
    due_ns = bench.step.wake_at_ns()
    assert due_ns == 0
    outs = bench.wake()
    (proved,) = [out for out in outs if out.kind is Kind.PROVED]
    assert (proved.to, proved.ticket.trigger_id) == (Role.SINK, 77)
    assert (proved.ticket.verdict, proved.ticket.reason) == (Verdict.FAULT, Reason.GOLDEN_MISSING)
    assert b"no golden outputs" in proved.ticket.detail


def test_failures_count_in_a_row_only(bench: Bench) -> None:
    """A good run between them starts the count anew."""
    for trigger_id in range(4 * FAILURES_MAX):
        bench.engine.fails = trigger_id % FAILURES_MAX != 0
        bench.feed(bench.part(0, trigger_id))
        (out,) = bench.wake()
        if out.kind is Kind.RAW:
            bench.arenas[0].release(out.ticket.slot, out.ticket.generation, Role.JUDGE)


def test_a_good_run_ends_the_trouble(bench: Bench) -> None:
    """One failure is no reason to restart."""
    bench.engine.fails = True
    bench.feed(bench.part(0, 1))
    bench.wake()
    bench.engine.fails = False
    bench.feed(bench.part(0, 2))
    bench.wake()
    assert bench.step.trouble() == ""


def test_a_failed_run_does_not_stop_the_line_for_ever(bench: Bench) -> None:
    """Found by `inspectd chaos`: not ready, no trigger came, and without one no run could be good.

    After a while the trouble is over; failures in a row still count.
    """
    bench.engine.fails = True
    bench.feed(bench.part(0, 1))
    bench.wake()
    assert bench.step.trouble()
    bench.now_ns += TROUBLED_NS
    assert bench.step.trouble() == ""
    for trigger_id in range(2, FAILURES_MAX):
        bench.feed(bench.part(0, trigger_id))
        bench.wake()
    bench.feed(bench.part(0, 99))
    with pytest.raises(EngineFault, match="in a row"):
        bench.wake()


def test_failures_in_a_row_end_the_process(bench: Bench) -> None:
    """The supervisor starts a fresh one, and tells the parts that were held."""
    bench.engine.fails = True
    for trigger_id in range(FAILURES_MAX - 1):
        bench.feed(bench.part(0, trigger_id))
        bench.wake()
    bench.feed(bench.part(0, 99))
    with pytest.raises(EngineFault, match="3 runs in a row"):
        bench.wake()


def test_a_part_past_its_deadline_never_reaches_the_engine(bench: Bench) -> None:
    """It is answered LATE; its picture goes to the record, as this line wants."""
    bench.feed(bench.part(0, 1, deadline_ms=10), bench.part(0, 2, deadline_ms=100))
    judged, late = bench.wake(10)
    assert (late.ticket.verdict, late.ticket.reason) == (Verdict.LATE, Reason.DEADLINE_PASSED)
    assert bench.arenas[0].holds(late.ticket.slot, late.ticket.generation, Role.RECORD)
    assert (judged.to, judged.ticket.trigger_id) == (Role.JUDGE, 2)
    assert bench.engine.batches == [1]


def test_it_is_drained_when_nothing_waits(bench: Bench) -> None:
    """After a stop, what was taken in is still run."""
    bench.feed(*[bench.part(0, trigger_id) for trigger_id in range(4)])
    assert list(bench.step.stop(0)) == []
    seen: list[Any] = []
    while not bench.step.is_drained():
        seen += bench.wake()
    assert bench.engine.batches == [3, 1]
    assert len(seen) == 4
