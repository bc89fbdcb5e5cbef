"""Triggers of a self-triggered station."""

from hypothesis import given
from hypothesis import strategies as st

from inspectd.stages.camera.schedule import Schedule

S = 1_000_000_000


def test_a_late_look_answers_every_trigger_that_was_due() -> None:
    """After a pause of a second at 10 Hz, ten triggers come at once: none is left out."""
    schedule = Schedule(10, 0, 0)
    assert [schedule.take(S) for _ in range(12)] == [*range(11), None]


def test_a_limit_ends_the_triggers() -> None:
    """After `limit` triggers there is no next one."""
    schedule = Schedule(10, 0, 0, limit=2)
    assert [schedule.take(10 * S) for _ in range(3)] == [0, 1, None]
    assert schedule.next_ns() is None


@given(st.floats(0.1, 900), st.integers(0, 10**12), st.integers(0, 10**13))
def test_a_restarted_schedule_goes_on_where_it_would_be(rate: float, epoch: int, dead: int) -> None:
    """The first trigger after a restart is due at or after the restart, and within one period."""
    schedule = Schedule(rate, epoch, epoch + dead)
    due = schedule.next_ns()
    assert due is not None
    assert -1_000 <= due - (epoch + dead) <= S / rate + 1_000


def test_trigger_numbers_wrap_at_32_bits() -> None:
    """Trigger ids are 32-bit on the wire and at the PLC."""
    schedule = Schedule(1000, 0, (2**32 - 1) * S // 1000)
    assert [schedule.take(2**63) for _ in range(2)] == [2**32 - 1, 0]
