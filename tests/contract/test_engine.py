"""What every engine must keep, run over every implementation."""

import importlib.util
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from inspectd.config.schema import ScriptedEngine
from inspectd.errors import EngineFault, EngineRefused
from inspectd.model import directory
from inspectd.model.layout import split
from inspectd.model.spec import ModelSpec, Program
from inspectd.stages.infer.engine import Batch, Engine
from inspectd.stages.infer.paddle import Paddle
from inspectd.stages.infer.routes import Backend
from inspectd.stages.infer.scripted import Scripted

MODELS = Path(__file__).parents[2] / "inspectd" / "models"
PADDLE = [
    pytest.mark.paddle,
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("paddle") is None, reason="paddle is not installed"
    ),
]


def shipped(folder: str = "bottle_cap") -> ModelSpec:
    """A model of the project."""
    return directory.read(str(MODELS / folder))


def paddle(backend: Backend, folder: str) -> Callable[[Path], Engine]:
    """How to make a Paddle engine."""
    return lambda cache: Paddle(shipped(folder), backend=backend, cache=cache)


@pytest.fixture(
    params=[
        pytest.param(
            lambda _: Scripted(ScriptedEngine(kind="scripted", base_ms=0), "scores"), id="scripted"
        ),
        pytest.param(paddle("onednn", "bottle_cap"), id="onednn-json", marks=PADDLE),
        pytest.param(paddle("onednn", "bottle_cap_pdmodel"), id="onednn-pdmodel", marks=PADDLE),
        pytest.param(paddle("openvino", "bottle_cap_pdmodel"), id="openvino", marks=PADDLE),
        pytest.param(paddle("plain", "bottle_cap"), id="plain", marks=PADDLE),
    ]
)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Engine:
    """Every engine in turn."""
    made: Engine = request.param(tmp_path)
    return made


def tensors(count: int) -> Batch:
    """Different tensors of the shipped model's shape."""
    shape = (count, *shipped().tensor_shape)
    return np.random.default_rng(3).uniform(-2, 2, shape).astype(np.float32)


def side(count: int) -> dict[str, Batch]:
    """Frames of the tensor's own size."""
    return {"scale_factor": np.ones((count, 2), np.float32)}


class TestEveryEngine:
    """The contract of `Engine`."""

    def test_a_frame_of_a_batch_gives_the_same_as_alone(self, engine: Engine) -> None:
        """At every place of the batch."""
        images = tensors(3)
        together = split("scores", engine.run(images, side(3)), 3)
        for at in range(3):
            (alone,) = split("scores", engine.run(images[at : at + 1], side(1)), 1)
            np.testing.assert_allclose(together[at]["boxes"], alone["boxes"], atol=0.05)
            np.testing.assert_allclose(together[at]["scores"], alone["scores"], atol=1e-4)

    def test_outputs_are_the_callers(self, engine: Engine) -> None:
        """A further run does not change what was answered before."""
        images = tensors(2)
        first = engine.run(images[:1], side(1))
        before = [output.copy() for output in first]
        engine.run(images[1:], side(1))
        for output, was in zip(first, before, strict=True):
            np.testing.assert_array_equal(output, was)

    def test_it_says_what_it_is(self, engine: Engine) -> None:
        """The record of every part can name it."""
        assert {"kind", "device", "backend"} <= set(engine.describe())


@pytest.mark.parametrize("backend", ["onednn", "plain"])
class TestPaddleRefusals:
    """What Paddle would do in silence."""

    pytestmark = PADDLE

    def test_a_gpu_that_is_not_there_is_refused(self, backend: Backend) -> None:
        """A CPU wheel ignores the wish; here it is an error with a remedy."""
        with pytest.raises(EngineRefused, match="GPU"):
            Paddle(shipped(), device="gpu", backend=backend)

    def test_broken_parameters_are_refused(self, backend: Backend, tmp_path: Path) -> None:
        """The file is named."""
        spec = shipped("bottle_cap_pdmodel")
        program = spec.programs[0]
        broken = tmp_path / "model.pdiparams"
        broken.write_bytes(Path(program.params_path).read_bytes()[:1000])
        cut = replace(spec, programs=(Program("pdmodel", program.program_path, str(broken)),))
        with pytest.raises(EngineRefused, match="cannot be loaded"):
            Paddle(cut, backend=backend)

    def test_a_tensor_of_another_shape_is_a_fault_of_the_run(self, backend: Backend) -> None:
        """The engine lives on."""
        engine = Paddle(shipped(), backend=backend)
        with pytest.raises(EngineFault):
            engine.run(np.zeros((1, 5, 320, 320), np.float32), side(1))
        engine.run(tensors(1), side(1))


@pytest.mark.skipif(importlib.util.find_spec("paddle") is None, reason="paddle is not installed")
def test_openvino_takes_legacy_programs_only() -> None:
    """The refusal names another backend."""
    with pytest.raises(EngineRefused, match="choose onednn"):
        Paddle(shipped("bottle_cap"), backend="openvino")
