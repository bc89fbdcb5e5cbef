"""What a station file says against what its models are: faults that `inspectd check` reports."""

from collections.abc import Iterator
from pathlib import Path

from inspectd.config.recipes import every_rule
from inspectd.config.schema import (
    EachHasRule,
    ForbidRule,
    Line,
    PaddleEngine,
    Rule,
    ScriptedEngine,
    Station,
    Template,
)
from inspectd.errors import FrameFault, ModelFault
from inspectd.model import directory
from inspectd.model.geometry import Geometry
from inspectd.model.spec import ModelSpec
from inspectd.model.template import Templates
from inspectd.model.tiles import Tiling

__all__ = ["check"]


def check(line: Line) -> list[tuple[str, str]]:
    """Answer (dotted key in the station file, what is wrong and how to put it right).

    Reads every model directory; never imports paddle. A station whose model cannot be read is not
    checked further, and neither is one that names no model (the file's own rules say that). A
    scripted engine works without the directory.
    """
    faults: list[tuple[str, str]] = []
    specs: dict[str, ModelSpec] = {}
    for at, model in enumerate(line.models):
        if isinstance(line.engine, ScriptedEngine) and not Path(model.path).exists():
            continue
        try:
            specs[model.name] = directory.read(model.path)
        except ModelFault as fault:
            faults.append((f"models[{at}].path", str(fault)))
            continue
        faults += _check_engine(line, f"models[{at}].path", specs[model.name])
    for at, station in enumerate(line.stations):
        if station.model in specs:
            where = f"stations[{at}]"
            faults += _check_station(where, station, specs[station.model])
    return faults


def _check_engine(line: Line, key: str, spec: ModelSpec) -> Iterator[tuple[str, str]]:
    """The OpenVINO engine inside Paddle takes legacy programs only."""
    engine = line.engine
    if not isinstance(engine, PaddleEngine) or engine.device != "cpu":
        return
    if engine.backend == "openvino" and spec.program("pdmodel") is None:
        what = f"the backend openvino takes .pdmodel programs, {spec.path} has none"
        yield key, f"{what}; choose onednn, or export the model as .pdmodel"


def _check_station(where: str, station: Station, spec: ModelSpec) -> Iterator[tuple[str, str]]:
    for place, rule in every_rule(station):
        yield from _check_labels(f"{where}.{place}", rule, spec)
        yield from _check_scores(f"{where}.{place}", rule, spec)
    yield from _check_size(where, station, spec)
    yield from _check_template(where, station, spec)


def _check_size(where: str, station: Station, spec: ModelSpec) -> Iterator[tuple[str, str]]:
    """Frames, or the tiles they are cut into, must fit the model."""
    camera = station.camera
    try:
        if station.tiles is None:
            Geometry.of(spec, camera.height_px, camera.width_px)
            return
    except FrameFault as fault:
        yield f"{where}.camera", str(fault)
        return
    try:
        tiling = Tiling.of(station.tiles, camera.width_px, camera.height_px)
        Geometry.of(spec, *tiling.tile_size)
        if tiling.has_overview:
            Geometry.of(spec, camera.height_px, camera.width_px)
    except FrameFault as fault:
        yield f"{where}.tiles", str(fault)


def _check_labels(where: str, rule: Rule, spec: ModelSpec) -> Iterator[tuple[str, str]]:
    """A rule about a class that the model lacks would hold for ever."""
    for key, label in _labels_of(rule):
        if label not in spec.labels:
            yield (
                f"{where}.{key}",
                f"model {spec.name} has no class {label!r}; it has {', '.join(spec.labels)}",
            )


def _check_scores(where: str, rule: Rule, spec: ModelSpec) -> Iterator[tuple[str, str]]:
    """What our suppression drops no rule can see, whatever score it asks for."""
    if spec.layout != "scores":
        return
    least = spec.nms.score_threshold
    scores = {"min_score": rule.min_score}
    if isinstance(rule, EachHasRule):
        scores["needs_min_score"] = rule.needs_min_score
    for key, score in scores.items():
        if score < least:
            what = f"is {score}, model {spec.name} keeps nothing below {least}"
            remedy = f"raise it, or lower NMS.score_threshold in {spec.config_path}"
            yield f"{where}.{key}", f"{what}; {remedy}"


def _labels_of(rule: Rule) -> list[tuple[str, str]]:
    if isinstance(rule, ForbidRule):
        return [(f"labels[{at}]", label) for at, label in enumerate(rule.labels)]
    if isinstance(rule, EachHasRule):
        return [("label", rule.label), ("needs", rule.needs)]
    return [("label", rule.label)]


def _check_template(where: str, station: Station, spec: ModelSpec) -> Iterator[tuple[str, str]]:
    settings = station.template
    if settings is None:
        if spec.wants_template:
            what = f"model {spec.name} wants a golden picture of each part; give `template`"
            yield f"{where}.model", what
        return
    if not spec.wants_template:
        what = f"model {spec.name} has no channel for golden pictures"
        yield f"{where}.template", f"{what}; take `template` out, or choose another model"
        return
    if not Path(settings.folder).is_dir():
        yield f"{where}.template.folder", f"no such folder: {settings.folder}; correct it"
    elif "{part_id}" not in settings.pattern:
        yield from _check_picture(f"{where}.template.pattern", station, settings)


def _check_picture(key: str, station: Station, settings: Template) -> Iterator[tuple[str, str]]:
    """One golden picture for all parts can be tried at once, as the gate will read it."""
    camera = station.camera
    try:
        Templates(settings, camera.height_px, camera.width_px).of("")
    except FrameFault as fault:
        yield key, str(fault)
