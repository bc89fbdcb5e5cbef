"""The gate's door: what becomes of a picture, of its part and of its slot."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from inspectd.config.load import load
from inspectd.config.schema import (
    Exposure,
    Frozen,
    Gate,
    Line,
    Model,
    Presence,
    ReplayCamera,
    ScriptedEngine,
    Sharpness,
)
from inspectd.errors import FrameFault
from inspectd.frame import NO_SLOT, Kind, Reason, Role, Stamp, Ticket, Verdict
from inspectd.ports import Context, Counter, Out, Pixels, Tensor
from inspectd.stages.gate.inspection import Inspection
from inspectd.stages.gate.step import GateStep, build

SHAPE = (48, 64, 3)
GATE = Gate(sharpness=Sharpness(min=50), exposure=Exposure(min_mean=30, max_mean=220))
NOW_NS = 1_000


class Filling:
    """Fills a tensor with a number; misses the golden picture of a part called `nobody`."""

    def prepare(self, frame: Pixels, part_id: str, out: Tensor) -> None:
        """Fill."""
        if part_id == "nobody":
            raise FrameFault("golden/nobody.png", "is not there", "put it there")
        out[...] = frame.mean()


def context(bench: Any) -> Context:
    """As the host would make it."""
    return Context(
        arenas={0: bench.gate},
        clock=lambda: next(bench.times),
        count=bench.count,
        log=lambda *_, **__: None,
        is_ready=bench.is_ready,
        is_line_healthy=lambda _: True,
    )


def step_of(bench: Any, archive: frozenset[str] = frozenset({"UNFIT"})) -> GateStep:
    """A gate with two checks."""
    inspection = Inspection(GATE, SHAPE)
    return GateStep(inspection, Filling(), bench.gate, context(bench), archive=archive)


def fed(step: Any, ticket: Ticket) -> Out:
    """Feed one part, expect one message."""
    (out,) = step.feed(Kind.FRAME, ticket, NOW_NS)
    assert isinstance(out, Out)
    return out


def dark() -> Pixels:
    """The lights are off."""
    return np.zeros(SHAPE, np.uint8)


def test_a_fit_picture_goes_to_the_engine_with_its_tensor(bench: Any, picture: Pixels) -> None:
    """The slot goes along; one copy of the pixels is counted."""
    given = bench.part(picture)
    out = fed(step_of(bench), given)
    assert (out.to, out.kind, out.ticket.verdict) == (Role.INFER, Kind.TENSOR, Verdict.NONE)
    assert bench.owner(given) is Role.INFER
    assert float(bench.made.tensor(given.slot)[0, 0, 0]) == pytest.approx(picture.mean())
    assert bench.counted == {Counter.FRAMES: 1, Counter.PIXEL_COPIES: 1}


def test_start_measures_and_tensor_are_stamped(bench: Any, picture: Pixels) -> None:
    """The start with the loop's time, the others with the clock after the work."""
    stamps = fed(step_of(bench), bench.part(picture)).ticket.stamps
    times = [stamps[stamp] for stamp in (Stamp.GATE_START, Stamp.MEASURED, Stamp.PREPARED)]
    assert times == [1_000, 2_000, 3_000]


def test_measures_are_told_beside_what_was_there(bench: Any, picture: Pixels) -> None:
    """Of fit pictures as well: limits are tightened from the record."""
    detail = json.loads(fed(step_of(bench), bench.part(picture)).ticket.detail)
    assert detail["image"] == "a.png"
    assert [(one["name"], one["limit"]) for one in detail["measures"]] == [
        ("exposure", 30),
        ("sharpness", 50),
    ]
    assert detail["measures"][0]["value"] == pytest.approx(picture.mean(), abs=1)


def test_an_unfit_picture_is_left_to_the_record(bench: Any) -> None:
    """The first broken measure is the reason; no tensor is made."""
    given = bench.part(dark())
    out = fed(step_of(bench), given)
    assert (out.to, out.kind) == (Role.SINK, Kind.VERDICT)
    assert (out.ticket.verdict, out.ticket.reason) == (Verdict.UNFIT, Reason.DARK)
    assert (out.ticket.slot, out.ticket.generation) == (given.slot, given.generation)
    assert bench.owner(given) is Role.RECORD
    assert bench.counted == {Counter.FRAMES: 1}
    assert out.ticket.stamps[Stamp.DECIDED] == 3_000


def test_an_unfit_picture_that_is_not_archived_gives_its_slot_back(bench: Any) -> None:
    """The ticket carries none any more."""
    given = bench.part(dark())
    out = fed(step_of(bench, frozenset({"NG"})), given)
    assert (out.ticket.verdict, out.ticket.slot) == (Verdict.UNFIT, NO_SLOT)
    assert bench.owner(given) is Role.NOBODY


def test_without_an_engine_the_part_is_a_fault_at_once(bench: Any, picture: Pixels) -> None:
    """Nobody would take the tensor."""
    bench.is_engine_there = False
    given = bench.part(picture)
    ticket = fed(step_of(bench), given).ticket
    assert (ticket.verdict, ticket.reason) == (Verdict.FAULT, Reason.ENGINE_DOWN)
    assert (ticket.slot, bench.owner(given)) == (NO_SLOT, Role.NOBODY)


def test_an_unfit_picture_is_unfit_with_and_without_an_engine(bench: Any) -> None:
    """What the picture is does not depend on who would judge it."""
    bench.is_engine_there = False
    assert fed(step_of(bench), bench.part(dark())).ticket.verdict is Verdict.UNFIT


@pytest.mark.parametrize(("deadline_ns", "verdict"), [(2_000, "LATE"), (2_001, "NONE")])
def test_a_part_past_its_deadline_is_not_prepared(
    bench: Any, picture: Pixels, deadline_ns: int, verdict: str
) -> None:
    """Measured at 2000 ns; the engine is left to those that can still be in time."""
    ticket = fed(step_of(bench), bench.part(picture, deadline_ns)).ticket
    assert ticket.verdict.name == verdict
    if verdict == "LATE":
        assert ticket.reason is Reason.DEADLINE_PASSED
        assert bench.counted[Counter.PIXEL_COPIES] == 0


def test_late_pictures_are_kept_where_late_ones_are_archived(bench: Any, picture: Pixels) -> None:
    """As the judge does."""
    given = bench.part(picture, deadline_ns=1)
    ticket = fed(step_of(bench, frozenset({"LATE"})), given).ticket
    assert (ticket.verdict, bench.owner(given)) == (Verdict.LATE, Role.RECORD)


def test_a_missing_golden_picture_is_a_fault_that_says_why(bench: Any, picture: Pixels) -> None:
    """The error goes into the record."""
    given = replace(bench.part(picture), part_id="nobody")
    ticket = fed(step_of(bench), given).ticket
    assert (ticket.verdict, ticket.reason) == (Verdict.FAULT, Reason.TEMPLATE_MISSING)
    assert "put it there" in json.loads(ticket.detail)["error"]
    assert bench.owner(given) is Role.NOBODY
    assert bench.counted == {Counter.FRAMES: 1}


def test_a_stale_part_is_dropped_and_counted(bench: Any, picture: Pixels) -> None:
    """The slot was reclaimed: the sink has been told that the part is lost."""
    given = bench.part(picture)
    bench.made.reclaim(Role.GATE)
    assert step_of(bench).feed(Kind.FRAME, given, NOW_NS) == ()
    assert bench.counted == {Counter.STALE: 1}


@pytest.mark.parametrize("is_fit", [True, False])
def test_a_part_whose_slot_is_reclaimed_while_it_is_measured_gets_no_verdict(
    bench: Any, picture: Pixels, *, is_fit: bool
) -> None:
    """The numbers may be those of another picture."""
    given = bench.part(picture if is_fit else dark())
    inspection = Inspection(GATE, SHAPE)

    class Reclaiming(Inspection):
        """Loses the slot meanwhile."""

        def measure(self, frame: Pixels) -> Any:
            """Measure, and lose."""
            bench.made.reclaim(Role.GATE)
            return inspection.measure(frame)

    reclaiming = Reclaiming(GATE, SHAPE)
    step = GateStep(reclaiming, Filling(), bench.gate, context(bench), archive=frozenset())
    assert step.feed(Kind.FRAME, given, NOW_NS) == ()
    assert bench.counted[Counter.STALE] == 1
    assert bench.counted[Counter.FRAMES] == 0


def test_the_gate_holds_nothing_between_two_messages(bench: Any, picture: Pixels) -> None:
    """Other kinds are not its business, and it is drained at any time."""
    step = step_of(bench)
    assert step.feed(Kind.RAW, bench.part(picture), NOW_NS) == ()
    assert step.wake_at_ns() is None
    assert (list(step.wake(0)), list(step.stop(0)), step.is_drained()) == ([], [], True)
    assert not step.trouble()
    step.close()


def line_of(root: Path, gate: Gate, engine: Any = None, model: str = "") -> Line:
    """The demo line with a small camera."""
    line = load(root / "stations" / "demo.yaml", must_exist=False)
    camera = ReplayCamera(kind="replay", path="/nowhere", width_px=64, height_px=48)
    station = replace(line.stations[0], camera=camera, gate=gate)
    models = (Model(name=station.model, path=model or line.models[0].path),)
    engine = engine or line.engine
    return replace(line, stations=(station,), models=models, engine=engine)


def test_a_scripted_engine_needs_no_model(bench: Any, picture: Pixels, root: Path) -> None:
    """Nobody looks at the tensor then, and nothing is copied."""
    line = line_of(root, Gate(), ScriptedEngine(kind="scripted"), model="/nowhere")
    assert fed(build(line, 0, context(bench)), bench.part(picture)).to is Role.INFER
    assert bench.counted == {Counter.FRAMES: 1}


def test_repeated_pictures_are_found_from_part_to_part(
    bench: Any, picture: Pixels, root: Path
) -> None:
    """The step remembers the last picture, whatever slot it lay in."""
    gate = Gate(frozen=Frozen(max_repeats=1))
    line = line_of(root, gate, ScriptedEngine(kind="scripted"), model="/nowhere")
    step = build(line, 0, context(bench))
    tickets = [fed(step, bench.part(picture)).ticket for _ in range(3)]
    assert [ticket.reason for ticket in tickets] == [Reason.NONE, Reason.NONE, Reason.FROZEN]


def test_the_reference_is_read_when_the_line_starts(
    bench: Any, picture: Pixels, root: Path, tmp_path: Path
) -> None:
    """A picture like it is fit, its negative is occluded."""
    path = tmp_path / "reference.png"
    cv2.imwrite(str(path), picture)
    gate = Gate(presence=Presence(reference=str(path), min_likeness=0.3))
    line = line_of(root, gate, ScriptedEngine(kind="scripted"), model="/nowhere")
    step = build(line, 0, context(bench))
    assert fed(step, bench.part(picture)).ticket.verdict is Verdict.NONE
    assert fed(step, bench.part(255 - picture)).ticket.reason is Reason.OCCLUDED


@pytest.mark.parametrize("content", [None, b"", b"no picture", "other size"])
def test_a_reference_that_cannot_be_used_ends_the_start(
    bench: Any, root: Path, tmp_path: Path, content: bytes | str | None
) -> None:
    """One sentence that names the file."""
    path = tmp_path / "reference.png"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        cv2.imwrite(str(path), np.zeros((10, 10), np.uint8))
    gate = Gate(presence=Presence(reference=str(path), min_likeness=0.3))
    line = line_of(root, gate, ScriptedEngine(kind="scripted"), model="/nowhere")
    with pytest.raises(FrameFault, match=r"reference\.png"):
        build(line, 0, context(bench))
