"""Back-off and bites."""

from hypothesis import given
from hypothesis import strategies as st

from inspectd.forward.pace import BITE_MAX, FIRST_WAIT_S, WAIT_MAX_S, Pace


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60))
def test_a_wait_is_never_under_a_second_and_never_over_a_minute(chances: list[float]) -> None:
    """However often it failed and whatever chance says."""
    left = iter(chances)
    pace = Pace(lambda: next(left))
    waits = [pace.failed() for _ in chances]
    assert min(waits) >= FIRST_WAIT_S
    assert max(waits) <= WAIT_MAX_S


def test_waits_double_until_the_longest() -> None:
    """1, 2, 4 ... 60 without jitter."""
    pace = Pace(lambda: 0.0)
    assert [pace.failed() for _ in range(8)] == [1, 2, 4, 8, 16, 32, 60, 60]


def test_only_a_delivery_ends_the_back_off() -> None:
    """A broker that lets us in and takes nothing is not hammered."""
    pace = Pace(lambda: 0.0)
    pace.failed()
    pace.failed()
    pace.delivered()
    assert pace.failed() == 1


def test_a_slow_receiver_gets_smaller_bites_down_to_one() -> None:
    """So that something always fits into the time for a delivery."""
    pace = Pace(lambda: 0.0)
    for _ in range(20):
        pace.failed()
    assert pace.bite == 1
    for _ in range(20):
        pace.delivered()
    assert pace.bite == BITE_MAX
