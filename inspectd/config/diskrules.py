"""EDGE: what the disk must hold for a station file to work. Looks, and reads nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inspectd.config.complaint import Complaint, CrossRule
from inspectd.config.schema import (
    Line,
    Model,
    PaddleEngine,
    Presence,
    Record,
    ReplayCamera,
    Template,
    Tensorrt,
)

__all__ = ["DISK_RULES", "pictures_in"]

_OPENVINO = ("cpu", "openvino")
_PICTURES = frozenset({".bmp", ".jpeg", ".jpg", ".png", ".tif", ".tiff"})


def model_folder_exists(model: Model) -> Iterator[Complaint]:
    """`path` of a model is a folder."""
    yield from _wants_folder("path", model.path)


def frames_exist(camera: ReplayCamera) -> Iterator[Complaint]:
    """`path` of a replay camera is a folder or a file."""
    if not Path(camera.path).exists():
        yield Complaint("path", _missing("folder or video file", camera.path))


def labels_exist(camera: ReplayCamera) -> Iterator[Complaint]:
    """`labels` of a replay camera, when given, are a file."""
    if camera.labels:
        yield from _wants_file("labels", camera.labels)


def reference_exists(presence: Presence) -> Iterator[Complaint]:
    """`reference` of the presence check is a file."""
    yield from _wants_file("reference", presence.reference)


def templates_exist(template: Template) -> Iterator[Complaint]:
    """`folder` of templates is a folder; a `pattern` without `{part_id}` is a file in it."""
    faults = list(_wants_folder("folder", template.folder))
    yield from faults
    if not faults and "{" not in template.pattern:
        yield from _wants_file("pattern", str(Path(template.folder, template.pattern)))


def record_can_be_a_folder(record: Record) -> Iterator[Complaint]:
    """`folder` of the record is a folder, or is not there yet and will be made."""
    for one in (Path(record.folder), *Path(record.folder).parents):
        if one.is_dir():
            return
        if one.exists():
            yield Complaint("folder", f"{one} is a file, no folder; choose another place")
            return


def openvino_has_its_format(line: Line) -> Iterator[Complaint]:
    """`backend: openvino` finds a `.pdmodel` file in the folder of every model."""
    engine = line.engine
    if not isinstance(engine, PaddleEngine) or (engine.device, engine.backend) != _OPENVINO:
        return
    for index, model in enumerate(line.models):
        folder = Path(model.path)
        if folder.is_dir() and not any(folder.glob("*.pdmodel")):
            what = (
                f"openvino takes .pdmodel models only, and {folder} holds none; export it in that "
                "format, or use backend: onednn"
            )
            yield Complaint(f"models[{index}].path", what)


def calibration_has_enough_pictures(line: Line) -> Iterator[Complaint]:
    """`calibration` of a model is a folder with `tensorrt.calibration_min_pictures` pictures."""
    engine = line.engine
    if not isinstance(engine, PaddleEngine) or engine.precision != "int8":
        return
    least = (engine.tensorrt or Tensorrt()).calibration_min_pictures
    for index, model in enumerate(line.models):
        if not model.calibration:
            continue
        key = f"models[{index}].calibration"
        faults = list(_wants_folder(key, model.calibration))
        yield from faults
        count = 0 if faults else len(pictures_in(model.calibration))
        if not faults and count < least:
            what = f"holds {count} pictures, at least {least} are asked for; add some, or lower"
            yield Complaint(key, f"{what} tensorrt.calibration_min_pictures and check by parity")


DISK_RULES: tuple[tuple[type[Any], CrossRule], ...] = (
    (Model, model_folder_exists),
    (ReplayCamera, frames_exist),
    (ReplayCamera, labels_exist),
    (Presence, reference_exists),
    (Template, templates_exist),
    (Record, record_can_be_a_folder),
    (Line, openvino_has_its_format),
    (Line, calibration_has_enough_pictures),
)
"""Every rule, with the class of the objects it is asked about."""


def pictures_in(folder: str) -> list[Path]:
    """Answer the picture files of a folder, by name, without looking into them."""
    return sorted(one for one in Path(folder).iterdir() if one.suffix.lower() in _PICTURES)


def _wants_folder(key: str, path: str) -> Iterator[Complaint]:
    if not Path(path).exists():
        yield Complaint(key, _missing("folder", path))
    elif not Path(path).is_dir():
        yield Complaint(key, f"expected a folder, and {path} is a file; name the folder")


def _wants_file(key: str, path: str) -> Iterator[Complaint]:
    if not Path(path).exists():
        yield Complaint(key, _missing("file", path))
    elif not Path(path).is_file():
        yield Complaint(key, f"expected a file, and {path} is a folder; name the file")


def _missing(wanted: str, path: str) -> str:
    """Say that it is not there; the commonest reasons are a wrong start and a variable."""
    hint = ", and `$` is not expanded" if "$" in path else ""
    return f"no {wanted} at {path}; relative paths start at the station file{hint}: correct it"
