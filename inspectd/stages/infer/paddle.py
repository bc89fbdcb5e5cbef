"""EDGE (paddle): one Paddle Inference predictor."""

import importlib
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from inspectd.config.schema import PaddleEngine
from inspectd.errors import EngineFault, EngineRefused
from inspectd.model import distributions
from inspectd.model.spec import ModelSpec
from inspectd.stages.infer.asking import Asked, asked_of
from inspectd.stages.infer.configure import Purpose, configured, mismatches
from inspectd.stages.infer.engine import Array, Batch
from inspectd.stages.infer.routes import Backend, Device
from inspectd.stages.infer.wheel import installed_build

__all__ = ["Paddle", "imported"]


class Paddle:
    """One predictor; for one thread of one process."""

    def __init__(
        self,
        spec: ModelSpec,
        *,
        device: Device = "cpu",
        backend: Backend = "auto",
        threads: int = 1,
        cache: Path | None = None,
        asked: Asked | None = None,
        purpose: Purpose = Purpose.SERVE,
    ) -> None:
        """Load the model's program.

        Args:
            spec: the model.
            device: where it shall run; read back.
            backend: kernels; `openvino` takes `.pdmodel` programs only.
            threads: of one run on the CPU.
            cache: folder for what the backend may keep between starts.
            asked: everything about it, decided before; the four above are then not looked at.
            purpose: what it is for.

        Raises:
            EngineRefused: Paddle is missing, doubled, cannot do what was asked, or cannot load it.
        """
        self._spec = spec
        if asked is None:
            distributions.require(spec.name, device)
            wanted = PaddleEngine(kind="paddle", device=device, backend=backend, threads=threads)
            asked = replace(asked_of(spec, wanted, installed_build()), cache=cache)
        else:
            distributions.require(spec.name, "gpu" if asked.route.is_gpu else "cpu")
        self._asked = asked
        self._predictor: Any = self._created(imported(spec.name), purpose)
        self._inputs = {
            name: self._predictor.get_input_handle(name)
            for name in self._predictor.get_input_names()
        }
        self._outputs = [
            self._predictor.get_output_handle(name) for name in self._predictor.get_output_names()
        ]

    def run(self, images: Batch, side: Mapping[str, Batch]) -> Sequence[Array]:
        """Run the program on a batch; one copy in, one copy out."""
        try:
            for name, handle in self._inputs.items():
                handle.copy_from_cpu(np.ascontiguousarray(side.get(name, images)))
            self._predictor.run()
            return [np.asarray(handle.copy_to_cpu()) for handle in self._outputs]
        except Exception as error:
            raise EngineFault(self._spec.name, _first_line(error)) from error

    def describe(self) -> Mapping[str, str]:
        """What was asked, and found again in the configuration the predictor was made with."""
        asked = self._asked
        version = importlib.import_module("paddle").__version__
        described = {
            "kind": "paddle",
            "version": str(version),
            "format": asked.program.format,
            "device": "gpu" if asked.route.is_gpu else "cpu",
            "backend": asked.route.value,
            "precision": asked.precision,
        }
        if asked.route.is_gpu:
            described["gpu"] = str(asked.gpu.id)
        return described

    def close(self) -> None:
        """Take the predictor down; what it collected is written now."""
        self._inputs, self._outputs, self._predictor = {}, [], None

    # ------------------------------------------------------------ inside

    def _created(self, inference: Any, purpose: Purpose) -> Any:
        asked, program = self._asked, self._asked.program
        try:
            config = configured(inference, asked, purpose)
        except AttributeError as error:
            raise EngineRefused(
                self._spec.name,
                f"this Paddle is too old for {asked.route.value} with .{program.format} ({error})",
                "install Paddle 3, or give it a .pdmodel program and the backend onednn",
            ) from error
        except Exception as error:
            what = f"Paddle cannot be set up for {asked.route.value} ({_first_line(error)})"
            raise EngineRefused(self._spec.name, what, "correct `engine`, or the card") from error
        wrong = mismatches(config, asked, purpose)
        if wrong:
            what = f"Paddle does not take what is asked: {'; '.join(wrong)}"
            raise EngineRefused(self._spec.name, what, "correct `engine`, or use another Paddle")
        try:
            return inference.create_predictor(config)
        except Exception as error:
            raise EngineRefused(
                self._spec.name,
                f"{program.program_path} cannot be loaded ({_first_line(error)})",
                "export it again with this version of Paddle, or as .pdmodel",
            ) from error


def imported(model: str) -> Any:
    """Import Paddle Inference without its remarks.

    Raises:
        EngineRefused: it cannot be imported.
    """
    os.environ.setdefault("GLOG_minloglevel", "2")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module("paddle.inference")
    except ImportError as error:
        raise EngineRefused(
            model,
            f"Paddle cannot be imported ({_first_line(error)})",
            "install what is missing (Debian: libgomp1), or the wheel again",
        ) from error


def _first_line(error: BaseException) -> str:
    """The telling line of Paddle's many."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if "Error:" in line or "Error]" in line]
    return (telling or lines or [type(error).__name__])[0][:300]
