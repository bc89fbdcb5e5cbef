"""The budget of restarts."""

from hypothesis import given
from hypothesis import strategies as st

from inspectd.host.restart import RestartBudget

_SECOND = 1_000_000_000


def test_the_first_restart_comes_at_once() -> None:
    """A single crash must cost the line as little as possible."""
    assert RestartBudget().died(5) == 5


def test_who_dies_right_after_its_birth_waits_longer_and_longer() -> None:
    """A quarter of a second, then twice as long each time."""
    budget = RestartBudget()
    delays = [(budget.died(at) or 0) - at for at in range(5)]
    assert delays == [0, _SECOND // 4, _SECOND // 2, _SECOND, 2 * _SECOND]


def test_who_had_worked_for_a_while_comes_back_at_once() -> None:
    """Each moment without it costs parts; the back-off begins anew."""
    budget = RestartBudget()
    for at in (0, 1):
        budget.died(at)
    assert budget.died(6 * _SECOND) == 6 * _SECOND
    assert budget.died(7 * _SECOND) == 7 * _SECOND + _SECOND // 4


def test_the_budget_has_an_end() -> None:
    """A process that dies again and again is beyond help: None."""
    budget = RestartBudget(restarts_max=2)
    assert [budget.died(0) is None for _ in range(3)] == [False, False, True]


def test_old_deaths_are_forgiven() -> None:
    """Whoever lived for the window has the whole budget again."""
    budget = RestartBudget(restarts_max=1)
    budget.died(0)
    assert budget.died(60 * _SECOND) == 60 * _SECOND


@given(st.lists(st.integers(0, 20 * _SECOND), max_size=40))
def test_there_are_never_more_restarts_in_a_window_than_allowed(gaps: list[int]) -> None:
    """However the deaths fall: at most `restarts_max` restarts in any window, none in the past."""
    budget = RestartBudget(restarts_max=3, window_ns=60 * _SECOND)
    now, granted = 0, []
    for gap in gaps:
        now += gap
        at = budget.died(now)
        if at is not None:
            assert at >= now
            granted.append(now)
        assert sum(now - past < 60 * _SECOND for past in granted) <= 3
