"""EDGE (paddle): what the installed Paddle was built with, read from its files where they say it.

`inspectd check` needs this for every station file, and an import of Paddle takes seconds. Only the
TensorRT of GPU wheels before 3.0 is not written down: that of PyPI's 2.6.2 answers 8.5.3 when it is
asked (seen), so it is imported when that matters.
"""

import importlib
import importlib.util
import re
import warnings
from dataclasses import replace
from pathlib import Path

from inspectd.stages.infer.routes import Build

__all__ = ["installed_build", "read_build"]

_LINE = re.compile(r"""^(\w+)\s*=\s*['"]([^'"]*)['"]""", re.MULTILINE)
_NOTHING = frozenset({"", "False", "None", "0"})
"""How Paddle writes "without" in its version file."""


def installed_build(*, ask_tensorrt: bool = False) -> Build | None:
    """Answer what is installed; None: no Paddle, or none that can be recognised.

    Args:
        ask_tensorrt: import Paddle when its files do not say which TensorRT it was built with.
    """
    spec = importlib.util.find_spec("paddle")
    if spec is None or not spec.origin:
        return None
    build = read_build(Path(spec.origin).parent)
    if build is None or build.tensorrt or not (build.cuda and ask_tensorrt):
        return build
    return replace(build, tensorrt=_asked_tensorrt())


def read_build(folder: Path) -> Build | None:
    """Answer what the files of a `paddle` package say; None: it is no such package."""
    try:
        text = (folder / "version" / "__init__.py").read_text(encoding="utf-8")
    except OSError:
        return None
    said = {name: "" if value in _NOTHING else value for name, value in _LINE.findall(text)}
    numbers = [int(number) for number in re.findall(r"\d+", said.get("full_version", ""))]
    if not numbers:
        return None
    major, minor, patch = (*numbers, 0, 0)[:3]
    return Build(
        version=(major, minor, patch),
        commit=said.get("commit", ""),
        cuda=said.get("cuda_version", ""),
        cudnn=said.get("cudnn_version", ""),
        tensorrt=said.get("tensorrt_version", ""),
        has_converter=(folder / "tensorrt" / "export.py").is_file(),
        has_openvino=any((folder / "libs").glob("*openvino*")),
    )


def _asked_tensorrt() -> str:
    """Ask Paddle; empty: it was built without."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            version = importlib.import_module("paddle.inference").get_trt_compile_version()
    except (ImportError, OSError):
        return ""
    return ".".join(map(str, version)) if any(version) else ""
