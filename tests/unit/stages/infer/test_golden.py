"""The golden test on command: what it answers, and in which order."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import pytest

from inspectd.errors import EngineFault
from inspectd.frame import Detection, Kind, Reason, Role, Ticket, Verdict
from inspectd.model.spec import ModelSpec
from inspectd.stages.infer.golden import GoldenTests, Proof
from inspectd.stages.infer.look import Look
from inspectd.stages.infer.selftest import TOLERANCES, Golden

CAP = Detection("Cap", 0.9, 10, 10, 20, 20)
SPEC = cast("ModelSpec", type("Spec", (), {"draw_threshold": 0.5, "layout": "found"})())
LATE_NS, DEADLINE_NS = 200, 100


class _Look:
    """A picture in which is found what the engine says."""

    tensor = np.zeros((1, 1, 1), np.float32)

    def raw(self, engine: Any, _batch: Any) -> list[Any]:
        """Ask the engine."""
        return [engine()]

    def decoded(self, raw: Any) -> Any:
        """Nothing is to be decoded."""
        return raw


def _answer(engine: Any, now_ns: int = 0) -> tuple[Verdict, Reason, bytes]:
    golden = Golden(cast("Look", _Look()), (CAP,))
    proofs: Mapping[int, Proof] = {0: Proof(SPEC, golden, engine, TOLERANCES["fp32"])}
    tests = GoldenTests(proofs, lambda: now_ns)
    tests.ask(Ticket(0, 5, deadline_ns=DEADLINE_NS))
    out = tests.run()
    assert (out.to, out.kind, out.ticket.trigger_id) == (Role.SINK, Kind.PROVED, 5)
    return out.ticket.verdict, out.ticket.reason, out.ticket.detail


def _failing() -> Any:
    raise EngineFault("bottle_cap", "out of memory")


def test_what_was_stored_is_found_again() -> None:
    """The answer is OK within the tolerance of the self-test."""
    near = Detection("Cap", 0.9005, 10.2, 10, 20, 20)
    assert _answer(lambda: [near])[:2] == (Verdict.OK, Reason.NONE)


@pytest.mark.parametrize("found", [[], [CAP, Detection("Cap", 0.8, 50, 50, 60, 60)]])
def test_something_else_in_the_picture_is_no_success(found: list[Detection]) -> None:
    """A detection missing, or one too many, is told with its place."""
    verdict, _, detail = _answer(lambda: found)
    assert verdict is Verdict.NG
    assert b"Cap" in detail


def test_an_engine_that_fails_is_a_fault_that_says_why() -> None:
    """It does not take the process with it."""
    verdict, reason, detail = _answer(_failing)
    assert (verdict, reason) == (Verdict.FAULT, Reason.ENGINE_ERROR)
    assert b"out of memory" in detail


def test_an_answer_that_nobody_waits_for_any_more_is_not_worked_out() -> None:
    """The engine's time belongs to parts."""
    verdict, reason, _ = _answer(_failing, LATE_NS)
    assert (verdict, reason) == (Verdict.FAULT, Reason.DEADLINE_PASSED)


def test_a_station_has_one_test_at_a_time() -> None:
    """A later one replaces the one before, so nothing piles up."""
    tests = GoldenTests({}, lambda: 0)
    for station, sequence in ((0, 1), (1, 2), (0, 3)):
        tests.ask(Ticket(station, sequence))
    assert [tests.run().ticket.trigger_id for _ in range(len(tests))] == [2, 3]
