"""Models, and what runs them."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from inspectd.config.schema.key import key

__all__ = [
    "Engine",
    "Gpu",
    "Model",
    "PaddleEngine",
    "ScriptedEngine",
    "Template",
    "Tensorrt",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A detector as PaddleDetection (`infer_cfg.yml`) or PaddleX 3 (`inference.yml`) export it."""

    name: str = key(is_name=True)
    """How stations refer to it."""
    path: str = key(is_path=True)
    """The directory."""
    batch_max: int = key(8, ge=1, le=64)
    """Most frames in one run."""
    max_wait_ms: float = key(0.0, ge=0, le=1000)
    """How long a frame may wait for others to fill a batch; 0: never (batches under load still)."""
    calibration: str = key("", is_path=True)
    """For `precision: int8`, which alone looks at it: a folder of pictures as the line sees them,
    good and bad parts. Not needed for a program that was quantised before its export."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """The card, for `device: gpu`."""

    id: int = key(0, ge=0, le=15)
    """Which card, as CUDA counts them."""
    memory_pool_mb: int = key(512, ge=16, le=65536)
    """First size of Paddle's memory pool on the card; it grows."""
    mps: bool = key(False)
    """true: share the card through a running CUDA MPS server. Risk: killing a process with work
    under way can hang the card for all others. false: a running server is not joined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensorrt:
    """How TensorRT engines are made and kept, for `backend: tensorrt`."""

    route: Literal["auto", "engine", "convert"] = key("auto")
    """engine: Paddle's older way, for .pdmodel programs. convert: Paddle 3's, for .json programs.
    auto: whichever fits the model and the installed Paddle."""
    min_subgraph_size: int = key(3, ge=1, le=1000)
    """Groups of fewer operators are left to Paddle's own kernels."""
    workspace_mb: int = key(1024, ge=16, le=65536)
    """Memory on the card that TensorRT may use while it works."""
    use_static: bool = key(True)
    """Keep built engines on disk. false: every start builds, which takes minutes."""
    cache: str = key("", is_path=True)
    """Where they are kept. Empty: the service's cache folder, else the user's."""
    stale: Literal["refuse", "rebuild"] = key("refuse")
    """No engine is kept, or it was built for another model, card, driver, version or setting.
    refuse: the line does not start until `inspectd engine build` was run. rebuild: it is built at
    the start, minutes in which the PLC does not see Ready."""
    fp32_ops: tuple[str, ...] = key(())
    """Types of operators that keep FP32, e.g. [softmax], where half precision spoils the result."""
    calibration_min_pictures: int = key(500, ge=1)
    """Fewer pictures in a `calibration` folder are refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaddleEngine:
    """Paddle Inference in a process of its own."""

    kind: Literal["paddle"] = key()
    device: Literal["cpu", "gpu"] = key("cpu")
    """gpu needs `paddlepaddle-gpu`; it is read back, never assumed."""
    backend: Literal["auto", "onednn", "openvino", "plain", "tensorrt"] = key("auto")
    """Which kernels run. CPU: onednn, openvino (.pdmodel models only), plain. GPU: plain (Paddle's
    CUDA kernels), tensorrt. auto: onednn on the CPU, plain on the GPU."""
    precision: Literal["fp32", "fp16", "int8"] = key("fp32")
    """Of the arithmetic. fp16 needs the GPU, int8 needs TensorRT. `inspectd engine parity` shows
    what it costs."""
    threads: int = key(1, ge=1, le=64)
    """CPU threads of one run."""
    self_test: Literal["refuse", "fall_back"] = key("refuse")
    """When the golden frame gives other values than stored: refuse the model, or try `plain` (on
    the CPU only)."""
    memory_optim: bool = key(True)
    """Let tensors that are not needed at the same time share memory."""
    gpu: Gpu | None = key(None)
    """The card; none: the first one, with defaults."""
    tensorrt: Tensorrt | None = key(None)
    """How TensorRT engines are made; none: the defaults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedEngine:
    """No model: sleeps and finds nothing. For measuring the pipeline, never for a line."""

    kind: Literal["scripted"] = key()
    base_ms: float = key(4.0, ge=0)
    """Time of a run before its first frame."""
    per_frame_ms: float = key(2.0, ge=0)
    """Further time for each frame of the batch."""
    runs_ms: tuple[float, ...] = key((), ge=0)
    """Measured times of a run with 1, 2, 3, ... frames, e.g. of a card; instead of the two above. A
    larger batch than the table has goes on with the step between its last two."""


Engine: TypeAlias = PaddleEngine | ScriptedEngine


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A golden picture per part, for models whose channels include the template."""

    folder: str = key(is_path=True)
    """Where the pictures lie."""
    pattern: str = key("{part_id}.png", nonempty=True)
    """File name; `{part_id}` is the part's name. A name without it serves all parts."""
    strip_suffix: str = key("")
    """Taken off the end of the part's name first, e.g. `_test`."""
