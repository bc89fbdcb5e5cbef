"""When the wall clock may say that something is old."""

from datetime import datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from inspectd.record.clock import LONG_AGO, STEADY_AFTER_NS, STEP_NS, SteadyClock

_NOON = datetime(2026, 12, 1, 12, tzinfo=timezone.utc)
_MINUTE_NS = 60_000_000_000


def _looks(clock: SteadyClock, begin: datetime, minutes: range) -> list[datetime]:
    return [clock.look(begin + timedelta(minutes=m), m * _MINUTE_NS) for m in minutes]


def test_a_clock_is_believed_after_an_hour() -> None:
    """Not at once: it may have been wrong when the machine started."""
    clock = SteadyClock()
    answers = _looks(clock, _NOON, range(62))
    assert answers[:60] == [LONG_AGO] * 60
    assert answers[60:] == [_NOON + timedelta(minutes=60), _NOON + timedelta(minutes=61)]


def test_a_step_costs_another_hour() -> None:
    """Ahead or back."""
    for step in (timedelta(days=400), timedelta(days=-400), timedelta(seconds=6)):
        clock = SteadyClock()
        _looks(clock, _NOON, range(100))
        answers = _looks(clock, _NOON + step, range(100, 161))
        assert answers[:60] == [LONG_AGO] * 60
        assert answers[60] != LONG_AGO


def test_slewing_is_no_step() -> None:
    """A time server pulls a clock by at most 0.5 ms a second."""
    clock = SteadyClock()
    answers = [
        clock.look(_NOON + timedelta(seconds=60.03 * m), m * _MINUTE_NS) for m in range(1000)
    ]
    assert LONG_AGO not in answers[60:]


@given(st.lists(st.tuples(st.integers(1, 120), st.integers(-(10**6), 10**6)), max_size=50))
def test_nothing_is_believed_within_an_hour_of_a_step(steps: list[tuple[int, int]]) -> None:
    """Whatever the clock does: each belief stands on an hour that went along with this machine."""
    clock, utc, now_ns, steady_since_ns = SteadyClock(), _NOON, 0, 0
    clock.look(utc, now_ns)
    for minutes, jump_s in steps:
        now_ns += minutes * _MINUTE_NS
        utc += timedelta(minutes=minutes, seconds=jump_s)
        if abs(jump_s) * 10**9 > STEP_NS:
            steady_since_ns = now_ns
        is_believed = clock.look(utc, now_ns) != LONG_AGO
        assert is_believed == (now_ns - steady_since_ns >= STEADY_AFTER_NS)
