"""Rules between the keys of an engine; each a named function without I/O.

What the installed Paddle and the models allow is said by `inspectd.stages.infer.checks`.
"""

from collections.abc import Iterator

from inspectd.config.complaint import Complaint
from inspectd.config.schema import Gpu, PaddleEngine, Tensorrt

__all__ = [
    "backend_fits_the_device",
    "cache_has_something_to_keep",
    "convert_works_on_the_first_card",
    "gpu_settings_have_a_gpu",
    "precision_fits_device_and_backend",
    "tensorrt_settings_have_tensorrt",
]

_OF_CPU = ("onednn", "openvino")


def backend_fits_the_device(engine: PaddleEngine) -> Iterator[Complaint]:
    """`backend: onednn` and `openvino` go with `device: cpu`, `tensorrt` with `device: gpu`."""
    if engine.device == "gpu" and engine.backend in _OF_CPU:
        what = f"{engine.backend} runs on the CPU only; take it out, or use device: cpu"
        yield Complaint("backend", what)
    if engine.device == "cpu" and engine.backend == "tensorrt":
        yield Complaint("backend", "tensorrt runs on a GPU only; use device: gpu, or take it out")


def precision_fits_device_and_backend(engine: PaddleEngine) -> Iterator[Complaint]:
    """`precision: fp16` goes with `device: gpu`, `int8` with `backend: tensorrt`."""
    if engine.precision == "fp16" and engine.device == "cpu":
        what = "the CPU runs fp32 only; take it out, or use device: gpu"
        yield Complaint("precision", what)
    if engine.precision == "int8" and engine.backend != "tensorrt":
        what = "int8 needs TensorRT; use device: gpu with backend: tensorrt, or take it out"
        yield Complaint("precision", what)


def gpu_settings_have_a_gpu(engine: PaddleEngine) -> Iterator[Complaint]:
    """`gpu` is given with `device: gpu` only: elsewhere nobody looks at it."""
    if engine.gpu is not None and engine.device != "gpu":
        yield Complaint("gpu", "nothing runs on a GPU here; take it out, or use device: gpu")


def tensorrt_settings_have_tensorrt(engine: PaddleEngine) -> Iterator[Complaint]:
    """`tensorrt` is given with `backend: tensorrt` only: elsewhere nobody looks at it."""
    if engine.tensorrt is not None and engine.backend != "tensorrt":
        yield Complaint("tensorrt", "the backend is another; take it out, or use backend: tensorrt")


def cache_has_something_to_keep(tensorrt: Tensorrt) -> Iterator[Complaint]:
    """`cache` goes with `use_static: true`: without it nothing is kept."""
    if tensorrt.cache and not tensorrt.use_static:
        yield Complaint("cache", "use_static: false keeps nothing; take one of the two out")


def convert_works_on_the_first_card(engine: PaddleEngine) -> Iterator[Complaint]:
    """`tensorrt.route: convert` works on the first card: Paddle's converter knows no other."""
    settings, gpu = engine.tensorrt or Tensorrt(), engine.gpu or Gpu()
    if settings.route == "convert" and gpu.id != 0:
        what = "route: convert works on card 0 only; use 0, and choose the card from outside with"
        yield Complaint("gpu.id", f"{what} CUDA_VISIBLE_DEVICES")
