"""What a Paddle was built with is read from its files."""

import importlib.util
from pathlib import Path

import pytest

from inspectd.model import distributions
from inspectd.stages.infer.routes import Build
from inspectd.stages.infer.wheel import installed_build, read_build

# The lines that matter of the wheels' own files: paddlepaddle 3.3.1, paddlepaddle-gpu 2.6.2.
CPU_3 = (
    "full_version     = '3.3.1'\ncuda_version     = 'False'\n"
    "commit = '768849'\ntensorrt_version = 'None'\n"
)
GPU_2 = (
    "full_version     = '2.6.2'\ncuda_version     = '11.8'\n"
    "cudnn_version    = '8.6.0'\ncommit = '8ce0de'\n"
)
GPU_3 = "full_version     = '3.3.1'\ncuda_version     = '12.6'\ntensorrt_version = '10.5.0.18'\n"


def package(folder: Path, version: str, *files: str) -> Path:
    """A folder that looks like an installed `paddle`."""
    for name in ("version/__init__.py", *files):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(version, encoding="utf-8")
    return folder


def test_a_cpu_wheel_has_no_cuda_and_no_tensorrt(tmp_path: Path) -> None:
    """`False` and `None` are how Paddle writes it."""
    build = read_build(package(tmp_path, CPU_3, "libs/libopenvino.so.2500"))
    assert build == Build(version=(3, 3, 1), commit="768849", has_openvino=True)
    assert build.words == "Paddle 3.3.1, CPU build"


def test_a_gpu_wheel_says_which_cuda(tmp_path: Path) -> None:
    """That of 2.6 does not say which TensorRT."""
    build = read_build(package(tmp_path, GPU_2))
    assert build == Build(version=(2, 6, 2), commit="8ce0de", cuda="11.8", cudnn="8.6.0")


def test_a_gpu_wheel_of_3_says_its_tensorrt(tmp_path: Path) -> None:
    """And whether its converter is there."""
    build = read_build(package(tmp_path, GPU_3, "tensorrt/export.py"))
    assert build == Build(version=(3, 3, 1), cuda="12.6", tensorrt="10.5.0.18", has_converter=True)


@pytest.mark.parametrize("text", ["", "full_version = ''\n", "version = 3\n"])
def test_a_package_that_does_not_say_is_not_recognised(tmp_path: Path, text: str) -> None:
    """Some other module of this name."""
    assert read_build(package(tmp_path, text)) is None
    assert read_build(tmp_path / "nowhere") is None


@pytest.mark.paddle
@pytest.mark.skipif(importlib.util.find_spec("paddle") is None, reason="paddle is not installed")
def test_the_installed_wheel_is_recognised() -> None:
    """As the package manager knows it."""
    build = installed_build()
    assert build is not None
    (version,) = set(distributions.installed().values())
    assert ".".join(map(str, build.version)) == version
    assert bool(build.cuda) == (distributions.GPU in distributions.installed())
