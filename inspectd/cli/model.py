"""`inspectd model`: show a model directory, try it on a picture, store its golden outputs."""

import argparse
import shutil
from pathlib import Path

import cv2
from rich.console import Console
from rich.table import Column, Table

from inspectd.errors import UsageFault
from inspectd.frame import Detection
from inspectd.model import directory
from inspectd.model.spec import ModelSpec
from inspectd.outfile import check_writable
from inspectd.stages.infer.loading import cache_folder
from inspectd.stages.infer.look import Look, read_picture
from inspectd.stages.infer.paddle import Paddle
from inspectd.stages.infer.selftest import picture_of, write_golden

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the sub-commands."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    show = actions.add_parser("show", help="print what is understood of a model directory")
    show.add_argument("model", help="model directory")
    golden = actions.add_parser("golden", help="store what the plain backend finds in a picture")
    golden.add_argument("model", help="model directory")
    golden.add_argument("--image", type=Path, help="copied there as golden.png or golden.jpg")
    golden.add_argument("--template", type=Path, help="golden picture of that part, if wanted")
    detect = actions.add_parser("detect", help="run a model on one picture, as the daemon does")
    detect.add_argument("model", help="model directory")
    detect.add_argument("image", type=Path)
    detect.add_argument("--template", type=Path, help="golden picture of the part, if wanted")
    detect.add_argument("--backend", choices=("onednn", "openvino", "plain"), default="onednn")
    detect.add_argument("--min-score", type=float, help="default: the model's draw_threshold")
    detect.add_argument("--out", type=Path, help="write the picture with its boxes")


def run(options: argparse.Namespace) -> int:
    """Do what was asked for."""
    spec = directory.read(options.model)
    {"show": _show, "golden": _golden, "detect": _detect}[options.action](spec, options)
    return 0


def _show(spec: ModelSpec, _options: argparse.Namespace) -> None:
    table = Table("key", Column("understood as", overflow="fold"), title=spec.name)
    table.add_row("file", spec.config_path)
    for key in ("arch", "digest", "colour", "tensor_shape", "layout", "draw_threshold", "nms"):
        table.add_row(key, str(getattr(spec, key)))
    table.add_row("labels", ", ".join(spec.labels))
    table.add_row("programs", "\n".join(one.program_path for one in spec.programs))
    table.add_row("inputs", ", ".join(spec.inputs))
    table.add_row("outputs", "\n".join(f"{name} {list(shape)}" for name, shape in spec.outputs))
    table.add_row("preprocessing", "\n".join(str(op) for op in spec.ops))
    picture = picture_of(spec)
    table.add_row("golden picture", str(picture) if picture else "none")
    Console().print(table)


def _golden(spec: ModelSpec, options: argparse.Namespace) -> None:
    folder = Path(spec.path)
    if options.image is not None:
        is_jpeg = options.image.suffix.lower() in (".jpg", ".jpeg")
        new, old = ("golden.jpg", "golden.png")[:: 1 if is_jpeg else -1]
        _put(options.image, folder / new)
        (folder / old).unlink(missing_ok=True)
    if options.template is not None:
        _put(options.template, folder / "golden_template.png")
    picture = picture_of(spec)
    if picture is None:
        raise UsageFault("has no golden picture", spec.path, "give one with --image")
    found = write_golden(spec, Paddle(spec, backend="plain"), picture)
    print(f"{picture}: {len(found)} detections stored")


def _put(source: Path, target: Path) -> None:
    """Copy a picture, which may lie there already; what is no JPEG or PNG becomes a PNG."""
    picture = read_picture(source)
    if target.exists() and target.samefile(source):
        return
    if source.suffix.lower() == target.suffix or target.suffix == ".jpg":
        shutil.copyfile(source, target)
    elif not cv2.imwrite(str(target), picture):
        raise UsageFault("cannot be written", str(target), "make the model directory writable")


def _detect(spec: ModelSpec, options: argparse.Namespace) -> None:
    check_writable(options.out)
    if options.out is not None and not cv2.haveImageWriter(str(options.out)):
        raise UsageFault("is no kind of picture", str(options.out), "name a .jpg or .png")
    if options.min_score is not None and not 0 <= options.min_score <= 1:
        raise UsageFault(f"{options.min_score:g}", "--min-score", "give 0 to 1")
    if options.template is not None and not options.template.is_file():
        raise UsageFault("does not exist", str(options.template), "name another --template")
    picture = read_picture(options.image, is_grey=spec.wants_template)
    engine = Paddle(spec, backend=options.backend, cache=cache_folder(spec))
    least = spec.draw_threshold if options.min_score is None else options.min_score
    found = Look.at(spec, picture, options.template).detections(engine)
    kept = [one for one in found if one.score >= least]
    for one in kept:
        sides = " ".join(f"{side:.1f}" for side in (one.x1, one.y1, one.x2, one.y2))
        print(f"{one.label} {one.score:.4f} {sides}")
    if options.out is not None:
        _draw(options.image, kept, options.out)


def _draw(image: Path, found: list[Detection], out: Path) -> None:
    picture = read_picture(image).copy()
    for one in found:
        corner = (round(one.x1), round(one.y1))
        cv2.rectangle(picture, corner, (round(one.x2), round(one.y2)), (0, 0, 255), 2)
        words = f"{one.label} {one.score:.2f}"
        cv2.putText(picture, words, corner, cv2.FONT_HERSHEY_SIMPLEX, 0.5, (0, 0, 255), 1)
    if not cv2.imwrite(str(out), picture):
        raise UsageFault("cannot be written", str(out), "name a .jpg or .png in a folder that is")
