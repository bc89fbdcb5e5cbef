"""What a station file asks of Paddle against what the installed Paddle can: for `inspectd check`.

Without Paddle (a desk, a checkout) only what no Paddle could do is a fault here. With one, whatever
it cannot do is: Paddle itself would run on the CPU, or without TensorRT, and say nothing.
"""

from collections.abc import Callable, Iterator

from inspectd.config.schema import Line, PaddleEngine
from inspectd.errors import ModelFault
from inspectd.model import directory, distributions
from inspectd.model.graph import read_graph
from inspectd.model.spec import ModelSpec
from inspectd.stages.infer.asking import wish_of
from inspectd.stages.infer.routes import Artefact, Build, Refusal, choose
from inspectd.stages.infer.wheel import installed_build

__all__ = ["check", "check_with"]


def check(line: Line) -> list[tuple[str, str]]:
    """Answer (dotted key in the station file, what is wrong and how to put it right)."""
    engine = line.engine
    if not isinstance(engine, PaddleEngine):
        return []
    return check_with(line, lambda: _build_here(engine))


def check_with(line: Line, build: Callable[[], Build | None]) -> list[tuple[str, str]]:
    """Check against a given Paddle; None: there is none.

    A model that cannot be read is passed over here: its own check says so.
    """
    engine = line.engine
    if not isinstance(engine, PaddleEngine):
        return []
    known = build()
    faults: dict[tuple[str, str], None] = {}
    used = {station.model for station in line.stations}
    for at, model in enumerate(line.models):
        if model.name not in used:
            continue
        try:
            spec = directory.read(model.path)
            artefacts = list(_artefacts(spec, engine))
        except ModelFault:
            continue
        wish = wish_of(engine, has_calibration=bool(model.calibration))
        answer = choose(artefacts, known, wish)
        if isinstance(answer, Refusal) and not _is_said_elsewhere(engine, spec):
            key = f"models[{at}].path" if answer.is_of_the_model else f"engine.{answer.key}"
            faults[key, f"{answer.what}; {answer.remedy}"] = None
    return list(faults)


def _build_here(engine: PaddleEngine) -> Build | None:
    """The Paddle that is installed; none when two lie over each other."""
    if set(distributions.installed()) == {distributions.CPU, distributions.GPU}:
        return None
    return installed_build(ask_tensorrt=engine.backend == "tensorrt")


def _artefacts(spec: ModelSpec, engine: PaddleEngine) -> Iterator[Artefact]:
    """The stored programs as the decision sees them; only int8 asks whether they are quantised."""
    for stored in spec.programs:
        is_quantised = engine.precision == "int8" and read_graph(stored).is_quantised
        yield Artefact(stored.format, is_quantised)


def _is_said_elsewhere(engine: PaddleEngine, spec: ModelSpec) -> bool:
    """`inspectd.model.checks` looks for the program of OpenVINO."""
    return engine.backend == "openvino" and spec.program("pdmodel") is None
