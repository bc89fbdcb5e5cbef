"""Learnt limits on real frames: good ones stay fit, degraded ones are found."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from inspectd.config.load import load
from inspectd.config.schema import Region, Station
from inspectd.frame import Detection, Measure
from inspectd.ports import Pixels
from inspectd.stages.camera.degrade import Picturesque, degrade
from inspectd.stages.gate import measures
from inspectd.stages.gate.inspection import Inspection, first_broken
from inspectd.stages.gate.learn import Learnt, learn, numbers_of
from inspectd.stages.gate.limits import Numbers, count_unfit
from inspectd.stages.gate.measures import Shape64
from inspectd.stages.gate.picture import read_picture

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

MIDDLE: Region = (96, 96, 544, 544)
CHANGES: tuple[Picturesque, ...] = ("blur", "glare", "dark")


def read(paths: Iterable[Path], channels: Literal[1, 3] = 3) -> list[Pixels]:
    """Pictures of files."""
    return [read_picture(path, channels) for path in paths]


def grey(picture: Pixels) -> Pixels:
    """As the gate sees it."""
    return measures.grey_of(picture, np.empty(picture.shape[:2], np.uint8))


def numbers(
    pictures: Iterable[Pixels], region: Region | None = None, reference: Shape64 | None = None
) -> list[Numbers]:
    """What is measured of pictures."""
    return [numbers_of(grey(picture), region, 250, reference) for picture in pictures]


def verdicts(station: Station, pictures: Iterable[Pixels]) -> list[Measure | None]:
    """What the gate of a station says of pictures, one after the other."""
    camera = station.camera
    shape = (camera.height_px, camera.width_px, 3)[: 3 if camera.channels == 3 else 2]
    inspection = Inspection(station.gate, shape)
    return [first_broken(inspection.measure(picture)) for picture in pictures]


@pytest.fixture(scope="session")
def bottles(shared: Callable[[str], Path]) -> list[Path]:
    """Every fourth frame of eight videos."""
    return sorted((shared("bottle_cap_line/train") / "images").glob("*.jpg"))[::4]


def check_halves(taught: Sequence[Pixels], others: Sequence[Pixels]) -> Learnt:
    """At least 99 % of the others fit, at least 95 % of each change found."""
    learnt = learn(numbers(taught), 640 * 640)
    assert count_unfit(numbers(others), learnt.bounds) <= 0.01 * len(others)
    for how in CHANGES:
        worse = numbers(degrade(picture, how, 1.0) for picture in others)
        assert count_unfit(worse, learnt.bounds) >= 0.95 * len(worse), how
    return learnt


@pytest.mark.parametrize("first", [0, 1])
def test_one_half_of_the_bottles_teaches_the_other(bottles: list[Path], first: int) -> None:
    """Fit stays fit; blur, glare and darkness are found; a card before the lens is not (below)."""
    check_halves(read(bottles[first::2]), read(bottles[1 - first :: 2]))


@pytest.mark.parametrize("video", ["IMG_4818", "IMG_4822"])
def test_of_one_scene_a_card_before_the_lens_is_found_as_well(
    shared: Callable[[str], Path], video: str
) -> None:
    """Likeness to the median of one camera position, in the middle of the frame."""
    paths = sorted((shared("bottle_cap_line/train") / "images").glob(f"{video}*.jpg"))
    taught, others = read(paths[::2]), read(paths[1::2])
    median = np.median(np.stack([grey(one) for one in taught]), axis=0).astype(np.uint8)
    reference = measures.shape_of(measures.view_of(median, MIDDLE))
    learnt = learn(numbers(taught, MIDDLE, reference), 448 * 448)
    assert count_unfit(numbers(others, MIDDLE, reference), learnt.bounds) <= 0.01 * len(others)
    for how in (*CHANGES, "occlude"):
        worse = [degrade(picture, how, 1.0) for picture in others]
        found = count_unfit(numbers(worse, MIDDLE, reference), learnt.bounds)
        assert found >= 0.95 * len(worse), how


def test_of_many_scenes_likeness_is_not_proposed(bottles: list[Path]) -> None:
    """Eight camera positions have no common shape: the check says so instead of guessing."""
    pictures = read(bottles[::4])
    median = np.median(np.stack([grey(one) for one in pictures]), axis=0).astype(np.uint8)
    reference = measures.shape_of(measures.view_of(median, None))
    learnt = learn(numbers(pictures, None, reference), 640 * 640)
    (presence,) = [one for one in learnt.bounds if one.key == "presence.min_likeness"]
    assert "scene moves" in presence.left_out


def test_every_frame_of_the_demo_is_fit_and_each_change_is_found(root: Path) -> None:
    """With the gate of demo.yaml, in the words that a person would use."""
    station = load(root / "stations" / "demo.yaml", must_exist=False).stations[0]
    pictures = read(sorted((root / "stations" / "demo_frames" / "images").glob("*.jpg")))
    assert pictures
    assert verdicts(station, pictures) == [None] * len(pictures)
    reasons: dict[Picturesque, str] = {"blur": "BLURRED", "glare": "GLARE", "dark": "DARK"}
    for how, reason in reasons.items():
        broken = verdicts(station, (degrade(picture, how, 1.0) for picture in pictures))
        assert {None if one is None else one.reason.name for one in broken} == {reason}


def test_a_bottle_without_its_cap_is_fit(root: Path) -> None:
    """A fault of the part is the judge's business, not the gate's."""
    station = load(root / "stations" / "demo.yaml", must_exist=False).stations[0]
    pictures = read(sorted((root / "stations" / "demo_frames" / "images").glob("*.jpg")))
    cap = [Detection("Cap", 1.0, 280.0, 180.0, 340.0, 230.0)]
    erased = [degrade(picture, "erase", 1.0, cap) for picture in pictures]
    assert verdicts(station, erased) == [None] * len(erased)


def test_every_board_of_the_public_test_is_fit(root: Path, shared: Callable[[str], Path]) -> None:
    """With the gate of deeppcb.yaml; blur and darkness are found."""
    station = load(root / "stations" / "deeppcb.yaml", must_exist=False).stations[0]
    boards = read(sorted((shared("deeppcb/test_public") / "images").glob("*.jpg")), 1)
    assert verdicts(station, boards) == [None] * len(boards)
    for how in ("blur", "dark"):
        broken = verdicts(station, (degrade(one, how, 1.0) for one in boards[::5]))
        assert all(one is not None for one in broken), how
