"""Pictures made worse on purpose."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.config.schema import Degrade
from inspectd.frame import Detection
from inspectd.stages.camera.degrade import Picturesque, degrade, due

RNG = np.random.default_rng(7)
COLOUR = RNG.integers(0, 256, (120, 160, 3), dtype=np.uint8)
GREY = RNG.integers(0, 256, (120, 160), dtype=np.uint8)


@pytest.mark.parametrize("how", ["blur", "glare", "dark", "occlude"])
@pytest.mark.parametrize("picture", [COLOUR, GREY], ids=["colour", "grey"])
def test_a_worse_picture_keeps_shape_and_type_and_differs(
    how: Picturesque, picture: np.ndarray
) -> None:
    """Whatever is done, the slot's shape stays, the original is untouched, and it shows."""
    before = picture.copy()
    worse = degrade(picture, how, 1.0)
    assert worse.shape == picture.shape
    assert worse.dtype == np.uint8
    assert np.array_equal(picture, before)
    assert np.abs(worse.astype(int) - picture).mean() > 2


def test_the_same_picture_gives_the_same_worse_picture() -> None:
    """Nothing here is random: a run can be repeated."""
    assert np.array_equal(degrade(COLOUR, "glare", 1.0), degrade(COLOUR, "glare", 1.0))


def test_an_erased_object_takes_the_colour_of_its_surroundings() -> None:
    """A red square on grey ground is grey afterwards, and the rest is as before."""
    picture = np.full((200, 200, 3), 120, np.uint8)
    picture[80:120, 60:110] = (0, 0, 250)
    worse = degrade(picture, "erase", 1.0, (Detection("Cap", 1.0, 60, 80, 110, 120),))
    assert np.abs(worse[85:115, 65:105].astype(int) - 120).max() <= 12
    assert np.array_equal(worse[:60], picture[:60])


@given(
    st.floats(-50, 250),
    st.floats(-50, 250),
    st.floats(0, 300),
    st.floats(0, 300),
)
def test_any_box_can_be_erased(x: float, y: float, w: float, h: float) -> None:
    """Boxes over the edge, outside, empty or as large as the picture do no harm."""
    worse = degrade(COLOUR, "erase", 1.0, (Detection("Cap", 1.0, x, y, x + w, y + h),))
    assert worse.shape == COLOUR.shape


def test_the_first_switch_that_applies_counts() -> None:
    """`every` and `offset` choose frames; earlier switches win."""
    blur = Degrade(how="blur", every=10, offset=5)
    dark = Degrade(how="dark", every=5)
    chosen = [due((blur, dark), i) for i in range(16)]
    assert [i for i, one in enumerate(chosen) if one is blur] == [5, 15]
    assert [i for i, one in enumerate(chosen) if one is dark] == [0, 10]
