"""What is asked of Paddle is found again in its configuration, or named as a mismatch."""

import importlib
import importlib.util
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inspectd.config.schema import PaddleEngine
from inspectd.errors import EngineRefused
from inspectd.model import directory
from inspectd.stages.infer.asking import Asked, asked_of, shapes_of
from inspectd.stages.infer.configure import configured, mismatches, summary_of
from inspectd.stages.infer.paddle import Paddle
from inspectd.stages.infer.routes import Build, Route

MODELS = Path(__file__).parents[4] / "inspectd" / "models"
ABLE = Build(version=(3, 3, 1), has_openvino=True)


def asked(folder: str = "bottle_cap_pdmodel", **settings: Any) -> Asked:
    """What a station file asks of a Paddle that can do it on the CPU."""
    spec = directory.read(str(MODELS / folder))
    return asked_of(spec, PaddleEngine(kind="paddle", **settings), ABLE, batch_max=4)


def test_shapes_go_from_one_frame_to_the_largest_batch() -> None:
    """Of every input of the program, tuned for the full batch."""
    shapes = shapes_of(directory.read(str(MODELS / "bottle_cap")), 4)
    assert {name: str(each) for name, each in shapes.items()} == {
        "image": "1x3x320x320..4x3x320x320",
        "scale_factor": "1x2..4x2",
    }
    assert all(each.best == each.largest for each in shapes.values())


def test_a_refusal_of_the_table_is_an_engine_refused() -> None:
    """With the same words."""
    with pytest.raises(EngineRefused, match="cannot use a GPU"):
        asked(device="gpu")


@pytest.mark.paddle
@pytest.mark.skipif(importlib.util.find_spec("paddle") is None, reason="paddle is not installed")
class TestWithPaddle:
    """The installed Paddle's own configuration."""

    @pytest.fixture
    def inference(self) -> Any:
        """The module, without its remarks."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module("paddle.inference")

    @pytest.mark.parametrize("folder", ["bottle_cap", "bottle_cap_pdmodel"])
    @pytest.mark.parametrize("backend", ["auto", "onednn", "plain", "openvino"])
    @pytest.mark.parametrize("memory_optim", [True, False])
    def test_what_is_asked_is_read_back(
        self, inference: Any, folder: str, backend: Any, memory_optim: bool
    ) -> None:
        """Nothing differs, flag by flag and in the summary."""
        if backend == "openvino" and folder == "bottle_cap":
            pytest.skip("openvino takes .pdmodel programs only")
        wish = asked(folder, backend=backend, threads=2, memory_optim=memory_optim)
        config = configured(inference, wish)
        assert mismatches(config, wish) == []
        assert summary_of(config)["memory_optim"] == str(memory_optim).lower()

    @pytest.mark.parametrize(
        ("change", "wrong"),
        [
            ({"route": Route.CPU_PLAIN}, "mkldnn_enabled: asked False, got True"),
            ({"route": Route.CPU_OPENVINO}, "openvino_engine_enabled: asked True, got False"),
            ({"threads": 3}, "cpu_math_library_num_threads: asked 3, got 1"),
            ({"memory_optim": False}, "summary memory_optim: asked false, got true"),
            ({"route": Route.GPU_PLAIN}, "use_gpu: asked True, got False"),
            ({"route": Route.TENSORRT_ENGINE}, "tensorrt_engine_enabled: asked True, got False"),
        ],
    )
    def test_a_configuration_that_is_something_else_is_named(
        self, inference: Any, change: dict[str, Any], wrong: str
    ) -> None:
        """As if Paddle had passed a wish over: what, asked, got."""
        config = configured(inference, asked())
        assert wrong in mismatches(config, replace(asked(), **change))

    def test_a_cpu_wheel_asked_for_the_gpu_is_caught_by_reading_back(self, inference: Any) -> None:
        """It runs on the CPU and prints a line; the decision table is not the only guard."""
        if importlib.import_module("paddle").is_compiled_with_cuda():
            pytest.skip("this Paddle can use a GPU")
        wish = replace(asked(), route=Route.GPU_PLAIN)
        assert "use_gpu: asked True, got False" in mismatches(configured(inference, wish), wish)

    def test_a_mismatch_is_an_engine_refused(self) -> None:
        """Before anything is loaded."""
        if importlib.import_module("paddle").is_compiled_with_cuda():
            pytest.skip("this Paddle can use a GPU")
        spec = directory.read(str(MODELS / "bottle_cap_pdmodel"))
        with pytest.raises(EngineRefused, match="GPU"):
            Paddle(spec, asked=replace(asked(), route=Route.GPU_PLAIN))
