"""Frame to tensor and back, exactly."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
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


@given(MODELS, SIDES, SIDES, st.lists(SHARES, max_size=5))
def test_back_and_forth_is_the_same_place(
    spec: ModelSpec, height: int, width: int, shares: list[tuple[float, ...]]
) -> None:
    """Rounding of the border must not differ between the ways (seen elsewhere: 3 px off)."""
    place = Geometry.of(spec, height, width)
    boxes = (np.array(shares).reshape(-1, 4) * np.array([width, height] * 2)).astype(np.float32)
    there = place.to_tensor(boxes)
    np.testing.assert_allclose(place.to_frame(there, is_scaled=False), boxes, atol=0.02)
    scale_y, scale_x = place.side_inputs()["scale_factor"]
    scaled: npt.NDArray[np.float32] = np.divide(there, [scale_x, scale_y] * 2).astype(np.float32)
    np.testing.assert_allclose(place.to_frame(scaled, is_scaled=True), boxes, atol=0.02)


@given(MODELS, SIDES, SIDES)
def test_the_whole_frame_lies_in_the_tensor(spec: ModelSpec, height: int, width: int) -> None:
    """Its corners are the corners of the resized picture, on whole pixels."""
    place = Geometry.of(spec, height, width)
    corners = place.to_tensor(np.array([[0, 0, width, height]], np.float32))[0]
    wanted = [
        place.left,
        place.top,
        place.left + place.resized_width,
        place.top + place.resized_height,
    ]
    np.testing.assert_allclose(corners, wanted, rtol=1e-6)
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


def test_the_program_is_told_scales_vertical_first() -> None:
    """The order of PaddleDetection: y, x."""
    side = Geometry.of(stretch(320, 640), 160, 640).side_inputs()
    assert side["scale_factor"].tolist() == [2.0, 1.0]
    assert side["im_shape"].tolist() == [320.0, 640.0]
