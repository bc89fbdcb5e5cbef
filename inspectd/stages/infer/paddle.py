"""EDGE (paddle): one Paddle Inference predictor.

Paddle's silent ways are undone here: a CPU build ignores `enable_use_gpu`, so that is read back;
a `.json` program fails in its first run with oneDNN unless one pass is taken out (seen with 3.3);
the OpenVINO engine writes its cache into the current folder unless told otherwise.
"""

import importlib
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from inspectd.errors import EngineFault, EngineRefused
from inspectd.model import distributions
from inspectd.model.spec import ModelSpec, Program
from inspectd.stages.infer.engine import Array, Batch

__all__ = ["Backend", "Paddle"]

Backend: TypeAlias = Literal["onednn", "openvino", "plain"]
_JSON_TRAP = "onednn_placement_pass"
"""With it, PIR programs of 3.3 end in `ConvertPirAttribute2RuntimeAttribute` (NotImplemented)."""
_GPU_POOL_MB = 512
"""First size of the GPU's memory pool; it grows."""


class Paddle:
    """One predictor; for one thread of one process."""

    def __init__(
        self,
        spec: ModelSpec,
        *,
        device: Literal["cpu", "gpu"] = "cpu",
        backend: Backend = "onednn",
        threads: int = 1,
        cache: Path | None = None,
    ) -> None:
        """Load the model's program.

        Args:
            spec: the model.
            device: where it shall run; read back.
            backend: kernels on the CPU; `openvino` takes `.pdmodel` programs only.
            threads: of one run on the CPU.
            cache: folder for what the backend may keep between starts.

        Raises:
            EngineRefused: Paddle is missing, doubled, cannot do what was asked, or cannot load it.
        """
        self._spec = spec
        distributions.require(spec.name, device)
        self._inference = _imported(spec.name)
        program = spec.program("pdmodel" if backend == "openvino" and device == "cpu" else None)
        if program is None:
            raise EngineRefused(
                spec.name, "openvino takes .pdmodel programs, there is none", "choose onednn"
            )
        self._program = program
        try:
            config = self._config(program, device, backend, threads, cache)
        except AttributeError as error:
            raise EngineRefused(
                spec.name,
                f"this Paddle is too old for {backend} with .{program.format} ({error})",
                "install Paddle 3, or give it a .pdmodel program and the backend onednn",
            ) from error
        self._asked = {"device": device, "backend": backend if device == "cpu" else "cuda"}
        self._read_back(config)
        try:
            self._predictor = self._inference.create_predictor(config)
        except Exception as error:
            raise EngineRefused(
                spec.name,
                f"{program.program_path} cannot be loaded ({_first_line(error)})",
                "export it again with this version of Paddle, or as .pdmodel",
            ) from error
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
        """What was read back from the configuration that the predictor was made with."""
        version = importlib.import_module("paddle").__version__
        return {
            "kind": "paddle",
            "version": str(version),
            "format": self._program.format,
            **self._asked,
        }

    # ------------------------------------------------------------ inside

    def _config(
        self,
        program: Program,
        device: str,
        backend: Backend,
        threads: int,
        cache: Path | None,
    ) -> Any:
        config = self._inference.Config(program.program_path, program.params_path)
        config.disable_glog_info()
        if cache is not None:
            config.set_optim_cache_dir(str(cache))
        if program.format == "json":
            config.enable_new_ir(True)  # noqa: FBT003 - Paddle's signature
            config.enable_new_executor(True)  # noqa: FBT003 - the same
        config.enable_memory_optim()
        if device == "gpu":
            config.enable_use_gpu(_GPU_POOL_MB, 0)
            return config
        config.disable_gpu()
        config.set_cpu_math_library_num_threads(threads)
        if backend == "openvino":
            config.enable_openvino_engine(self._inference.PrecisionType.Float32)
        elif backend == "onednn":
            config.enable_mkldnn()
            if program.format == "json":
                config.delete_pass(_JSON_TRAP)
        else:
            config.disable_mkldnn()
        return config

    def _read_back(self, config: Any) -> None:
        """Refuse a configuration that is not what was asked for."""
        got = "gpu" if config.use_gpu() else "cpu"
        if got != self._asked["device"]:
            self._refuse(
                f"asked for {self._asked['device']}, this Paddle gives {got}", "correct `device`"
            )
        if self._asked["backend"] == "openvino" and not config.openvino_engine_enabled():
            self._refuse("this Paddle has no OpenVINO engine", "choose onednn")

    def _refuse(self, what: str, remedy: str) -> None:
        raise EngineRefused(self._spec.name, what, remedy)


def _imported(model: str) -> Any:
    """Import Paddle Inference without its remarks."""
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
