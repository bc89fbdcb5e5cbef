"""All checks of a station on one frame after the other."""

import cv2
import numpy as np
import pytest

from inspectd.config.schema import (
    Exposure,
    Frozen,
    Gate,
    Glare,
    Presence,
    Saturation,
    Sharpness,
)
from inspectd.frame import Reason
from inspectd.ports import Pixels
from inspectd.stages.gate.inspection import Inspection, first_broken

SHAPE = (120, 160, 3)
ALL = Gate(
    sharpness=Sharpness(min=100),
    exposure=Exposure(min_mean=40, max_mean=220),
    saturation=Saturation(max_share=0.2),
    glare=Glare(max_blob_px=1000),
    presence=Presence(reference="", min_likeness=0.3),
    frozen=Frozen(),
)


def scene(seed: int = 0) -> Pixels:
    """A frame that keeps all limits of `ALL`: a shape, and noise as fine structure."""
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    shape = 110 + 40 * np.sin(x / 25) + 40 * np.cos(y / 30)
    grain = np.random.default_rng(seed).normal(0, 12, SHAPE)
    return np.asarray(np.clip(shape[..., None] + grain, 0, 255), np.uint8)


def grey(frame: Pixels) -> Pixels:
    """As a reference is read."""
    return np.asarray(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY), np.uint8)


def reason(frame: Pixels, gate: Gate = ALL) -> Reason:
    """Why the frame is unfit."""
    broken = first_broken(Inspection(gate, SHAPE, grey(scene(9))).measure(frame))
    return Reason.NONE if broken is None else broken.reason


def burnt(height: int, width: int) -> Pixels:
    """The scene with a white patch."""
    frame = scene()
    frame[:height, :width] = 255
    return frame


def test_a_good_frame_keeps_all_limits() -> None:
    """Six measures, each told with its limit, none broken."""
    taken = Inspection(ALL, SHAPE, grey(scene(9))).measure(scene())
    names = ["frozen", "exposure", "glare", "saturation", "presence", "sharpness"]
    assert [one.name for one in taken] == names
    assert first_broken(taken) is None


def test_a_failed_light_is_dark_before_it_is_blurred() -> None:
    """Little light leaves little structure: the cause is told, not what follows from it."""
    dark = (scene() * 0.1).astype(np.uint8)
    taken = Inspection(ALL, SHAPE, grey(scene(9))).measure(dark)
    assert {one.reason for one in taken} >= {Reason.DARK, Reason.BLURRED}
    assert reason(dark) is Reason.DARK


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (np.full(SHAPE, 255, np.uint8), Reason.BRIGHT),
        (burnt(30, 40), Reason.GLARE),
        (burnt(60, 80), Reason.GLARE),
        (np.asarray(cv2.GaussianBlur(scene(), (0, 0), 4), np.uint8), Reason.BLURRED),
        (255 - scene(), Reason.OCCLUDED),
    ],
)
def test_each_fault_has_its_reason(frame: Pixels, expected: Reason) -> None:
    """One way of being unfit after the other."""
    assert reason(frame) is expected


def test_many_small_burnt_spots_are_saturation_and_no_glare() -> None:
    """They do not touch."""
    frame = scene()
    frame[::2, ::2] = 255
    assert reason(frame) is Reason.SATURATED


def test_checks_that_are_not_given_are_not_made() -> None:
    """An empty gate lets everything pass."""
    assert Inspection(Gate(), SHAPE).measure(np.zeros(SHAPE, np.uint8)) == ()


def test_a_check_looks_at_its_region_only() -> None:
    """A reflection outside of it does not matter."""
    gate = Gate(glare=Glare(max_blob_px=10, region=(80, 60, 160, 120)))
    assert reason(burnt(40, 60), gate) is Reason.NONE
    assert reason(burnt(70, 90), gate) is Reason.GLARE


def test_an_exact_repetition_is_frozen() -> None:
    """Sensor noise makes every true picture differ."""
    inspection = Inspection(Gate(frozen=Frozen()), SHAPE)
    values = [inspection.measure(scene(seed))[0] for seed in (1, 1, 1, 2, 2)]
    assert [one.value for one in values] == [0, 1, 2, 0, 1]
    frozen, none = Reason.FROZEN, Reason.NONE
    assert [one.reason for one in values] == [none, frozen, frozen, none, frozen]


def test_a_picture_that_comes_back_later_is_not_frozen() -> None:
    """Only the last one counts: a replay may loop."""
    inspection = Inspection(Gate(frozen=Frozen()), SHAPE)
    assert [inspection.measure(scene(seed))[0].value for seed in (1, 2, 1)] == [0, 0, 0]


def test_the_presence_check_wants_its_reference() -> None:
    """Forgetting to read it is a fault of the program."""
    with pytest.raises(ValueError, match="reference"):
        Inspection(ALL, SHAPE)


def test_grey_cameras_are_measured_alike() -> None:
    """A grey frame and its colour twin give the same numbers."""
    frame = scene()
    frame[...] = frame[..., :1]
    gate = Gate(sharpness=Sharpness(min=1), exposure=Exposure(min_mean=1, max_mean=250))
    colour = Inspection(gate, SHAPE).measure(frame)
    plain = Inspection(gate, SHAPE[:2]).measure(np.ascontiguousarray(frame[..., 0]))
    assert colour == plain
