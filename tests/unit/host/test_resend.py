"""Events told again to a restarted record."""

from inspectd.frame import NO_SLOT, Ticket
from inspectd.host.resend import REMEMBERED_MAX, REMEMBERED_NS, Resend


def test_nothing_is_told_twice_without_a_restart() -> None:
    """The usual case costs nothing."""
    resend = Resend()
    resend.told(Ticket(0, 1), 0)
    assert resend.after_restart(0) == []


def test_a_restart_brings_the_events_again_in_order_and_once() -> None:
    """Without their slots: the pictures are gone with the process."""
    resend = Resend()
    for i in range(3):
        resend.told(Ticket(0, i, slot=i), i)
    again = resend.after_restart(1)
    assert [event.trigger_id for event in again] == [0, 1, 2]
    assert {event.slot for event in again} == {NO_SLOT}
    assert resend.after_restart(1) == []


def test_old_events_are_forgotten() -> None:
    """They are in the database since long."""
    resend = Resend()
    resend.told(Ticket(0, 1), 0)
    resend.told(Ticket(0, 2), REMEMBERED_NS + 1)
    assert [event.trigger_id for event in resend.after_restart(1)] == [2]


def test_memory_is_bounded() -> None:
    """The oldest go first."""
    resend = Resend()
    for i in range(REMEMBERED_MAX + 5):
        resend.told(Ticket(0, i), 0)
    again = resend.after_restart(1)
    assert len(again) == REMEMBERED_MAX
    assert again[0].trigger_id == 5
