"""The golden test on command: does the engine, as it runs now, still find what it should?

The same picture, the same stored outputs and the same tolerance as in the self-test at the start,
by the very engine that judges parts. One picture is one run: parts of other stations wait for it as
they wait for each other.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from inspectd.config.schema import Line, PaddleEngine
from inspectd.errors import EngineFault, ModelFault
from inspectd.frame import Kind, Reason, Role, Ticket, Verdict
from inspectd.model import directory
from inspectd.model.spec import ModelSpec
from inspectd.ports import Out
from inspectd.stages.infer.detail import with_error
from inspectd.stages.infer.engine import Engine
from inspectd.stages.infer.selftest import (
    TOLERANCES,
    Golden,
    Tolerance,
    golden_difference,
    read_golden,
)

__all__ = ["GoldenTests", "Proof", "proofs_of"]


@dataclass(frozen=True, slots=True)
class Proof:
    """What a station's engine is held against."""

    spec: ModelSpec
    golden: Golden
    engine: Engine
    tolerance: Tolerance


def proofs_of(line: Line, engines: Mapping[str, Engine]) -> dict[int, Proof]:
    """The proofs by station; one whose model has no golden outputs is not among them.

    Args:
        line: the station file.
        engines: by the name that the station file gives their models.

    Raises:
        EngineRefused: golden outputs are of another state of the model, or cannot be read.
    """
    if not isinstance(line.engine, PaddleEngine):
        return {}
    specs = {model.name: directory.read(model.path) for model in line.models}
    goldens = {name: read_golden(specs[name]) for name in engines}
    tolerance = TOLERANCES[line.engine.precision]
    return {
        at: Proof(specs[station.model], golden, engines[station.model], tolerance)
        for at, station in enumerate(line.stations)
        if (golden := goldens[station.model]) is not None
    }


class GoldenTests:
    """The tests that were asked for and not run yet; never more than there are stations."""

    def __init__(self, proofs: Mapping[int, Proof], clock: Callable[[], int]) -> None:
        """Nothing was asked for."""
        self._proofs, self._clock = proofs, clock
        self._asked: deque[Ticket] = deque()

    def __len__(self) -> int:
        """How many wait."""
        return len(self._asked)

    def ask(self, ticket: Ticket) -> None:
        """Take one more; a later one of the same station replaces the one before."""
        others = [one for one in self._asked if one.station != ticket.station]
        self._asked = deque([*others, ticket])

    def run(self) -> Out:
        """Run the one that waits longest, and answer it.

        Raises:
            IndexError: None waits.
        """
        ticket = self._asked.popleft()
        verdict, reason, error = self._outcome(ticket)
        decided = ticket.decided(verdict, reason, self._clock(), with_error(b"{}", error))
        return Out(Role.SINK, Kind.PROVED, decided)

    def _outcome(self, ticket: Ticket) -> tuple[Verdict, Reason, str]:
        proof = self._proofs.get(ticket.station)
        if proof is None:
            return Verdict.FAULT, Reason.GOLDEN_MISSING, "the model has no golden outputs"
        if self._clock() >= ticket.deadline_ns:
            return Verdict.FAULT, Reason.DEADLINE_PASSED, "it is too late for the answer"
        try:
            wrong = golden_difference(proof.spec, proof.golden, proof.engine, proof.tolerance)
        except (EngineFault, ModelFault, ValueError) as error:
            return Verdict.FAULT, Reason.ENGINE_ERROR, str(error)
        if wrong:
            return Verdict.NG, Reason.ENGINE_ERROR, wrong
        return Verdict.OK, Reason.NONE, ""
