"""`inspectd engine`: build TensorRT engines, say how they are, compare precision with FP32."""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from inspectd.cli.check import load_checked
from inspectd.config.diskrules import pictures_in
from inspectd.config.schema import Line, Model, PaddleEngine
from inspectd.errors import EngineRefused, Exit, UsageFault
from inspectd.model import directory
from inspectd.model.spec import ModelSpec
from inspectd.outfile import check_writable, write
from inspectd.stages.infer.building import build_anew
from inspectd.stages.infer.cache import Condition
from inspectd.stages.infer.calibration import Pictures
from inspectd.stages.infer.loading import Kept, asked_here, kept_engine, pictures_of
from inspectd.stages.infer.look import Look, read_picture
from inspectd.stages.infer.paddle import Paddle
from inspectd.stages.infer.parity import Place, places_of
from inspectd.stages.infer.selftest import TOLERANCES, Tolerance, look_at, picture_of
from inspectd.stages.infer.tensorrt import build_engine

__all__ = ["add_arguments", "run"]

_BACKENDS = ("onednn", "openvino", "plain", "tensorrt")


class _One(NamedTuple):
    """A model that some station uses."""

    model: Model
    spec: ModelSpec
    pictures: Pictures | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the sub-commands."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    build = actions.add_parser("build", help="build the engines of a line, in the foreground")
    build.add_argument("file", help="station file")
    build.add_argument("--force", action="store_true", help="also where a fresh one is kept")
    show = actions.add_parser("show", help="say what is asked, what Paddle can, what is kept")
    show.add_argument("file", help="station file")
    parity = actions.add_parser("parity", help="compare the engines with plain FP32; exit 1: over")
    parity.add_argument("file", help="station file")
    parity.add_argument("--images", type=Path, help="folder; default: the model's golden picture")
    parity.add_argument("--limit", type=int, default=32, help="so many pictures; default: 32")
    parity.add_argument("--model", help="one model of the line; default: all in use")
    parity.add_argument("--backend", choices=_BACKENDS, help="instead of the station file's")
    parity.add_argument("--score", type=float, help="allowed difference; default: by precision")
    parity.add_argument("--box", type=float, help="the same of a side, px; default: by precision")
    parity.add_argument("--json", type=Path, help="write the figures there")


def run(options: argparse.Namespace) -> int:
    """Do what was asked for."""
    line = load_checked(options.file)
    if not isinstance(line.engine, PaddleEngine):
        raise UsageFault("engine is scripted: it runs no model", options.file, "name another file")
    action = {"build": _build, "show": _show, "parity": _parity}[options.action]
    return int(action(line, line.engine, options))


def _used(line: Line, name: str | None = None) -> Iterator[_One]:
    """The models that stations use, or one of them."""
    used = {station.model for station in line.stations}
    chosen = [one for one in line.models if one.name in used and name in (None, one.name)]
    if not chosen:
        remedy = f"name one of {', '.join(sorted(used))}"
        raise UsageFault("no station uses this model", str(name), remedy)
    for model in chosen:
        spec = directory.read(model.path)
        yield _One(model, spec, pictures_of(line, model, spec))


# ---------------------------------------------------------------- build


def _build(line: Line, settings: PaddleEngine, options: argparse.Namespace) -> Exit:
    """Build what is not fresh; every step is printed as it begins."""
    for one in _used(line):
        kept = _kept(one, settings)
        if kept is None:
            print(f"{one.model.name}: {settings.device} with {settings.backend} needs no engine")
            continue
        if options.force:
            with kept.cache.building():
                kept.cache.empty()
        _build_one(one, kept)
    return Exit.OK


def _build_one(one: _One, kept: Kept) -> None:
    def tell(what: str) -> None:
        if what:
            print(f"{one.model.name}: {what}", flush=True)

    def work() -> None:
        build_engine(one.spec, kept.asked, one.pictures, tell)

    def log(_level: str, event: str, **fields: Any) -> None:
        told = ", ".join(f"{name} {value}" for name, value in fields.items() if name != "model")
        print(f"{one.model.name}: {event} {told}", flush=True)

    found = build_anew(kept.cache, kept.now, work, model=one.spec.name, tell=tell, log=log)
    if found.condition is Condition.FRESH:
        print(f"{one.model.name}: fresh, nothing to do: {kept.cache.folder}")


def _kept(one: _One, settings: PaddleEngine) -> Kept | None:
    """Where the engine of a model lies; None: it needs none."""
    asked, build = asked_here(
        one.spec, settings, one.model.batch_max, has_calibration=one.pictures is not None
    )
    if not asked.route.is_tensorrt:
        return None
    return kept_engine(one.spec, asked, build, one.pictures)


# ---------------------------------------------------------------- show


def _show(line: Line, settings: PaddleEngine, _options: argparse.Namespace) -> Exit:
    """Print what is asked, and what comes of it here; exit 1 when a line could not start."""
    worst = Exit.OK
    for one in _used(line):
        table = Table("", Column("", overflow="fold"), title=one.model.name, show_header=False)
        try:
            is_fine = _show_one(table, one, settings)
        except EngineRefused as refused:
            table.add_row("refused", escape(f"{refused.what}; {refused.remedy}"))
            is_fine = False
        worst = worst if is_fine else Exit.FAULT
        Console().print(table)
    return worst


def _show_one(table: Table, one: _One, settings: PaddleEngine) -> bool:
    """Fill the table of a model; whether it can run."""
    words = f"{settings.device}, {settings.backend}, {settings.precision}"
    table.add_row("asked", f"{words}, batches up to {one.model.batch_max}")
    table.add_row("model", f"{one.spec.name}, digest {one.spec.digest}")
    asked, build = asked_here(
        one.spec, settings, one.model.batch_max, has_calibration=one.pictures is not None
    )
    table.add_row("Paddle", f"{build.words}, TensorRT {build.tensorrt or 'none'}")
    table.add_row("way", f"{asked.route.value} with .{asked.program.format}")
    table.add_row("shapes", "\n".join(f"{name} {each}" for name, each in asked.shapes.items()))
    if not asked.route.is_tensorrt:
        table.add_row("engine", "none is built for this")
        return True
    kept = kept_engine(one.spec, asked, build, one.pictures)
    table.add_row("folder", str(kept.cache.folder))
    if kept.cache.is_busy():
        table.add_row("engine", "is being built by another process")
        return False
    finding = kept.cache.examine(kept.now)
    table.add_row("engine", finding.condition.value)
    table.add_row("why", escape("\n".join(finding.why)) or "-")
    for name, value in asdict(kept.now).items():
        table.add_row(f"now: {name}", escape(value) or "-")
    return finding.condition is Condition.FRESH or asked.tensorrt.stale == "rebuild"


# ---------------------------------------------------------------- parity


def _parity(line: Line, settings: PaddleEngine, options: argparse.Namespace) -> Exit:
    """Compare each engine with the plain one; exit 1 when one is over the tolerance."""
    check_writable(options.json)
    if options.backend is not None:
        settings = replace(settings, backend=options.backend)
    standard = TOLERANCES[settings.precision]
    tolerance = Tolerance(
        score=standard.score if options.score is None else options.score,
        box_px=standard.box_px if options.box is None else options.box,
    )
    told = [_compared(one, settings, options, tolerance) for one in _used(line, options.model)]
    if options.json is not None:
        write(str(options.json), json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    is_over = any(not place["is_within"] for one in told for place in one["places"])
    print("over the tolerance" if is_over else "within the tolerance")
    return Exit.FAULT if is_over else Exit.OK


def _compared(
    one: _One, settings: PaddleEngine, options: argparse.Namespace, tolerance: Tolerance
) -> dict[str, Any]:
    """Compare one model, and print its table."""
    looks = list(_looks(one, options))
    # Its self-test is what is measured here: the engine is taken as it is.
    candidate = _candidate(one, settings)
    reference = Paddle(one.spec, backend="plain", threads=settings.threads)
    batch_max = one.model.batch_max
    places = places_of((reference, candidate), looks, batch_max, tolerance)
    Console().print(_table(one, places, tolerance, len(looks)))
    for place in places:
        _alarm(place)
    return {
        "model": one.model.name,
        "digest": one.spec.digest,
        "engine": dict(candidate.describe()),
        "pictures": len(looks),
        "tolerance": asdict(tolerance),
        "places": [
            {
                "size": place.size,
                "place": place.place,
                "is_within": place.worst.is_within(tolerance),
                **asdict(place.worst),
            }
            for place in places
        ],
    }


def _candidate(one: _One, settings: PaddleEngine) -> Paddle:
    asked, build = asked_here(
        one.spec, settings, one.model.batch_max, has_calibration=one.pictures is not None
    )
    if not asked.route.is_tensorrt:
        return Paddle(one.spec, asked=asked)
    kept = kept_engine(one.spec, asked, build, one.pictures)
    finding = kept.cache.examine(kept.now)
    if finding.condition is not Condition.FRESH:
        what = f"its engine is {finding.words}"
        raise EngineRefused(one.spec.name, what, "run `inspectd engine build FILE` first")
    with kept.cache.using():
        return Paddle(one.spec, asked=kept.asked)


def _looks(one: _One, options: argparse.Namespace) -> Iterator[Look]:
    """The pictures of the comparison, laid out as whole frames."""
    if options.images is None:
        golden = picture_of(one.spec)
        if golden is None:
            raise UsageFault("has no golden picture", one.spec.path, "give --images FOLDER")
        yield look_at(one.spec, golden)
        return
    if not options.images.is_dir():
        raise UsageFault("is no folder", str(options.images), "name a folder of pictures")
    paths = pictures_in(str(options.images))[: options.limit]
    if not paths:
        raise UsageFault("holds no pictures", str(options.images), "name another, or raise --limit")
    template = Path(one.spec.path) / "golden_template.png" if one.spec.wants_template else None
    for path in paths:
        yield Look.at(one.spec, read_picture(path, is_grey=one.spec.wants_template), template)


def _table(one: _One, places: list[Place], tolerance: Tolerance, pictures: int) -> Table:
    title = f"{one.model.name}: {pictures} pictures against plain FP32"
    table = Table(
        *("batch", "place", "missing", "too many", "score", "side px", "IoU", "result"),
        title=title,
        caption=f"allowed: score {tolerance.score:g}, side {tolerance.box_px:g} px",
    )
    for place in places:
        worst = place.worst
        table.add_row(
            *(str(place.size), str(place.place), str(worst.missing), str(worst.too_many)),
            *(f"{worst.score:.2g}", f"{worst.box_px:.2g}", f"{worst.iou:.4f}"),
            "ok" if worst.is_within(tolerance) else "OVER",
        )
    return table


def _alarm(place: Place) -> None:
    """Say the two things that must never be overlooked."""
    where = f"batch of {place.size}, place {place.place}"
    if not place.worst.is_finite:
        print(f"ALARM: numbers that are none (NaN or infinite): {where}", file=sys.stderr)
    if place.blind:
        count = len(place.comparisons)
        print(
            f"ALARM: nothing found in {place.blind} of {count} pictures: {where}", file=sys.stderr
        )
