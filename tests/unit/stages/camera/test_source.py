"""What the count of a device says of lost frames."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.stages.camera.source import FrameIds, frames_between

GIGE = FrameIds(1, 65535)


@pytest.mark.parametrize(
    ("previous", "current", "missed"), [(1, 2, 0), (65535, 1, 0), (65534, 1, 1), (7, 10, 2)]
)
def test_a_gap_is_counted_across_the_wrap(previous: int, current: int, missed: int) -> None:
    """GigE Vision block ids run from 1 to 65535; 0 is skipped."""
    assert frames_between(previous, current, GIGE) == missed


@given(st.integers(1, 65535), st.integers(0, 65534))
def test_the_gap_is_what_was_left_out(start: int, missed: int) -> None:
    """Counting on by `missed` + 1 from anywhere gives back `missed`."""
    current = (start - 1 + missed + 1) % 65535 + 1
    assert frames_between(start, current, GIGE) == missed
