"""EDGE (paddle, the driver): which card is there, and how much memory is in use.

Nothing here has run on a card: the calls are those of Paddle 2.6 and 3.3, read; the file of the
driver is NVIDIA's documented one.
"""

import importlib
import os
import re
import resource
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspectd.errors import EngineRefused
from inspectd.stages.infer.paddle import imported

__all__ = ["Card", "Memory", "card_of", "keep_off_mps", "memory_in_use", "require_mps"]

_DRIVER = Path("/proc/driver/nvidia/version")
_MPS = "CUDA_MPS_PIPE_DIRECTORY"
_MPS_DEFAULT = "/tmp/nvidia-mps"  # noqa: S108  NVIDIA's own default
_MEGABYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Card:
    """A card, and the software that drives it."""

    name: str
    compute: str
    """Capability, e.g. 7.5 for a T4."""
    driver: str
    tensorrt: str
    """Version of the library that is loaded at run time; empty: none."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What this process holds."""

    rss_mb: int
    """In the machine's memory."""
    rss_peak_mb: int
    gpu_mb: int | None = None
    """On the card, everything included; None: not on a card, or it cannot be asked."""


def card_of(model: str, index: int, *, with_tensorrt: bool) -> Card:
    """Ask for a card.

    Args:
        model: for messages.
        index: of the card.
        with_tensorrt: whether TensorRT's library must be there.

    Raises:
        EngineRefused: there is no such card, or no TensorRT of the version Paddle was built with.
    """
    imported(model)
    cuda = importlib.import_module("paddle.device.cuda")
    count = int(cuda.device_count())
    if index >= count:
        what = f"card {index} was asked for, Paddle finds {count}"
        raise EngineRefused(model, what, "look at nvidia-smi, the driver and CUDA_VISIBLE_DEVICES")
    major, minor = cuda.get_device_capability(index)
    return Card(
        name=str(cuda.get_device_name(index)),
        compute=f"{major}.{minor}",
        driver=driver_version(_DRIVER),
        tensorrt=_tensorrt(model) if with_tensorrt else "",
    )


def driver_version(path: Path) -> str:
    """Answer the driver's version; `unknown` where it does not say."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "unknown"
    found = re.search(r"\s(\d+\.\d+(?:\.\d+)?)\s", text)
    return found[1] if found else "unknown"


def _tensorrt(model: str) -> str:
    """Answer the version at run time, which must have the major number of the one at build time."""
    inference = imported(model)
    built = tuple(inference.get_trt_compile_version())
    try:
        found = tuple(inference.get_trt_runtime_version())
    except RuntimeError as error:
        what = f"the library of TensorRT {_dotted(built)} is not found"
        remedy = "install it, and name its folder in LD_LIBRARY_PATH"
        raise EngineRefused(model, what, remedy) from error
    if found[:1] != built[:1]:
        what = f"Paddle was built with TensorRT {_dotted(built)}, found is {_dotted(found)}"
        raise EngineRefused(model, what, "install the version that Paddle was built with")
    return _dotted(found)


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


# ---------------------------------------------------------------- MPS


def keep_off_mps() -> None:
    """Have CUDA not join an MPS server: it looks for one at its first call in this process.

    A process killed as a client of MPS with work under way can hang the card for all others.
    """
    os.environ[_MPS] = os.devnull


def require_mps(model: str) -> None:
    """Refuse where the MPS server that the station file wants does not run: CUDA would not say."""
    folder = Path(os.environ.get(_MPS, _MPS_DEFAULT))
    if not (folder / "control").exists():
        what = f"gpu.mps is asked for, no MPS server listens in {folder}"
        raise EngineRefused(model, what, "start nvidia-cuda-mps-control -d, or set mps: false")


# ---------------------------------------------------------------- memory


def memory_in_use(gpu_index: int | None) -> Memory:
    """Answer what this process holds now.

    Args:
        gpu_index: of the card; None: nothing is on a card.
    """
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    rss_mb = pages * resource.getpagesize() // _MEGABYTE
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Memory(
        rss_mb=rss_mb,
        rss_peak_mb=max(rss_mb, peak_kb // 1024),
        gpu_mb=None if gpu_index is None else _gpu_mb(gpu_index),
    )


def _gpu_mb(index: int) -> int | None:
    """What the driver says of this process; else what Paddle's own pool has taken."""
    by_driver = _if_told(lambda: _by_driver(importlib.import_module("pynvml"), index))
    return by_driver or _if_told(lambda: _by_paddle(index))


def _if_told(ask: Callable[[], int | None]) -> int | None:
    """Answer a figure for people; None: it cannot be had, whatever the driver says of it."""
    try:
        return ask()
    except Exception:  # noqa: BLE001  NVML is optional, and every driver fails in its own way
        return None


def _by_driver(nvml: Any, index: int) -> int | None:
    nvml.nvmlInit()
    try:
        card = nvml.nvmlDeviceGetHandleByIndex(index)
        own = [
            one.usedGpuMemory
            for one in nvml.nvmlDeviceGetComputeRunningProcesses(card)
            if one.pid == os.getpid()
        ]
    finally:
        nvml.nvmlShutdown()
    return int(own[0]) // _MEGABYTE if own and own[0] else None


def _by_paddle(index: int) -> int:
    reserved = importlib.import_module("paddle.device.cuda").memory_reserved(index)
    return int(reserved) // _MEGABYTE
