"""What a process may hold more than before."""

import os

from inspectd.chaos.leaks import Holding, compare, left_behind, look

THEN = Holding(fds=20, threads=4, pss_mb=50.0)


def test_equal_holdings_are_no_leak() -> None:
    """Also when a little more is held: a connection that is being made."""
    assert list(compare({"sink": THEN}, {"sink": THEN._replace(fds=22, pss_mb=60.0)})) == []


def test_growth_is_told_with_its_numbers() -> None:
    """Descriptors, threads and memory, each with what it was."""
    now = Holding(fds=60, threads=30, pss_mb=900.0)
    words = list(compare({"sink": THEN}, {"sink": now}))
    assert len(words) == 3
    assert "60 descriptors, 20" in words[0]


def test_a_process_that_is_missing_is_told() -> None:
    """It should be there at the end."""
    assert list(compare({"gate": THEN}, {})) == ["gate is not there at the end"]


def test_our_own_process_can_be_looked_at() -> None:
    """What the kernel says of it; who is gone is left out."""
    found = look({"we": os.getpid(), "gone": 1 << 22})
    assert set(found) == {"we"}
    assert found["we"].fds > 0
    assert found["we"].pss_mb > 1


def test_nothing_is_left_of_a_run_that_never_was() -> None:
    """Neither processes nor sockets."""
    assert list(left_behind([1 << 22], ["20000101T000000Z-abcdef"])) == []
