"""What is known of a detector from its directory alone, as one frozen value.

Every process of a line that has to do with the model works from the same `ModelSpec`: the gate lays
out tensors by it, the inference process loads the program it names, the judge decodes by it.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = [
    "Colour",
    "Format",
    "Layout",
    "LetterBox",
    "ModelSpec",
    "Nms",
    "Normalize",
    "Op",
    "Pad",
    "Program",
    "Resize",
    "TemplateChannel",
    "TemplateChannels",
]

Format: TypeAlias = Literal["pdmodel", "json"]
Colour: TypeAlias = Literal["rgb", "bgr"]
TemplateChannel: TypeAlias = Literal["image", "template", "absdiff"]
Layout: TypeAlias = Literal["found", "scores"]
"""What the program answers. found: rows of class, score, x1, y1, x2, y2 for all frames of the
batch, and how many rows each frame has (NMS is in the graph). scores: boxes (B, A, 4) and scores
(B, C, A) for every anchor (NMS is ours)."""


@dataclass(frozen=True, slots=True)
class TemplateChannels:
    """The channels are grey pictures: the frame, its golden template, their difference."""

    channels: tuple[TemplateChannel, ...] = ("image", "template", "absdiff")
    """`absdiff` is the absolute difference of grey values, at frame size."""


@dataclass(frozen=True, slots=True)
class Resize:
    """Stretch to the target, or, with `keep_ratio`, scale into it as PaddleDetection does."""

    height_px: int
    width_px: int
    keep_ratio: bool
    interpolation: int
    """A `cv2.INTER_*` number; the directory's `interp`."""


@dataclass(frozen=True, slots=True)
class LetterBox:
    """Scale into the target and centre the picture; the border has one colour."""

    height_px: int
    width_px: int
    fill: int
    """0 to 255, all channels."""


@dataclass(frozen=True, slots=True)
class Pad:
    """Fill to a fixed size at the right and at the bottom."""

    height_px: int
    width_px: int
    fill: tuple[int, ...]
    """0 to 255 per channel of the tensor."""


@dataclass(frozen=True, slots=True)
class Normalize:
    """`(pixel * scale - mean) / std` per channel of the tensor, computed in float32."""

    mean: tuple[float, ...]
    std: tuple[float, ...]
    is_scale: bool
    """Whether the pixel is multiplied by 1/255 first."""


Op: TypeAlias = TemplateChannels | Resize | LetterBox | Pad | Normalize


@dataclass(frozen=True, slots=True)
class Nms:
    """How our own suppression of overlapping boxes is to work, for programs without one."""

    kind: Literal["MultiClassNMS"] = "MultiClassNMS"
    """Boxes compete within their class, or all with all when `class_agnostic`."""
    iou_threshold: float = 0.6
    """A box that overlaps a better one by more than this is dropped."""
    score_threshold: float = 0.01
    """Boxes at or below do not take part."""
    top_k: int = 1000
    """So many of the best boxes of each class take part; -1: all."""
    keep_top_k: int = 100
    """So many of the best remain of the frame; -1: all."""
    class_agnostic: bool = False
    """One object under two classes is one object: its better class stays."""


@dataclass(frozen=True, slots=True)
class Program:
    """One stored form of the network."""

    format: Format
    program_path: str
    params_path: str


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A detector directory, understood."""

    name: str
    """`Global.model_name` of the directory's file, else the folder's name."""
    arch: str
    path: str
    config_path: str
    """The YAML file that all of this was read from."""
    programs: tuple[Program, ...]
    """At least one; `.pdmodel` first (it runs on every Paddle and every CPU backend)."""
    labels: tuple[str, ...]
    """By class number."""
    colour: Colour
    """Order of the tensor's channels when they are colours; frames arrive blue, green, red."""
    ops: tuple[Op, ...]
    """In the order in which they are applied."""
    tensor_shape: tuple[int, int, int]
    """Channels, height, width of one frame's float32 tensor."""
    inputs: tuple[str, ...]
    """What the program wants: `image` and perhaps `scale_factor`, `im_shape`, in its order."""
    outputs: tuple[tuple[str, tuple[int, ...]], ...]
    """Names and shapes of what it answers; -1 for the batch and other free sizes."""
    layout: Layout
    draw_threshold: float
    """Score from which the publisher would draw a box; rules have their own limits."""
    nms: Nms
    """Used with layout `scores` only."""
    raw_bytes_max: int
    """Upper limit of one frame's outputs in bytes: from the program's shapes; for `found`,
    `FOUND_ROWS_MAX` rows."""
    digest: str
    """SHA-256 over config, programs and parameters, first 12 hex digits."""

    @property
    def wants_template(self) -> bool:
        """Whether a golden picture of each part is among the channels."""
        return any(
            isinstance(op, TemplateChannels) and set(op.channels) != {"image"} for op in self.ops
        )

    @property
    def is_in_frame_pixels(self) -> bool:
        """Whether the program divides by `scale_factor`, and so answers at frame scale."""
        return "scale_factor" in self.inputs

    def program(self, wanted: Format | None = None) -> Program | None:
        """Answer the preferred program, or that of one format (None when there is none)."""
        return next((each for each in self.programs if wanted in (None, each.format)), None)
