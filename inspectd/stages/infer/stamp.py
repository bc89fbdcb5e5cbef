"""What a built engine is good for: every circumstance that it was built in; pure.

TensorRT engines are plans for one card, driver, version and shape. Paddle looks at none of these
when it finds one on disk: it uses a foreign one, or builds for ten minutes without a word. So each
cache has a stamp beside it, and one field that differs makes it stale.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

__all__ = ["Difference", "Stamp", "decoded", "differences", "encoded"]

_FORMAT = 1
"""Of the stamp file; another one is not read, and its cache is stale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """The circumstances of an engine, as texts."""

    model: str
    """Digest of the model directory."""
    program: str
    """`pdmodel` or `json`."""
    route: str
    paddle: str
    commit: str
    tensorrt: str
    """Built with / found at run time."""
    cuda: str
    cudnn: str
    driver: str
    gpu: str
    """Name of the card."""
    compute: str
    """Compute capability."""
    precision: str
    shapes: str
    """Of every input: smallest, best, largest."""
    fp32_ops: str
    min_subgraph_size: str
    workspace_mb: str
    calibration: str
    """Digest of the pictures; empty: none."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One circumstance that has changed."""

    field: str
    kept: str
    now: str

    def __str__(self) -> str:
        """Read as `field: kept -> now`."""
        return f"{self.field}: {self.kept or 'none'} -> {self.now or 'none'}"


def differences(kept: Stamp, now: Stamp) -> tuple[Difference, ...]:
    """Answer the fields in which two stamps differ; none: the engine may be used."""
    was, is_ = asdict(kept), asdict(now)
    return tuple(Difference(name, was[name], is_[name]) for name in was if was[name] != is_[name])


def encoded(stamp: Stamp, files: Mapping[str, str]) -> str:
    """Answer the text of a stamp file: the circumstances, and the digest of every kept file."""
    content = {"format": _FORMAT, "stamp": asdict(stamp), "files": dict(sorted(files.items()))}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def decoded(text: str) -> tuple[Stamp, dict[str, str]] | None:
    """Read a stamp file; None: it is cut short, of another format, or no stamp."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        return None
    said, files = _texts(content.get("stamp")), _texts(content.get("files"))
    if said is None or files is None or set(said) != {field.name for field in fields(Stamp)}:
        return None
    return Stamp(**said), files


def _texts(value: object) -> dict[str, str] | None:
    """Answer a mapping of texts; None: it is none."""
    if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
        return None
    return dict(value)
