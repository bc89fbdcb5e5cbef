"""Frame to tensor and back, exactly."""

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from inspectd.errors import FrameFault
from inspectd.model.geometry import Geometry
from inspectd.model.spec import LetterBox, ModelSpec, Nms, Op, Pad, Program, Resize

SIDES = st.integers(16, 2000)
SHARES = st.tuples(*[st.floats(0, 1)] * 4)


def model(*ops: Op, size: tuple[int, int]) -> ModelSpec:
    """A model with these steps."""
    return ModelSpec(
        name="m",
        arch="a",
        path="",
        config_path="",
        programs=(Program("json", "", ""),),
        labels=("x",),
        colour="rgb",
        ops=ops,
        tensor_shape=(3, *size),
        inputs=("image",),
        outputs=(),
        layout="scores",
        draw_threshold=0.5,
        nms=Nms(),
        raw_bytes_max=0,
        digest="",
    )


def stretch(height: int, width: int) -> ModelSpec:
    """Any frame fills the tensor."""
    return model(Resize(height, width, keep_ratio=False, interpolation=1), size=(height, width))


def padded(side: int) -> ModelSpec:
    """The ratio is kept, the border is right and below."""
    resize = Resize(side, side, keep_ratio=True, interpolation=1)
    return model(resize, Pad(side, side, (114,) * 3), size=(side, side))


def letterbox(height: int, width: int) -> ModelSpec:
    """The ratio is kept, the picture is in the middle."""
    return model(LetterBox(height, width, 128), size=(height, width))


MODELS = st.one_of(
    st.builds(stretch, SIDES, SIDES), st.builds(padded, SIDES), st.builds(letterbox, SIDES, SIDES)
)


def placed(spec: ModelSpec, height: int, width: int) -> Geometry:
    """The layout; frames so thin that nothing of them would be left are passed over."""
    try:
        return Geometry.of(spec, height, width)
    except FrameFault:
        assume(condition=False)
        raise


@given(MODELS, SIDES, SIDES, st.lists(SHARES, max_size=5))
def test_back_and_forth_is_the_same_place(
    spec: ModelSpec, height: int, width: int, shares: list[tuple[float, ...]]
) -> None:
    """Rounding of the border must not differ between the ways (seen elsewhere: 3 px off)."""
    place = placed(spec, height, width)
    boxes = (np.array(shares).reshape(-1, 4) * np.array([width, height] * 2)).astype(np.float32)
    there = place.to_tensor(boxes)
    np.testing.assert_allclose(place.to_frame(there, is_scaled=False), boxes, atol=0.01)
    scale_y, scale_x = place.side_inputs()["scale_factor"]
    scaled: npt.NDArray[np.float32] = np.divide(there, [scale_x, scale_y] * 2).astype(np.float32)
    np.testing.assert_allclose(place.to_frame(scaled, is_scaled=True), boxes, atol=0.01)


@given(MODELS, SIDES, SIDES)
def test_the_whole_frame_lies_in_the_tensor(spec: ModelSpec, height: int, width: int) -> None:
    """Its corners are those of the resized picture, on whole pixels where a size was told.

    Where a ratio was told (`keep_ratio`), OpenCV rounds the last pixel: half of one at most.
    """
    place = placed(spec, height, width)
    corners = place.to_tensor(np.array([[0, 0, width, height]], np.float32))[0]
    wanted = [
        place.left,
        place.top,
        place.left + place.resized_width,
        place.top + place.resized_height,
    ]
    is_ratio = any(isinstance(op, Resize) and op.keep_ratio for op in spec.ops)
    np.testing.assert_allclose(corners, wanted, rtol=1e-6, atol=0.501 if is_ratio else 0)
    assert wanted[2] <= place.tensor_width
    assert wanted[3] <= place.tensor_height


def test_a_letterbox_shares_the_border_out() -> None:
    """640 x 480 into 320 x 320: 240 rows of picture, 40 above and below."""
    place = Geometry.of(letterbox(320, 320), 480, 640)
    assert (place.resized_height, place.resized_width, place.top, place.left) == (240, 320, 40, 0)


def test_an_odd_border_has_its_smaller_half_first() -> None:
    """PaddleDetection rounds (border - 0.1) above and (border + 0.1) below."""
    place = Geometry.of(letterbox(321, 320), 480, 640)
    assert place.top == 40


def test_boxes_in_the_border_are_told_apart() -> None:
    """Outside, across the edge, inside, a point inside."""
    place = Geometry.of(letterbox(320, 320), 480, 640)
    boxes = np.array(
        [[10, -50, 20, -10], [10, -50, 20, 10], [1, 1, 2, 2], [5, 5, 5, 5]], np.float32
    )
    assert place.is_inside(boxes).tolist() == [False, True, True, True]
    assert place.clip(boxes)[1].tolist() == [10, 0, 20, 10]


def test_frames_that_do_not_fit_are_refused() -> None:
    """A program with a fixed size and no resize takes frames of that size only."""
    with pytest.raises(FrameFault, match="64 x 48 px"):
        Geometry.of(model(size=(32, 32)), 48, 64)
    wide = model(
        Resize(32, 64, keep_ratio=True, interpolation=1), Pad(32, 64, (0,) * 3), size=(32, 64)
    )
    with pytest.raises(FrameFault, match="the tensor is 64 x 32"):
        Geometry.of(wide, 64, 32)


def test_a_frame_too_thin_for_the_tensor_is_refused() -> None:
    """Nothing would be left of it; OpenCV would stop with an assertion."""
    for spec in (padded(16), letterbox(16, 16)):
        with pytest.raises(FrameFault, match="gives 16 x 0 px"):
            Geometry.of(spec, 16, 2000)


def test_a_ratio_that_is_kept_is_told_unrounded() -> None:
    """50 rows become 45.7, which OpenCV rounds to 46 but samples as 45.7: so must the way back."""
    place = Geometry.of(padded(64), 50, 70)
    assert (place.resized_height, place.resized_width) == (46, 64)
    assert place.scale_y == place.scale_x == 64 / 70


def test_opencv_samples_where_the_layout_says() -> None:
    """An edge in the frame is found in the resized picture where `to_tensor` puts it."""
    frame = np.zeros((50, 70), np.uint8)
    frame[40:] = 255
    place = Geometry.of(padded(64), *frame.shape)
    small = cv2.resize(
        frame, None, None, place.scale_x, place.scale_y, interpolation=cv2.INTER_LINEAR
    )
    assert small.shape == (place.resized_height, place.resized_width)
    dark_rows = float((255 - small[:, 30].astype(np.float64)).sum() / 255)
    told = place.to_tensor(np.array([[0, 0, 1, 40]], np.float32))[0, 3]
    assert dark_rows == pytest.approx(told, abs=0.1)


def test_a_letterbox_is_told_the_size_without_its_border() -> None:
    """As PaddleDetection tells `im_shape`."""
    side = Geometry.of(letterbox(320, 320), 480, 640).side_inputs()
    assert side["im_shape"].tolist() == [240.0, 320.0]
    assert side["scale_factor"].tolist() == [0.5, 0.5]


def test_the_program_is_told_scales_vertical_first() -> None:
    """The order of PaddleDetection: y, x."""
    side = Geometry.of(stretch(320, 640), 160, 640).side_inputs()
    assert side["scale_factor"].tolist() == [2.0, 1.0]
    assert side["im_shape"].tolist() == [320.0, 640.0]
