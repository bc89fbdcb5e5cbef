"""Reads the preprocessing of a model's file into typed steps, refusing what would go unnoticed.

Order of the steps is PaddleDetection's: colour, size, padding, normalisation, layout. Another order
gives other pixels, so it is a fault. Entries are `{type: Resize, ...}` (PaddleDetection, PaddleX
detectors) or `{Resize: {...}}` (PaddleX `transform_ops`).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from inspectd.model.keys import Keys
from inspectd.model.spec import (
    Colour,
    LetterBox,
    Normalize,
    Op,
    Pad,
    Resize,
    TemplateChannel,
    TemplateChannels,
)

__all__ = ["read_ops"]

_TEMPLATE_CHANNELS = ("image", "template", "absdiff")
_INTERPOLATIONS = range(5)
"""`cv2.INTER_NEAREST` to `cv2.INTER_LANCZOS4`."""
_ORDER = (
    ("DecodeImage", "ReadImage"),
    ("TemplateChannels",),
    ("Resize", "LetterBoxResize"),
    ("Pad",),
    ("NormalizeImage", "Normalize"),
    ("Permute", "ToCHWImage"),
    ("PadStride",),
)
_RANK = {name: rank for rank, names in enumerate(_ORDER) for name in names}
_LETTERBOX_FILL = 128
"""PaddleDetection fills with 127.5, which OpenCV rounds to the even 128."""
_COLOURS = 3
_SIDE_MAX = 16384
"""Memory is laid out before the first frame; this is beyond any line camera."""
_MEAN, _STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""What PaddleX assumes when its file does not say: means and deviations of ImageNet."""

_Entry = tuple[str, Keys]


def read_ops(
    keys: Keys, image_shape: Sequence[int]
) -> tuple[Colour, tuple[Op, ...], tuple[int, int, int]]:
    """Answer colour order, steps and the tensor's shape (channels, height, width).

    Args:
        keys: The whole file.
        image_shape: Channels, height, width that the program's input has; -1 where it takes any,
            empty when the program does not say.

    Raises:
        ModelFault: A step is unknown, misplaced or incomplete, or disagrees with the program.
    """
    entries = _entries(keys)
    _check_order(keys, entries)
    colour = _colour_of(entries)
    channels = _channels_of(entries)
    ops: list[Op] = []
    for name, values in entries:
        reader = _READERS.get(name)
        if reader is not None:
            ops.append(reader(values, channels))
    height, width = _size_of(keys, ops, image_shape)
    _check_strides(entries, height, width)
    shape = (channels, height, width)
    _check_program(keys, shape, image_shape)
    return colour, tuple(ops), shape


def _entries(keys: Keys) -> list[_Entry]:
    """Find the list of steps in either layout."""
    prefix, listed = "Preprocess", keys.values.get("Preprocess")
    if listed is None and "PreProcess" in keys.values:
        block = keys.child("PreProcess")
        prefix, listed = "PreProcess.transform_ops", block.values.get("transform_ops")
    if not isinstance(listed, list) or not listed:
        raise keys.fault(prefix, "expected a list of steps", "export the model again")
    return [_entry(keys, f"{prefix}[{at}]", each) for at, each in enumerate(listed)]


def _entry(keys: Keys, where: str, entry: Any) -> _Entry:
    if isinstance(entry, Mapping) and isinstance(entry.get("type"), str):
        return entry["type"], Keys(
            keys.file, where, {key: value for key, value in entry.items() if key != "type"}
        )
    if isinstance(entry, Mapping) and len(entry) == 1:
        name, values = next(iter(entry.items()))
        if values is None or isinstance(values, Mapping):
            return str(name), Keys(keys.file, where, values or {})
    raise keys.fault(where, f"expected a step with a type, found {entry!r}", "correct it")


def _check_order(keys: Keys, entries: Sequence[_Entry]) -> None:
    """Raise for unknown, repeated and misplaced steps, and when the layout step is missing."""
    last, before = -1, ""
    for name, values in entries:
        if name not in _RANK:
            known = ", ".join(sorted(_RANK))
            raise values.fault("type", f"the step {name!r} is not known", f"known are {known}")
        if _RANK[name] <= last:
            raise values.fault(
                "type",
                f"{name} may not follow {before}",
                "the order is colour, template, size, padding, normalisation, layout, once each",
            )
        last, before = _RANK[name], name
    names = {name for name, _ in entries}
    if not names & set(_ORDER[5]):
        raise keys.fault(
            "Preprocess", "has no step Permute", "tensors are channels, height, width: add it"
        )
    if "TemplateChannels" in names and names & set(_ORDER[0]):
        raise keys.fault(
            "Preprocess", "has TemplateChannels and a colour step", "its channels are grey: drop it"
        )


def _colour_of(entries: Sequence[_Entry]) -> Colour:
    """Answer the order of colours: that of the colour step, else RGB as PaddleDetection has it."""
    for name, values in entries:
        if name not in _ORDER[0]:
            continue
        values.only(("img_mode", "channel_first", "format"))
        key = "img_mode" if name == "DecodeImage" else "format"
        if values.flag("channel_first", default=False):
            raise values.fault("channel_first", "is true", "use the step Permute")
        mode = values.text(key, "RGB")
        if mode not in ("RGB", "BGR"):
            raise values.fault(key, f"is {mode!r}", "give RGB or BGR")
        return "rgb" if mode == "RGB" else "bgr"
    return "rgb"


def _channels_of(entries: Sequence[_Entry]) -> int:
    for name, values in entries:
        if name == "TemplateChannels":
            return len(_template(values, 0).channels)
    return _COLOURS


def _template(values: Keys, _channels: int) -> TemplateChannels:
    values.only(("channels",))
    channels = [str(each) for each in values.sequence("channels", _TEMPLATE_CHANNELS)]
    strange = [each for each in channels if each not in _TEMPLATE_CHANNELS]
    if strange or not channels:
        known = ", ".join(_TEMPLATE_CHANNELS)
        raise values.fault("channels", f"is {channels}", f"choose from {known}")
    return TemplateChannels(tuple(cast("list[TemplateChannel]", channels)))


def _resize(values: Keys, _channels: int) -> Resize:
    values.only(("target_size", "keep_ratio", "interp"))
    height, width = _size(values, "target_size")
    interpolation = values.integer("interp", 1)
    if interpolation not in _INTERPOLATIONS:
        raise values.fault("interp", f"is {interpolation}", "give 0 to 4, as in OpenCV")
    return Resize(height, width, values.flag("keep_ratio", default=True), interpolation)


def _letterbox(values: Keys, _channels: int) -> LetterBox:
    values.only(("target_size",))
    height, width = _size(values, "target_size")
    return LetterBox(height, width, _LETTERBOX_FILL)


def _pad(values: Keys, channels: int) -> Pad:
    values.only(("size", "fill_value"))
    height, width = _size(values, "size")
    fill = values.numbers("fill_value", (114.0,) * channels)
    if len(fill) != channels or any(each not in range(256) for each in fill):
        raise values.fault(
            "fill_value", f"is {list(fill)}", f"give {channels} whole numbers from 0 to 255"
        )
    return Pad(height, width, tuple(int(each) for each in fill))


def _normalize(values: Keys, channels: int) -> Normalize:
    values.only(("mean", "std", "is_scale", "norm_type"))
    kind = values.values.get("norm_type") or "mean_std"
    is_scale = values.flag("is_scale", default=True)
    if kind == "none":
        _check_neutral(values)
        return Normalize((0.0,) * channels, (1.0,) * channels, is_scale)
    if kind != "mean_std":
        raise values.fault("norm_type", f"is {kind!r}", "give mean_std or none")
    mean, std = values.numbers("mean", _MEAN), values.numbers("std", _STD)
    for key, numbers in (("mean", mean), ("std", std)):
        if len(numbers) != channels:
            raise values.fault(key, f"has {len(numbers)} numbers", f"give {channels}")
    if min(std) <= 0:
        raise values.fault("std", f"is {list(std)}", "deviations are above 0")
    return Normalize(mean, std, is_scale)


def _check_neutral(values: Keys) -> None:
    """With `norm_type: none`, PaddleDetection passes `mean` and `std` over, PaddleX uses them."""
    for key, neutral in (("mean", 0.0), ("std", 1.0)):
        if set(values.numbers(key, ())) - {neutral}:
            raise values.fault(
                key,
                "has no effect in PaddleDetection with norm_type none, but has one in PaddleX",
                f"say norm_type: mean_std, or give {neutral} for each channel",
            )


_READERS: dict[str, Callable[[Keys, int], Op]] = {
    "TemplateChannels": _template,
    "Resize": _resize,
    "LetterBoxResize": _letterbox,
    "Pad": _pad,
    "NormalizeImage": _normalize,
    "Normalize": _normalize,
}


def _size(values: Keys, key: str) -> tuple[int, int]:
    """Read height and width; one number means a square."""
    given = values.values.get(key)
    if isinstance(given, int) and not isinstance(given, bool):
        given = [given, given]
    sides = given if isinstance(given, list) else []
    if len(sides) != 2 or not all(type(side) is int and 0 < side <= _SIDE_MAX for side in sides):  # noqa: PLR2004
        raise values.fault(
            key, f"is {given!r}", f"give height and width in pixels, at most {_SIDE_MAX}"
        )
    return sides[0], sides[1]


def _size_of(keys: Keys, ops: Sequence[Op], image_shape: Sequence[int]) -> tuple[int, int]:
    """Answer the tensor's height and width: one size for every frame."""
    for op in ops:
        if isinstance(op, Pad | LetterBox):
            return op.height_px, op.width_px
    for op in ops:
        if isinstance(op, Resize) and not op.keep_ratio:
            return op.height_px, op.width_px
        if isinstance(op, Resize):
            raise keys.fault(
                "Preprocess",
                "Resize has keep_ratio: true and no Pad follows, so that tensors would have the"
                " size that the frame happens to give",
                "export with keep_ratio: false, or add a Pad of fixed size",
            )
    if len(image_shape) == 3 and min(image_shape) > 0:  # noqa: PLR2004
        return image_shape[1], image_shape[2]
    raise keys.fault("Preprocess", "does not say the tensor's size", "add a Resize")


def _check_strides(entries: Sequence[_Entry], height: int, width: int) -> None:
    """A PadStride is let pass when it has nothing to do."""
    for name, values in entries:
        if name != "PadStride":
            continue
        values.only(("stride",))
        stride = values.integer("stride", 0)
        if stride > 0 and (height % stride or width % stride):
            raise values.fault(
                "stride", f"{stride} does not divide {height} x {width}", "resize to a multiple"
            )


def _check_program(keys: Keys, shape: tuple[int, int, int], image_shape: Sequence[int]) -> None:
    """The steps and the program must agree on every size that the program fixes."""
    if image_shape and len(image_shape) != len(shape):
        raise keys.fault(
            "Preprocess",
            f"makes tensors {list(shape)}, the program takes one of {len(image_shape)} dimensions",
            "export program and file together",
        )
    fixed = [(ours, its) for ours, its in zip(shape, image_shape, strict=False) if its > 0]
    if any(ours != its for ours, its in fixed):
        raise keys.fault(
            "Preprocess",
            f"makes tensors {list(shape)}, the program takes {list(image_shape)}",
            "export program and file together",
        )
