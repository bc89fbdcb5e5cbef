"""Whether the PLC's program runs."""

from inspectd.stages.sink.watch import PlcWatch


def test_a_heartbeat_that_stands_still_is_noticed_once_and_comes_back() -> None:
    """The change is answered, not the state; any further beat ends it."""
    watch = PlcWatch(100)
    watch.meet(0)
    assert not watch.look(10, 5)
    assert not watch.look(90, 6)
    assert not watch.look(190, 6)
    assert watch.look(191, 6)
    assert watch.is_silent
    assert not watch.look(300, 6)
    assert watch.look(310, 7)
    assert not watch.is_silent


def test_a_new_connection_gives_the_plc_its_time_anew() -> None:
    """Time without a connection says nothing about its program; the first value is no beat."""
    watch = PlcWatch(100)
    watch.meet(0)
    watch.look(10, 5)
    watch.meet(1000)
    assert not watch.look(1050, 5)
    assert watch.look(1101, 5)


def test_a_plc_that_is_not_watched_may_stand_still() -> None:
    """0 turns the watch off."""
    watch = PlcWatch(0)
    watch.meet(0)
    assert not watch.look(10**12, 5)
    assert not watch.is_silent
