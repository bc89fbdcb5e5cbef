"""`inspectd gate learn FOLDER`, `inspectd gate measure FOLDER`: limits from good pictures."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import cv2
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from inspectd.config.load import load
from inspectd.config.schema import Region, Station
from inspectd.errors import Exit, UsageFault
from inspectd.frame import Measure, Reason
from inspectd.ports import Pixels
from inspectd.stages.gate import measures
from inspectd.stages.gate.inspection import Inspection, first_broken
from inspectd.stages.gate.learn import OUTLIERS, PICTURES_MIN, learn, numbers_of
from inspectd.stages.gate.picture import (
    median_picture,
    pictures_in,
    read_picture,
    read_reference,
    read_sized,
    write_reference,
)
from inspectd.stages.gate.proposal import block_of

__all__ = ["add_arguments", "run"]

_LEVEL = 250
_TABLE_WIDTH = 110
"""Columns of the table where there is no terminal to ask."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take one of the two orders and what belongs to it."""
    orders = parser.add_subparsers(dest="order", metavar="ORDER", required=True)
    learning = orders.add_parser("learn", help="print a gate: block learnt from good pictures")
    measuring = orders.add_parser("measure", help="print the measures of pictures")
    for order in (learning, measuring):
        order.add_argument("folder", metavar="FOLDER", type=Path, help="folder of pictures")
        order.add_argument(
            "--channels",
            type=int,
            choices=(1, 3),
            help="1: read the pictures as grey (default: as colour)",
        )
        order.add_argument(
            "--region",
            type=int,
            nargs=4,
            metavar=("X1", "Y1", "X2", "Y2"),
            help="where to look, px, right and lower edge excluded (the whole frame)",
        )
        order.add_argument(
            "--level",
            type=_number(int, 1, 255),
            default=_LEVEL,
            help=f"grey value from which a pixel is burnt out ({_LEVEL})",
        )
    learning.add_argument(
        "--reference-out",
        type=Path,
        metavar="FILE.png",
        help="write the median picture there, and learn likeness to it",
    )
    learning.add_argument(
        "--margin",
        type=_number(float, 0, 100),
        default=1.0,
        help="room beyond what was seen: 0 none, 1 the usual (1)",
    )
    learning.add_argument(
        "--outliers",
        type=_number(float, 0, 0.49),
        default=OUTLIERS,
        help=f"share of the pictures that may be bad after all ({OUTLIERS})",
    )
    measuring.add_argument(
        "--station",
        metavar="FILE[:NAME]",
        help="hold them against the gate of this station",
    )


def run(args: argparse.Namespace) -> int:
    """Do what was asked."""
    cv2.setNumThreads(1)
    paths = pictures_in(args.folder)
    if args.order == "learn":
        _learn(args, paths)
    elif args.station:
        _judge(_station(args.station), paths)
    else:
        _measure(args, paths)
    return Exit.OK


def _learn(args: argparse.Namespace, paths: Sequence[Path]) -> None:
    """Print the block; write the reference."""
    if len(paths) < PICTURES_MIN:
        raise UsageFault(
            f"{len(paths)} pictures are too few to know the worst of the good ones",
            str(args.folder),
            f"let the station take at least {PICTURES_MIN}, better some hundreds over a shift",
        )
    height, width = read_picture(paths[0], 1).shape
    region = _region(args.region, width, height)
    shape, reference = None, ""
    if args.reference_out:
        picture = median_picture(paths)
        write_reference(args.reference_out, picture)
        shape = measures.shape_of(measures.view_of(picture, region))
        reference = str(args.reference_out.resolve())
    greys = _greys(paths, args.channels, height, width)
    taken = [numbers_of(grey, region, args.level, shape) for grey in greys]
    x1, y1, x2, y2 = region or (0, 0, width, height)
    learnt = learn(taken, (x2 - x1) * (y2 - y1), args.margin, args.outliers)
    print(block_of(learnt, region, args.level, reference), end="")


def _measure(args: argparse.Namespace, paths: Sequence[Path]) -> None:
    """Print what was measured, held against nothing."""
    height, width = read_picture(paths[0], 1).shape
    region = _region(args.region, width, height)
    table = _table("sharpness", "exposure", "saturation", "glare")
    greys = _greys(paths, args.channels, height, width)
    for path, grey in zip(paths, greys, strict=True):
        one = numbers_of(grey, region, args.level, None)
        values = (one.sharpness, one.mean, one.share, one.blob_px)
        table.add_row(path.name, *(f"{value:.5g}" for value in values))
    _console().print(table)


def _judge(station: Station, paths: Sequence[Path]) -> None:
    """Print what the gate of a station measures, and which pictures it would refuse."""
    camera, presence = station.camera, station.gate.presence
    height, width = camera.height_px, camera.width_px
    reference = None if presence is None else read_reference(presence.reference, height, width)
    shape = (height, width) if camera.channels == 1 else (height, width, 3)
    inspection = Inspection(station.gate, shape, reference)
    frames = _frames(paths, camera.channels, height, width)
    rows = [inspection.measure(frame) for frame in frames]
    table = _table(*(one.name for one in rows[0]), "verdict")
    for path, taken in zip(paths, rows, strict=True):
        table.add_row(path.name, *map(_cell, taken), _verdict(taken))
    _console().print(table)
    unfit = sum(first_broken(taken) is not None for taken in rows)
    print(f"{unfit} of {len(rows)} pictures would be UNFIT at station {station.name}")


def _frames(
    paths: Sequence[Path], channels: Literal[1, 3], height: int, width: int
) -> Iterator[Pixels]:
    """Each picture, with a bar on the way.

    Raises:
        UsageFault: One has another size.
    """
    progress = Console(stderr=True)
    for path in track(paths, "measuring", console=progress, disable=not progress.is_terminal):
        yield read_sized(path, channels, height, width)


def _greys(
    paths: Sequence[Path], channels: Literal[1, 3] | None, height: int, width: int
) -> Iterator[Pixels]:
    """Each picture in grey as the gate sees it; valid until the next is asked for."""
    into = np.empty((height, width), np.uint8)
    for picture in _frames(paths, channels or 3, height, width):
        yield measures.grey_of(picture, into)


def _region(given: Sequence[int] | None, width: int, height: int) -> Region | None:
    """The region of the command line, if there is one."""
    if given is None:
        return None
    x1, y1, x2, y2 = given
    if not (0 <= x1 < x2 <= width and 0 <= y1 < y2 <= height):
        raise UsageFault(
            f"{x1} {y1} {x2} {y2} is no region of a picture of {width} x {height} px",
            "--region",
            "give x1 y1 x2 y2 inside of it, x1 < x2 and y1 < y2",
        )
    return x1, y1, x2, y2


def _station(given: str) -> Station:
    """The station that FILE or FILE:NAME means."""
    file, name = (given, "") if Path(given).exists() else _parted(given)
    stations = load(file, must_exist=False).stations
    if not name and len(stations) == 1:
        return stations[0]
    for station in stations:
        if station.name == name:
            return station
    known = ", ".join(station.name for station in stations)
    what = f"has no station {name}" if name else f"has {len(stations)} stations"
    raise UsageFault(what, file, f"say --station {file}:NAME with one of: {known}")


def _parted(given: str) -> tuple[str, str]:
    file, colon, name = given.rpartition(":")
    return (file, name) if colon else (given, "")


def _table(*columns: str) -> Table:
    table = Table("picture", box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="left" if column == "verdict" else "right")
    return table


def _console() -> Console:
    """Where the table goes; wide enough where it goes into a file."""
    console = Console()
    return console if console.is_terminal else Console(width=_TABLE_WIDTH)


def _cell(measure: Measure) -> str:
    """A value, with the limit that it broke."""
    if measure.reason is Reason.NONE:
        return f"{measure.value:.5g}"
    return f"[red]{measure.value:.5g} ({measure.limit:.5g})[/]"


def _verdict(taken: Sequence[Measure]) -> str:
    broken = first_broken(taken)
    return "fit" if broken is None else f"[red]{broken.reason.name}[/]"


def _number(kind: Callable[[str], float], least: float, most: float) -> Callable[[str], float]:
    """How argparse reads a number within limits."""

    def number(text: str) -> float:
        value = kind(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text}: expected {least} to {most}")
        return value

    return number
