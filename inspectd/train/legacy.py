"""A Paddle 2.6 beside ours, for the one thing Paddle 3 cannot do: write `model.pdmodel`.

The legacy format is what TensorRT in the PyPI GPU wheel and the OpenVINO engine read. Weights cross
as npz, the network as source, so nothing of inspectd is installed there.
"""

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspectd.errors import UsageFault

__all__ = ["legacy_python", "write_legacy_graph"]

_REQUIREMENTS = ["paddlepaddle==2.6.2", "numpy<2", "setuptools<81"]
_NEWEST_PYTHON = (3, 12)
"""Newest Python with a 2.6.2 wheel on PyPI."""


def legacy_python(given: str | None) -> Path:
    """Answer a Python that has Paddle 2.6: the one given, or one made in the user's cache folder.

    Raises:
        UsageFault: it cannot be had; says what to do.
    """
    if given is not None:
        python = Path(given)
        if not python.is_file():
            raise UsageFault("no such Python", given, "give the python of a Paddle 2.6 environment")
        return python
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "inspectd" / "paddle-2.6.2"
    python = folder / "bin" / "python"
    if (folder / "complete").is_file():
        return python
    if sys.version_info[:2] > _NEWEST_PYTHON:
        raise UsageFault(
            f"Paddle 2.6.2 has no wheel for Python {sys.version_info[0]}.{sys.version_info[1]}",
            "export --format pdmodel",
            "give --legacy-python of an environment with paddlepaddle 2.6.2",
        )
    print(f"making a Paddle 2.6.2 environment in {folder} (once, about 600 MB)", flush=True)
    venv.create(folder, with_pip=True, clear=True)
    _run([str(python), "-m", "pip", "install", "--quiet", *_REQUIREMENTS], str(folder))
    (folder / "complete").touch()
    return python


def write_legacy_graph(
    python: Path, shape: dict[str, Any], weights: dict[str, NDArray[np.float32]], out: Path
) -> None:
    """Run `export_graph.py` under `python`; see `write_graph` for the arguments."""
    with tempfile.TemporaryDirectory(prefix="inspectd-export-") as folder:
        shape_file, weight_file = Path(folder) / "shape.json", Path(folder) / "weights.npz"
        shape_file.write_text(json.dumps(shape))
        np.savez(weight_file, **weights)  # type: ignore[arg-type]
        script = Path(__file__).with_name("export_graph.py")
        _run([str(python), str(script), str(shape_file), str(weight_file), str(out)], str(python))
    if not (out / "model.pdmodel").is_file():
        raise UsageFault(
            "wrote no model.pdmodel", str(python), "give the python of a Paddle 2.6 environment"
        )


def _run(command: list[str], where: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise UsageFault(
            f"failed ({last})", where, "see that it has paddlepaddle 2.6 and network access"
        )
