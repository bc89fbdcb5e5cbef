"""Reads a detector directory as PaddleDetection or PaddleX 3 export it.

    infer_cfg.yml    model.pdmodel     | model.json        model.pdiparams        PaddleDetection
    inference.yml    inference.pdmodel | inference.json    inference.pdiparams    PaddleX 3

When both program formats lie there, `.pdmodel` is preferred. Keys of ours, both optional: the
preprocessing step `TemplateChannels`, and `class_agnostic` in the block `NMS`.
"""

import hashlib
from collections.abc import Mapping, Sized
from pathlib import Path
from typing import Any

import yaml

from inspectd.errors import ModelFault
from inspectd.model import program
from inspectd.model.keys import Keys
from inspectd.model.layout import layout_of, raw_bytes_max
from inspectd.model.preprocess import read_ops
from inspectd.model.spec import Layout, ModelSpec, Nms, Program

__all__ = ["read"]

_CONFIGS = ("infer_cfg.yml", "inference.yml")
_STEMS = ("model", "inference")
_KNOWN_INPUTS = ("image", "scale_factor", "im_shape")
_OUR_NMS = ("MultiClassNMS",)
_DIGEST_DIGITS = 12
_CHUNK = 1 << 20


def read(path: str) -> ModelSpec:
    """Answer what the directory says; raises `ModelFault` naming file, key and remedy."""
    folder = Path(path)
    if not folder.is_dir():
        raise ModelFault(str(folder), "", "no such directory", "give the folder of an export")
    config = _config_of(folder)
    programs = _programs_of(folder)
    keys = Keys(str(config), "", _mapping(config))
    ports = _ports_of(programs[0])
    inputs = _inputs_of(programs[0], ports)
    colour, ops, tensor_shape = read_ops(keys, _image_shape(ports))
    outputs = tuple((port.name, port.shape) for port in ports.outputs)
    layout = layout_of(programs[0].program_path, outputs)
    labels = _labels_of(keys)
    _check_classes(keys, layout, outputs, labels)
    files = [str(config), *(name for each in programs for name in _files_of(each))]
    return ModelSpec(
        name=_name_of(keys, folder),
        arch=keys.text("arch", "unknown"),
        path=str(folder),
        config_path=str(config),
        programs=programs,
        labels=labels,
        colour=colour,
        ops=ops,
        tensor_shape=tensor_shape,
        inputs=inputs,
        outputs=outputs,
        layout=layout,
        draw_threshold=keys.number("draw_threshold", 0.5, 0, 1),
        nms=_nms_of(keys),
        raw_bytes_max=raw_bytes_max(layout, outputs),
        digest=_digest(sorted(set(files))),
    )


def _config_of(folder: Path) -> Path:
    for name in _CONFIGS:
        if (folder / name).is_file():
            return folder / name
    raise ModelFault(
        str(folder),
        "",
        f"has neither {' nor '.join(_CONFIGS)}",
        "give the folder that PaddleDetection or PaddleX exported",
    )


def _programs_of(folder: Path) -> tuple[Program, ...]:
    """Find the stored forms of the network, `.pdmodel` first."""
    for stem in _STEMS:
        params = folder / f"{stem}.pdiparams"
        pdmodel, pir = folder / f"{stem}.pdmodel", folder / f"{stem}.json"
        found = []
        if pdmodel.is_file():
            found.append(Program("pdmodel", str(pdmodel), str(params)))
        if pir.is_file():
            found.append(Program("json", str(pir), str(params)))
        if found and not (params.is_file() and params.stat().st_size):
            what = "are empty" if params.is_file() else "are missing"
            raise ModelFault(
                str(params), "", f"the parameters {what}", "copy the whole export folder"
            )
        if found:
            return tuple(found)
    raise ModelFault(
        str(folder),
        "",
        "has no program: none of model.pdmodel, model.json, inference.pdmodel, inference.json",
        "copy the whole export folder",
    )


def _unreadable(path: Path, fault: OSError) -> ModelFault:
    return ModelFault(str(path), "", f"cannot be read ({fault.strerror})", "make it readable")


def _files_of(program_: Program) -> tuple[str, str]:
    return program_.program_path, program_.params_path


def _mapping(config: Path) -> Mapping[str, Any]:
    """Load the YAML file; anything but a mapping is a fault."""
    try:
        tree = yaml.safe_load(config.read_text(encoding="utf-8"))
    except yaml.YAMLError as fault:
        where = getattr(fault, "problem_mark", None)
        line = f" in line {where.line + 1}" if where else ""
        raise ModelFault(str(config), "", f"is no YAML{line}", "export the model again") from fault
    except (ValueError, RecursionError) as fault:
        what = f"is no YAML of a model ({fault})"
        raise ModelFault(str(config), "", what, "export the model again") from fault
    except OSError as fault:
        raise _unreadable(config, fault) from fault
    if not isinstance(tree, dict):
        found = "nothing" if tree is None else f"a {type(tree).__name__}"
        raise ModelFault(
            str(config), "", f"expected a mapping, found {found}", "export the model again"
        )
    return tree


def _ports_of(chosen: Program) -> program.Ports:
    path = Path(chosen.program_path)
    reader = program.read_json if chosen.format == "json" else program.read_pdmodel
    try:
        return reader(path.read_bytes())
    except (OSError, ValueError) as fault:
        raise ModelFault(
            str(path), "", f"is no Paddle program: {fault}", "copy or export it again"
        ) from fault


def _inputs_of(chosen: Program, ports: program.Ports) -> tuple[str, ...]:
    names = tuple(port.name for port in ports.inputs)
    strange = [name for name in names if name not in _KNOWN_INPUTS]
    if "image" not in names or strange:
        raise ModelFault(
            chosen.program_path,
            "",
            f"wants the inputs {', '.join(names) or '(none)'}",
            f"a detector has `image` and may have {' and '.join(_KNOWN_INPUTS[1:])}",
        )
    return names


def _image_shape(ports: program.Ports) -> tuple[int, ...]:
    """Answer channels, height, width of the program's input; -1 where it takes any."""
    shape = next(port.shape for port in ports.inputs if port.name == "image")
    return tuple(shape[1:])


def _name_of(keys: Keys, folder: Path) -> str:
    settings = keys.child("Global", optional=True)
    return settings.text("model_name", folder.resolve().name)


def _labels_of(keys: Keys) -> tuple[str, ...]:
    labels = keys.sequence("label_list")
    if not labels:
        raise keys.fault("label_list", "has no labels", "list the classes by number")
    for at, label in enumerate(labels):
        if isinstance(label, bool) or not isinstance(label, str | int | float) or label == "":
            raise keys.fault(
                f"label_list[{at}]", f"is {label!r}, no name", "write the name in quotes"
            )
    return tuple(str(label) for label in labels)


def _check_classes(
    keys: Keys, layout: Layout, outputs: tuple[tuple[str, tuple[int, ...]], ...], labels: Sized
) -> None:
    """There must be one label for each row of scores."""
    classes = outputs[1][1][1] if layout == "scores" else -1
    if classes not in (-1, len(labels)):
        raise keys.fault(
            "label_list",
            f"has {len(labels)} labels, the program scores {classes} classes",
            "list the classes by number",
        )


def _nms_of(keys: Keys) -> Nms:
    """Read the block `NMS` (PaddleDetection writes one for PicoDet; our exports have one)."""
    block = keys.child("NMS", optional=True)
    kind = block.text("type", block.text("name", "MultiClassNMS"))
    if kind not in _OUR_NMS:
        raise block.fault("type", f"is {kind!r}", "only MultiClassNMS is known")
    default = Nms()
    return Nms(
        iou_threshold=block.number("nms_threshold", default.iou_threshold, 0, 1),
        score_threshold=block.number("score_threshold", default.score_threshold, 0, 1),
        top_k=_count(block, "nms_top_k", default.top_k),
        keep_top_k=_count(block, "keep_top_k", default.keep_top_k),
        class_agnostic=block.flag("class_agnostic", default=default.class_agnostic),
    )


def _count(block: Keys, key: str, default: int) -> int:
    """Read how many boxes may be left; with 0 nothing would be found, and every part would pass."""
    value = block.integer(key, default)
    if value < 1 and value != -1:
        raise block.fault(key, f"is {value}", "give 1 or more, or -1 for all")
    return value


def _digest(files: list[str]) -> str:
    """Digest names and contents, so that two programs with swapped names differ."""
    total = hashlib.sha256()
    for name in files:
        total.update(Path(name).name.encode() + b"\0")
        try:
            with Path(name).open("rb") as stream:
                while chunk := stream.read(_CHUNK):
                    total.update(chunk)
        except OSError as fault:
            raise _unreadable(Path(name), fault) from fault
    return total.hexdigest()[:_DIGEST_DIGITS]
