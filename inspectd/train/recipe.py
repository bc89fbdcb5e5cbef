"""What a training recipe may say.

A recipe is a small YAML file: everything that shapes the weights except the data and the machine.
Unknown keys are refused by name, so that a misspelt key never trains the default in silence.
"""

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

import yaml

from inspectd.errors import UsageFault

__all__ = ["Augment", "Network", "Recipe", "load_recipe", "recipe_from_dict", "recipe_to_dict"]

_SHIPPED = Path(__file__).parent / "recipes"


@dataclass(frozen=True, slots=True)
class Network:
    """Shape of the detector; see `inspectd.train.network.Detector`."""

    widths: list[int] = field(default_factory=lambda: [24, 48, 96, 128])
    """Channels at strides 4, 8, 16 and 32."""
    depths: list[int] = field(default_factory=lambda: [1, 2, 3, 2])
    """Residual 3x3 convolutions at strides 4, 8, 16 and 32."""
    neck_width: int = 64
    """Channels of the pyramid and the heads."""
    levels: list[int] = field(default_factory=lambda: [8, 16, 32])
    """Strides that carry a head."""


@dataclass(frozen=True, slots=True)
class Augment:
    """What is varied between two looks at the same picture. Zero or false means never."""

    flip: bool = True
    """Mirror left-right, half of the time."""
    quarter_turns: bool = False
    """All eight mirrored and turned versions: for parts without an up side."""
    scale: float = 0.0
    """Zoom by up to 1 +- this factor (0.3: from 0.7 to 1.3)."""
    stretch: float = 0.0
    """Change of the aspect ratio by up to this factor."""
    move: float = 0.0
    """Shift by up to this share of the picture side."""
    colour: float = 0.0
    """Strength of brightness, contrast, saturation and hue changes, 0 to 1."""
    blur: float = 0.0
    """Chance of a blur of up to 1.5 px sigma."""
    noise: float = 0.0
    """Chance of Gaussian noise of up to 8 grey levels."""
    template_shift_px: int = 0
    """Shift between picture and template of up to this many pixels, each direction."""
    remove_class: str = ""
    """Class that is painted out (cv2.inpaint) with its label: a part that is missing."""
    remove: float = 0.0
    """Chance, per picture, that some objects of `remove_class` are painted out."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """One way to train one model."""

    name: str
    """Of the model; also the `arch` suffix in `infer_cfg.yml`."""
    classes: list[str]
    """In the order of the score channels; names as in the COCO categories."""
    input_px: int = 320
    """Side of the square network input at inference."""
    train_px: int = 0
    """Side of the square crop used in training, taken at input scale; 0 means `input_px`."""
    template: bool = False
    """Channels are picture, template and absolute difference (grey) instead of R, G, B."""
    mean: list[float] = field(default_factory=lambda: [0.5, 0.5, 0.5])
    """Of the input after scaling to 0..1, per channel."""
    std: list[float] = field(default_factory=lambda: [0.25, 0.25, 0.25])
    network: Network = field(default_factory=Network)
    augment: Augment = field(default_factory=Augment)
    batch: int = 16
    """Pictures a step; times `accumulate` gives the effective batch."""
    accumulate: int = 1
    """Steps whose gradients are summed before the weights move."""
    learning_rate: float = 0.002
    """Peak of a warm-up and cosine over the budget."""
    weight_decay: float = 0.05
    ema: float = 0.998
    """Decay of the averaged weights that are evaluated and exported; 0 means none."""
    minutes: float = 0.0
    """Wall-clock budget; 0 means that `steps` or `epochs` rules."""
    steps: int = 0
    """Budget in weight updates; 0 means that `minutes` or `epochs` rules."""
    epochs: float = 0.0
    """Budget in passes over the pictures; 0 means that `minutes` or `steps` rules."""
    seed: int = 1
    validate_key: str = ""
    """Key of a COCO image by which a part is held out; empty: every `validate_every`-th image."""
    validate_values: list[str] = field(default_factory=list)
    """Values of `validate_key` that are held out."""
    validate_every: int = 0
    """Hold out each n-th image; 0 means none."""
    nms_iou: float = 0.5
    """Of the NMS block in `infer_cfg.yml`."""
    score_threshold: float = 0.4
    """`draw_threshold` in `infer_cfg.yml`."""
    credit: str = ""
    """For the model card: source and licence of the training data."""
    limits: str = ""
    """For the model card: what the model must not be trusted with."""


def load_recipe(name: str) -> Recipe:
    """Read a recipe by the name of a shipped one or by path.

    Raises:
        UsageFault: no such file, not YAML, an unknown key, or a value of the wrong type.
    """
    path = Path(name)
    if not path.suffix:
        path = _SHIPPED / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in _SHIPPED.glob("*.yaml")))
        raise UsageFault("no such recipe", name, f"give a YAML file or one of: {known}")
    try:
        data = yaml.safe_load(path.read_text())
    except (yaml.YAMLError, ValueError) as fault:
        raise UsageFault(f"not YAML ({fault})", str(path), "correct the file") from fault
    return recipe_from_dict(data, str(path))


def recipe_from_dict(data: Any, where: str) -> Recipe:
    """Build a recipe from plain values; `where` names their source in faults."""
    recipe: Recipe = _build(Recipe, data, where, "")
    if recipe.input_px % 32 or recipe.train_px % 32:
        raise UsageFault("input_px and train_px must be multiples of 32", where, "correct them")
    if len(recipe.network.widths) != len(recipe.network.depths):
        raise UsageFault(
            "network.widths and network.depths differ in length", where, "correct them"
        )
    return recipe


def recipe_to_dict(recipe: Recipe) -> dict[str, Any]:
    """Answer the recipe as plain values, e.g. for a checkpoint."""
    return dataclasses.asdict(recipe)


def _build(kind: Any, data: Any, where: str, prefix: str) -> Any:
    if not isinstance(data, dict):
        raise UsageFault(f"{prefix or 'the file'} must be a mapping", where, "correct it")
    hints = get_type_hints(kind)
    unknown = sorted(set(map(str, data)) - set(hints))
    if unknown:
        keys = ", ".join(prefix + key for key in unknown)
        raise UsageFault(f"unknown key {keys}", where, f"known are: {', '.join(hints)}")
    values = {key: _value(hints[key], value, where, prefix + key) for key, value in data.items()}
    required = {
        f.name
        for f in dataclasses.fields(kind)
        if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    }
    if missing := sorted(required - set(values)):
        raise UsageFault(f"key {', '.join(missing)} is missing", where, "add it")
    return kind(**values)


def _value(hint: Any, value: Any, where: str, key: str) -> Any:
    if dataclasses.is_dataclass(hint):
        return _build(hint, value, where, key + ".")
    if getattr(hint, "__origin__", None) is list:
        (item,) = hint.__args__
        if isinstance(value, list):
            return [_value(item, each, where, key) for each in value]
    elif hint is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    elif isinstance(value, hint) and (hint is bool or not isinstance(value, bool)):
        return value
    wanted = str(getattr(hint, "__name__", hint))
    raise UsageFault(f"{key}: expected {wanted}, got {value!r}", where, "correct the value")
