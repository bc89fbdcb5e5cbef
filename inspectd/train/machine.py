"""How paddle uses this machine: must be called before paddle is imported.

Paddle's CPU wheel carries a 2019 MKL that takes a slow path on AMD processors unless told not to:
telling it doubled training speed (measured on a 2-core EPYC, Paddle 3.3.1: 43 against 87 GFLOP/s on
3x3 convolutions). This wheel does not use oneDNN in dygraph mode, whatever `FLAGS_use_mkldnn` says.
"""

import os
import shlex
from pathlib import Path

__all__ = ["prepare_cpu", "shown_command"]


def prepare_cpu(threads: int) -> None:
    """Set thread count and MKL code path in this process's environment; values already set stay."""
    os.environ.setdefault("OMP_NUM_THREADS", str(threads or os.cpu_count() or 1))
    os.environ.setdefault("MKL_NUM_THREADS", os.environ["OMP_NUM_THREADS"])
    info = Path("/proc/cpuinfo")
    text = info.read_text() if info.is_file() else ""
    if "AuthenticAMD" in text and "avx2" in text and "fma" in text:
        os.environ.setdefault("MKL_DEBUG_CPU_TYPE", "5")


def shown_command(arguments: list[str]) -> str:
    """Answer the command line as it may be published: absolute paths keep their last two parts."""
    shown = []
    for word in arguments:
        path = Path(word)
        shown.append("/".join(path.parts[-2:]) if path.is_absolute() else word)
    return shlex.join(["inspectd", *shown])
