"""What a real GPU wheel of Paddle makes of our wishes, read back; needs the wheel, no card.

`make gpu-config` runs this in an environment of its own: the wheel is 760 MB, and must never meet
the CPU wheel. It imports without a card and builds configurations; predictors need one. Seen with
paddlepaddle-gpu 2.6.2 on 1 December 2026.
"""

import importlib
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inspectd.config.schema import Gpu, PaddleEngine, Tensorrt
from inspectd.errors import EngineRefused
from inspectd.model import directory, distributions
from inspectd.stages.infer.asking import Asked, asked_of
from inspectd.stages.infer.card import card_of
from inspectd.stages.infer.configure import SHAPES_FILE, Purpose, configured, mismatches, summary_of
from inspectd.stages.infer.loading import asked_here, load
from inspectd.stages.infer.routes import Build, Route
from inspectd.stages.infer.wheel import installed_build

pytestmark = [
    pytest.mark.skipif(
        distributions.GPU not in distributions.installed(),
        reason="the GPU wheel of Paddle is not installed: make gpu-config",
    ),
    pytest.mark.filterwarnings("ignore:You are using GPU version Paddle"),
]

SPEC = directory.read(str(Path(__file__).parents[2] / "inspectd" / "models" / "bottle_cap_pdmodel"))


@pytest.fixture
def inference() -> Any:
    """The module, without its remarks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("paddle.inference")


@pytest.fixture
def build(inference: Any) -> Build:
    """What is installed."""
    found = installed_build(ask_tensorrt=True)
    assert found is not None
    return found


def has_no_card() -> bool:
    """Most machines that run this."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return int(importlib.import_module("paddle.device.cuda").device_count()) == 0


def asked(build: Build, folder: Path, **settings: Any) -> Asked:
    """What a station file asks, with a folder for engines."""
    engine = PaddleEngine(kind="paddle", device="gpu", **settings)
    return replace(asked_of(SPEC, engine, build, batch_max=8, has_calibration=True), cache=folder)


def test_the_wheel_of_pypi_is_what_the_decisions_are_made_for(build: Build) -> None:
    """CUDA and TensorRT are in it, Paddle 3's converter is not."""
    assert build.cuda
    assert build.tensorrt
    if build.version == (2, 6, 2):
        assert (build.cuda, build.cudnn, build.tensorrt) == ("11.8", "8.6.0", "8.5.3")
        assert not build.has_converter
        assert not build.has_openvino


@pytest.mark.parametrize("precision", ["fp32", "fp16", "int8"])
@pytest.mark.parametrize("fp32_ops", [(), ("softmax", "conv2d")])
@pytest.mark.parametrize("gpu", [Gpu(), Gpu(memory_pool_mb=700)])
def test_tensorrt_as_asked_is_read_back(  # noqa: PLR0917
    inference: Any, build: Build, tmp_path: Path, precision: Any, fp32_ops: Any, gpu: Gpu
) -> None:
    """Card, pool, precision, the file of shapes, and that nothing is built while parts wait."""
    settings = Tensorrt(fp32_ops=fp32_ops, min_subgraph_size=7, workspace_mb=256)
    wish = asked(
        build, tmp_path, backend="tensorrt", precision=precision, tensorrt=settings, gpu=gpu
    )
    assert wish.route is Route.TENSORRT_ENGINE
    config = configured(inference, wish)
    assert mismatches(config, wish) == []
    assert config.use_gpu()
    assert config.tensorrt_engine_enabled()
    assert config.tuned_tensorrt_dynamic_shape()
    assert not config.trt_allow_build_at_runtime()
    assert config.shape_range_info_path() == str(tmp_path / SHAPES_FILE)
    assert config.memory_pool_init_size_mb() == gpu.memory_pool_mb


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"precision": "fp32"}, "tensorrt_precision_mode: asked Precision.Float32"),
        ({"gpu": Gpu(memory_pool_mb=64)}, "memory_pool_init_size_mb: asked 64, got 512"),
        ({"gpu": Gpu(id=1)}, "gpu_device_id: asked 1, got 0"),
        ({"route": Route.GPU_PLAIN}, "tensorrt_engine_enabled: asked False, got True"),
        ({"route": Route.CPU_PLAIN}, "use_gpu: asked False, got True"),
        ({"cache": Path("/elsewhere")}, "shape_range_info_path: asked /elsewhere/"),
    ],
)
def test_another_configuration_than_asked_is_named(
    inference: Any, build: Build, tmp_path: Path, change: dict[str, Any], wrong: str
) -> None:
    """As if Paddle had passed the wish over."""
    wish = asked(build, tmp_path, backend="tensorrt", precision="fp16")
    found = mismatches(configured(inference, wish), replace(wish, **change))
    assert any(one.startswith(wrong) for one in found), found


def test_collecting_shapes_runs_without_tensorrt(
    inference: Any, build: Build, tmp_path: Path
) -> None:
    """The first step of a build: the smallest and the largest batch, and a file of ranges."""
    wish = asked(build, tmp_path, backend="tensorrt", precision="fp16")
    config = configured(inference, wish, Purpose.COLLECT)
    assert mismatches(config, wish, Purpose.COLLECT) == []
    assert not config.tensorrt_engine_enabled()
    assert summary_of(config)["collect_shape_range_info"] == str(tmp_path / SHAPES_FILE)


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_plain_kernels_as_asked_are_read_back(
    inference: Any, build: Build, tmp_path: Path, precision: Any
) -> None:
    """The summary says the precision; TensorRT is off."""
    wish = asked(build, tmp_path, precision=precision)
    config = configured(inference, wish)
    assert mismatches(config, wish) == []
    summary = summary_of(config)
    assert summary["mixed_precision_mode"] == precision
    assert summary["use_tensorrt"] == "false"
    assert summary["memory_optim"] == "true"


@pytest.mark.parametrize("asked_precision", ["fp16", "fp32"])
def test_another_plain_precision_than_asked_is_named(
    inference: Any, build: Build, tmp_path: Path, asked_precision: Any
) -> None:
    """In the summary only: no flag says it."""
    other = "fp32" if asked_precision == "fp16" else "fp16"
    config = configured(inference, asked(build, tmp_path, precision=other))
    found = mismatches(config, asked(build, tmp_path, precision=asked_precision))
    assert f"summary mixed_precision_mode: asked {asked_precision}, got {other}" in found


def test_the_cpu_is_served_by_this_wheel_too(inference: Any, build: Build) -> None:
    """A line of the CPU runs with it, read back."""
    wish = asked_of(SPEC, PaddleEngine(kind="paddle"), build, batch_max=4)
    assert wish.route is Route.CPU_ONEDNN
    assert mismatches(configured(inference, wish), wish) == []


@pytest.mark.parametrize("backend", ["auto", "tensorrt"])
def test_without_a_card_the_engine_is_refused(backend: Any) -> None:
    """Not run on the CPU: Paddle's own warning says that it would be."""
    if not has_no_card():
        pytest.skip("there is a card here")
    settings = PaddleEngine(kind="paddle", device="gpu", backend=backend)
    with pytest.raises(EngineRefused, match="card 0 was asked for, Paddle finds 0"):
        load(SPEC, settings, 4, lambda *_args, **_fields: None)
    with pytest.raises(EngineRefused, match="nvidia-smi"):
        card_of(SPEC.name, 0, with_tensorrt=backend == "tensorrt")


def test_mps_without_its_server_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA would run without it and not say so."""
    monkeypatch.setenv("CUDA_MPS_PIPE_DIRECTORY", str(tmp_path))
    settings = PaddleEngine(kind="paddle", device="gpu", gpu=Gpu(mps=True))
    with pytest.raises(EngineRefused, match="no MPS server listens"):
        asked_here(SPEC, settings, 4, has_calibration=False)
