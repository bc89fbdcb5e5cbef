"""Models, and what runs them."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from inspectd.config.schema.key import key

__all__ = ["Engine", "Model", "PaddleEngine", "ScriptedEngine", "Template"]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class PaddleEngine:
    """Paddle Inference in a process of its own."""

    kind: Literal["paddle"] = key()
    device: Literal["cpu", "gpu"] = key("cpu")
    """gpu needs `paddlepaddle-gpu`; it is read back, never assumed."""
    backend: Literal["onednn", "openvino", "plain"] = key("onednn")
    """CPU: which kernels run. openvino takes .pdmodel models only."""
    threads: int = key(1, ge=1, le=64)
    """CPU threads of one run."""
    self_test: Literal["refuse", "fall_back"] = key("refuse")
    """When the golden frame gives other values than stored: refuse the model, or try `plain`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedEngine:
    """No model: sleeps and finds nothing. For measuring the pipeline, never for a line."""

    kind: Literal["scripted"] = key()
    base_ms: float = key(4.0, ge=0)
    """Time of a run before its first frame."""
    per_frame_ms: float = key(2.0, ge=0)
    """Further time for each frame of the batch."""


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
