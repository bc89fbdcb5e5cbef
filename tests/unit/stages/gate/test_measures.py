"""The measures of the gate: what each number is, and which side of its limit is unfit."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspectd.config.schema import Exposure, Frozen, Glare, Presence, Saturation, Sharpness
from inspectd.frame import Reason
from inspectd.ports import Pixels
from inspectd.stages.gate import measures
from inspectd.stages.gate.measures import View, view_of


def noise(height: int = 120, width: int = 160, seed: int = 0) -> Pixels:
    """A picture full of structure."""
    return np.random.default_rng(seed).integers(0, 256, (height, width), np.uint8)


def waves(height: int = 120, width: int = 160) -> Pixels:
    """A coarse shape that a reduction to 64 px keeps."""
    y, x = np.mgrid[:height, :width]
    return np.asarray(128 + 50 * np.sin(x / 25) + 50 * np.cos(y / 30), np.uint8)


def flat(value: int, height: int = 120, width: int = 160) -> Pixels:
    """A picture of one grey value."""
    return np.full((height, width), value, np.uint8)


def test_a_grey_frame_is_its_own_grey_picture() -> None:
    """Nothing is copied."""
    frame = noise()
    assert measures.grey_of(frame, np.empty_like(frame)) is frame


def test_a_colour_frame_becomes_grey_in_the_buffer_given() -> None:
    """Blue, green, red in this order, weighted as the eye does."""
    frame = np.zeros((2, 3, 3), np.uint8)
    frame[..., 2] = 255
    into = np.empty((2, 3), np.uint8)
    assert measures.grey_of(frame, into) is into
    assert set(into.ravel().tolist()) == {76}


def test_a_region_excludes_its_right_and_lower_edge() -> None:
    """x1, y1, x2, y2 as everywhere in a station file."""
    grey = np.arange(20, dtype=np.uint8).reshape(4, 5)
    assert view_of(grey, (1, 2, 3, 4)).grey.tolist() == [[11, 12], [16, 17]]


def test_a_region_of_two_megapixels_is_looked_at_as_it_is() -> None:
    """Only more than that is halved."""
    grey = np.zeros((1024, 2048), np.uint8)
    assert view_of(grey, None) == (grey, 1)


@pytest.mark.parametrize(("height", "width", "area"), [(1025, 2048, 4), (2160, 3840, 4)])
def test_a_larger_region_is_halved(height: int, width: int, area: int) -> None:
    """A 4K frame once; an odd row is left out."""
    view = view_of(np.zeros((height, width), np.uint8), None)
    assert view.grey.shape == (height // 2, width // 2)
    assert view.area == area


def test_a_very_large_region_is_halved_again() -> None:
    """Until at most two megapixels are left."""
    view = view_of(np.zeros((4096, 8192), np.uint8), None)
    assert (view.grey.shape, view.area) == ((1024, 2048), 16)


@pytest.mark.parametrize("sigma", [0.5, 1.0, 2.0])
def test_blur_lowers_sharpness(sigma: float) -> None:
    """The more, the lower (down to where only the rounding of grey values is left)."""
    sharp = noise()
    blurred = np.asarray(cv2.GaussianBlur(sharp, (0, 0), sigma), np.uint8)
    more = np.asarray(cv2.GaussianBlur(sharp, (0, 0), 2 * sigma), np.uint8)
    values = [measures.laplacian_variance(View(one, 1)) for one in (sharp, blurred, more)]
    assert values[0] > 2 * values[1] > 4 * values[2]


def test_sharpness_is_the_variance_of_the_laplacian() -> None:
    """Against the definition, computed plainly; outside of the border the picture is mirrored."""
    grey = noise(40, 50)
    wide = np.pad(grey.astype(np.float64), 1, mode="reflect")
    around = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
    laplacian = around - 4 * wide[1:-1, 1:-1]
    assert measures.laplacian_variance(View(grey, 1)) == pytest.approx(laplacian.var())


def test_a_flat_picture_has_no_sharpness() -> None:
    """There is no structure at all."""
    assert measures.laplacian_variance(View(flat(200), 1)) == 0


def test_a_picture_below_its_sharpness_is_blurred() -> None:
    """The limit itself is still fit."""
    view = View(noise(), 1)
    value = measures.laplacian_variance(view)
    assert measures.sharpness(view, Sharpness(min=value)).reason is Reason.NONE
    broken = measures.sharpness(view, Sharpness(min=value * 1.001))
    assert (broken.name, broken.value, broken.reason) == ("sharpness", value, Reason.BLURRED)


@pytest.mark.parametrize(
    ("value", "limit", "reason"),
    [
        (39, 40, Reason.DARK),
        (40, 40, Reason.NONE),
        (120, 40, Reason.NONE),
        (180, 220, Reason.NONE),
        (220, 220, Reason.NONE),
        (221, 220, Reason.BRIGHT),
    ],
)
def test_the_mean_has_two_limits_and_tells_the_nearer(
    value: int, limit: float, reason: Reason
) -> None:
    """Limits 40 and 220, both still fit."""
    check = Exposure(min_mean=40, max_mean=220)
    measure = measures.exposure(View(flat(value), 1), check)
    assert measure.value == pytest.approx(value)
    assert (measure.limit, measure.reason) == (limit, reason)


@settings(deadline=None)
@given(st.integers(1, 255), st.integers(0, 255))
def test_saturation_counts_values_from_the_level_on(level: int, value: int) -> None:
    """The level itself is burnt out."""
    share = measures.burnt_share(View(flat(value, 4, 4), 1), level)
    assert share == (1.0 if value >= level else 0.0)


def test_too_large_a_share_at_the_end_of_the_scale_is_saturated() -> None:
    """A quarter of the picture, limits at and below it."""
    grey = flat(10)
    grey[:60, :80] = 255
    view = View(grey, 1)
    assert measures.saturation(view, Saturation(max_share=0.25)).reason is Reason.NONE
    assert measures.saturation(view, Saturation(max_share=0.24)).reason is Reason.SATURATED


def test_glare_is_the_largest_connected_blob() -> None:
    """Two blobs do not add up; corners connect."""
    grey = flat(0)
    grey[10:20, 10:20] = 255
    grey[50:55, 50:60] = 255
    grey[55:60, 60:70] = 255
    assert measures.blob_px(View(grey, 1), 250) == 100
    assert measures.glare(View(grey, 1), Glare(max_blob_px=100)).reason is Reason.NONE
    assert measures.glare(View(grey, 1), Glare(max_blob_px=99)).reason is Reason.GLARE
    grey[57, 69] = 0
    assert measures.blob_px(View(grey, 1), 250) == 100
    grey[30:41, 30:40] = 250
    assert measures.blob_px(View(grey, 1), 250) == 110


def test_a_picture_without_burnt_pixels_has_no_blob() -> None:
    """Zero, not the background."""
    assert measures.blob_px(View(flat(249), 1), 250) == 0


def test_blobs_of_halved_pictures_are_told_in_pixels_of_the_frame() -> None:
    """A limit means the same at every size."""
    grey = np.zeros((2160, 3840), np.uint8)
    grey[100:200, 300:500] = 255
    assert measures.blob_px(view_of(grey, None), 250) == 20_000


def test_a_picture_is_like_itself_and_unlike_its_negative() -> None:
    """Normalised correlation: 1 and -1."""
    shape = measures.shape_of(View(waves(), 1))
    negative = measures.shape_of(View(255 - waves(), 1))
    assert measures.likeness(shape, shape) == pytest.approx(1, abs=1e-5)
    assert measures.likeness(shape, negative) == pytest.approx(-1, abs=1e-3)


@settings(deadline=None)
@given(st.floats(0.4, 1.2), st.integers(-20, 20))
def test_likeness_does_not_ask_for_light(gain: float, offset: int) -> None:
    """Brightness and contrast are the business of other measures."""
    other = np.clip(waves() * gain + offset, 0, 255).astype(np.uint8)
    one, two = (measures.shape_of(View(grey, 1)) for grey in (waves(), other))
    assert measures.likeness(one, two) > 0.99


def test_a_flat_picture_is_like_nothing() -> None:
    """A lens cap has no shape: 0, not an error."""
    shape, cap = (measures.shape_of(View(grey, 1)) for grey in (waves(), flat(0)))
    assert measures.likeness(shape, cap) == 0
    assert measures.likeness(cap, cap) == 0


@settings(deadline=None)
@given(st.integers(1, 300), st.integers(1, 300))
def test_shapes_fit_into_64_px(height: int, width: int) -> None:
    """Of any region; equal regions give equal shapes."""
    shape = measures.shape_of(View(noise(height, width), 1))
    assert shape.size <= 64 * 64
    assert shape.shape == measures.shape_of(View(flat(3, height, width), 1)).shape


@pytest.mark.parametrize(
    ("meaning", "reason"),
    [("occluded", Reason.OCCLUDED), ("part_missing", Reason.PART_MISSING)],
)
def test_low_likeness_means_what_the_station_says(meaning: str, reason: Reason) -> None:
    """Something before the part, or no part."""
    check = Presence(reference="", min_likeness=0.5, meaning=meaning)  # type: ignore[arg-type]
    shape = measures.shape_of(View(waves(), 1))
    assert measures.presence(View(waves(), 1), check, shape).reason is Reason.NONE
    assert measures.presence(View(255 - waves(), 1), check, shape).reason is reason


@settings(deadline=None)
@given(st.integers(0, 119), st.integers(0, 159), st.integers(1, 255))
def test_one_changed_pixel_changes_the_fingerprint(y: int, x: int, change: int) -> None:
    """A CRC finds every change within 32 bits."""
    other = noise()
    other[y, x] ^= change
    assert measures.fingerprint(other) != measures.fingerprint(noise())


def test_one_repetition_too_many_is_frozen() -> None:
    """So many as `max_repeats` are let pass."""
    check = Frozen(max_repeats=2)
    assert measures.frozen(2, check).reason is Reason.NONE
    assert measures.frozen(3, check).reason is Reason.FROZEN
