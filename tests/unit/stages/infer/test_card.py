"""What is asked of the driver and of the process itself."""

import os
import sys
import types
from pathlib import Path

import pytest

from inspectd.errors import EngineRefused
from inspectd.stages.infer.card import driver_version, keep_off_mps, memory_in_use, require_mps

# The first line of /proc/driver/nvidia/version, as NVIDIA's README for Linux drivers shows it.
DRIVER = (
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n"
    "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n"
)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (DRIVER, "535.104.05"),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54  Release\n", "550.54"),
        ("something else\n", "unknown"),
    ],
)
def test_the_driver_says_its_version(tmp_path: Path, text: str, version: str) -> None:
    """It is part of every stamp."""
    path = tmp_path / "version"
    path.write_text(text, encoding="utf-8")
    assert driver_version(path) == version


def test_without_a_driver_its_version_is_unknown(tmp_path: Path) -> None:
    """Two machines without one still differ in their card."""
    assert driver_version(tmp_path / "version") == "unknown"


def test_this_process_holds_some_memory() -> None:
    """No card is asked where none is used."""
    memory = memory_in_use(None)
    assert 10 < memory.rss_mb <= memory.rss_peak_mb
    assert memory.gpu_mb is None


def test_a_card_that_cannot_be_asked_has_no_figure() -> None:
    """A figure for people never stops a line."""
    assert memory_in_use(63).gpu_mb is None


def test_the_drivers_own_figure_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """NVML counts TensorRT's memory too; Paddle's pool does not."""
    nvml = types.ModuleType("pynvml")
    own = types.SimpleNamespace(pid=os.getpid(), usedGpuMemory=700 << 20)
    other = types.SimpleNamespace(pid=1, usedGpuMemory=9000 << 20)
    calls = {
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetComputeRunningProcesses": lambda _card: [other, own],
    }
    for name, call in calls.items():
        setattr(nvml, name, call)
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    assert memory_in_use(0).gpu_mb == 700


def test_mps_is_not_joined_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA finds no server where it is told to look."""
    monkeypatch.setenv("CUDA_MPS_PIPE_DIRECTORY", "/tmp/nvidia-mps")
    keep_off_mps()
    assert os.environ["CUDA_MPS_PIPE_DIRECTORY"] == os.devnull


def test_mps_that_is_asked_for_must_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA would go on without it in silence."""
    monkeypatch.setenv("CUDA_MPS_PIPE_DIRECTORY", str(tmp_path))
    with pytest.raises(EngineRefused, match="nvidia-cuda-mps-control"):
        require_mps("caps")
    (tmp_path / "control").touch()
    require_mps("caps")
