"""Which way a model takes through Paddle, or why none: one decision table, pure.

    device  backend   program   way               precision         needs of Paddle
    cpu     plain     both      CPU_PLAIN         fp32              3.x for .json
    cpu     onednn    both      CPU_ONEDNN        fp32              3.x for .json
    cpu     openvino  .pdmodel  CPU_OPENVINO      fp32              its OpenVINO engine (3.x)
    gpu     plain     both      GPU_PLAIN         fp32, fp16        CUDA; 3.x for .json
    gpu     tensorrt  .pdmodel  TENSORRT_ENGINE   fp32, fp16, int8  CUDA, TensorRT
    gpu     tensorrt  .json     TENSORRT_CONVERT  fp32, fp16, int8* CUDA, TensorRT, 3.x, converter

    * of programs that were quantised before their export; the converter cannot calibrate.

Paddle itself is silent where it cannot: a CPU build runs `device: gpu` on the CPU, and a `.json`
program with `enable_tensorrt_engine` runs without TensorRT (PaddlePaddle/Paddle#79449). Every such
case is a `Refusal` here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal, TypeAlias

from inspectd.model.spec import Format

__all__ = [
    "Artefact",
    "Backend",
    "Build",
    "Device",
    "Precision",
    "Refusal",
    "Route",
    "Wish",
    "choose",
    "decide",
]

Device: TypeAlias = Literal["cpu", "gpu"]
Backend: TypeAlias = Literal["auto", "onednn", "openvino", "plain", "tensorrt"]
Precision: TypeAlias = Literal["fp32", "fp16", "int8"]

_JSON_SINCE = (3, 0)
"""PIR programs are read from Paddle 3.0 on (2.6.2 cannot, seen)."""


class Route(Enum):
    """A way through Paddle; the value is what the log calls its backend."""

    CPU_PLAIN = "plain"
    CPU_ONEDNN = "onednn"
    CPU_OPENVINO = "openvino"
    GPU_PLAIN = "cuda"
    TENSORRT_ENGINE = "tensorrt"
    """`Config.enable_tensorrt_engine`."""
    TENSORRT_CONVERT = "tensorrt-convert"
    """`paddle.tensorrt.export.convert` writes a new program, which an ordinary Config loads."""

    @property
    def is_tensorrt(self) -> bool:
        """Whether engines are built before the first run."""
        return self in {Route.TENSORRT_ENGINE, Route.TENSORRT_CONVERT}

    @property
    def is_gpu(self) -> bool:
        """Whether it runs on a card."""
        return self is Route.GPU_PLAIN or self.is_tensorrt


@dataclass(frozen=True, slots=True)
class Artefact:
    """What the decision needs to know of a program."""

    format: Format
    is_quantised: bool = False
    """Whether it has quantise and dequantise operators in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """What an installed Paddle was built with."""

    version: tuple[int, int, int]
    commit: str = ""
    cuda: str = ""
    """Version; empty: a CPU build."""
    cudnn: str = ""
    tensorrt: str = ""
    """Version it was built with; empty: without."""
    has_converter: bool = False
    """Whether `paddle.tensorrt.export` is in it."""
    has_openvino: bool = False

    @property
    def words(self) -> str:
        """Version and kind, for people."""
        number = ".".join(map(str, self.version))
        return f"Paddle {number}, {f'CUDA {self.cuda}' if self.cuda else 'CPU build'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a station file asks for."""

    device: Device = "cpu"
    backend: Backend = "auto"
    precision: Precision = "fp32"
    route: Literal["auto", "engine", "convert"] = "auto"
    has_calibration: bool = False
    """Whether pictures for calibration are given."""
    gpu_id: int = 0


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a wish cannot be had."""

    key: str
    """The key of `engine` that asks for it; `path`: it is the model that does not fit."""
    what: str
    remedy: str

    @property
    def is_of_the_model(self) -> bool:
        """Whether another form of the model could have it."""
        return self.key == "path"


_Rule: TypeAlias = Callable[[Artefact, Build, Wish], Refusal | None]


def choose(
    artefacts: Sequence[Artefact], build: Build | None, wish: Wish
) -> tuple[int, Route] | Refusal:
    """Answer the first program that can have what is asked, by its index, and its way.

    Args:
        artefacts: the stored forms of the model, the preferred one first; at least one.
        build: the installed Paddle; None: not known, and then it is taken to be able to do all.
        wish: what is asked for.
    """
    answers = [decide(artefact, build, wish) for artefact in artefacts]
    for at, answer in enumerate(answers):
        if isinstance(answer, Route):
            return at, answer
    return next(answer for answer in answers if isinstance(answer, Refusal))


def decide(artefact: Artefact, build: Build | None, wish: Wish) -> Route | Refusal:
    """Answer the way of one program, or why it has none."""
    known = build or _able(artefact)
    for rule in _RULES:
        refusal = rule(artefact, known, wish)
        if refusal is not None:
            return refusal
    return _route(artefact, wish)


def _route(artefact: Artefact, wish: Wish) -> Route:
    """Answer the way when nothing speaks against it."""
    if wish.device == "cpu":
        return {
            "plain": Route.CPU_PLAIN,
            "openvino": Route.CPU_OPENVINO,
        }.get(wish.backend, Route.CPU_ONEDNN)
    if wish.backend != "tensorrt":
        return Route.GPU_PLAIN
    return Route.TENSORRT_ENGINE if artefact.format == "pdmodel" else Route.TENSORRT_CONVERT


def _able(artefact: Artefact) -> Build:
    """A Paddle that can do whatever any can with such a program."""
    version = (3, 3, 0) if artefact.format == "json" else (2, 6, 2)
    return Build(version=version, cuda="any", tensorrt="any", has_converter=True, has_openvino=True)


# ---------------------------------------------------------------- the rules, in this order


def _backend_fits(_artefact: Artefact, _build: Build, wish: Wish) -> Refusal | None:
    of_cpu = ("onednn", "openvino")
    if wish.device == "gpu" and wish.backend in of_cpu:
        what = f"{wish.backend} runs on the CPU only"
        return Refusal("backend", what, "choose plain or tensorrt, or device: cpu")
    if wish.device == "cpu" and wish.backend == "tensorrt":
        return Refusal("backend", "tensorrt runs on a GPU only", "choose onednn, or device: gpu")
    return None


def _precision_fits(_artefact: Artefact, _build: Build, wish: Wish) -> Refusal | None:
    if wish.device == "cpu" and wish.precision != "fp32":
        return Refusal("precision", f"the CPU runs fp32 only, not {wish.precision}", "choose fp32")
    if wish.precision == "int8" and wish.backend != "tensorrt":
        return Refusal("precision", "int8 needs TensorRT", "choose backend: tensorrt, or fp16")
    return None


def _device_is_there(_artefact: Artefact, build: Build, wish: Wish) -> Refusal | None:
    if wish.device == "gpu" and not build.cuda:
        what = f"this Paddle cannot use a GPU ({build.words})"
        return Refusal("device", what, "install inspectd[gpu] in a new environment, or choose cpu")
    return None


def _program_is_read(artefact: Artefact, build: Build, _wish: Wish) -> Refusal | None:
    if artefact.format == "json" and build.version < _JSON_SINCE:
        what = f".json programs need Paddle 3 ({build.words})"
        return Refusal("path", what, "export the model as .pdmodel, or install Paddle 3")
    return None


def _openvino_takes_it(artefact: Artefact, build: Build, wish: Wish) -> Refusal | None:
    if wish.backend != "openvino":
        return None
    if artefact.format != "pdmodel":
        return Refusal("path", "openvino takes .pdmodel programs, there is none", "choose onednn")
    if not build.has_openvino:
        what = f"this Paddle has no OpenVINO engine ({build.words})"
        return Refusal("backend", what, "choose onednn, or install paddlepaddle 3.3")
    return None


def _tensorrt_is_there(artefact: Artefact, build: Build, wish: Wish) -> Refusal | None:
    if wish.backend != "tensorrt":
        return None
    if not build.tensorrt:
        what = f"this Paddle was built without TensorRT ({build.words})"
        return Refusal("backend", what, "install a build with it, or choose backend: plain")
    if artefact.format == "json" and not build.has_converter:
        what = f"this Paddle has no paddle.tensorrt.export for .json programs ({build.words})"
        return Refusal("path", what, "export the model as .pdmodel, or choose backend: plain")
    return None


def _route_takes_it(artefact: Artefact, _build: Build, wish: Wish) -> Refusal | None:
    """`enable_tensorrt_engine` on a .json program runs without TensorRT and says nothing."""
    if wish.backend != "tensorrt":
        return None
    if wish.route == "engine" and artefact.format == "json":
        what = "route: engine takes .pdmodel programs, this is .json"
        return Refusal("tensorrt.route", what, "choose route: auto, or export it as .pdmodel")
    if wish.route == "convert" and artefact.format == "pdmodel":
        what = "route: convert takes .json programs, this is .pdmodel"
        return Refusal("tensorrt.route", what, "choose route: auto, or export it with Paddle 3")
    if artefact.format == "json" and wish.gpu_id != 0:
        what = "Paddle's converter for .json programs works on card 0 only"
        return Refusal("gpu.id", what, "use 0, and choose the card with CUDA_VISIBLE_DEVICES")
    return None


def _int8_has_its_ranges(artefact: Artefact, _build: Build, wish: Wish) -> Refusal | None:
    if wish.precision != "int8" or artefact.is_quantised:
        return None
    if artefact.format == "json":
        what = "int8 of a .json program needs one that was quantised before its export"
        return Refusal("path", what, "export it quantised, or as .pdmodel, or choose fp16")
    if not wish.has_calibration:
        what = "int8 needs pictures to calibrate with; the program is not quantised"
        return Refusal("path", what, "give the model a `calibration` folder, or choose fp16")
    return None


_RULES: tuple[_Rule, ...] = (
    _backend_fits,
    _precision_fits,
    _device_is_there,
    _program_is_read,
    _openvino_takes_it,
    _tensorrt_is_there,
    _route_takes_it,
    _int8_has_its_ranges,
)
