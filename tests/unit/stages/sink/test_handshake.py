"""When the next verdict may be written."""

from inspectd.stages.sink.handshake import Handshake


def test_the_next_verdict_waits_for_the_acknowledgement() -> None:
    """A verdict that the PLC has not taken is not overwritten."""
    handshake = Handshake(ack_timeout_ns=100)
    handshake.draw()
    handshake.wrote(10)
    assert handshake.is_free(50) == (False, False)
    handshake.acknowledge(handshake.sequence)
    assert handshake.is_free(51) == (True, False)


def test_the_acknowledgement_of_another_sequence_is_none() -> None:
    """An old write that was carried out late is not mistaken for the new one."""
    handshake = Handshake(ack_timeout_ns=100)
    old = handshake.draw()
    handshake.draw()
    handshake.wrote(10)
    handshake.acknowledge(old)
    assert handshake.is_waiting


def test_a_missing_acknowledgement_is_an_overrun_once() -> None:
    """The wait ends, is reported once, and the flag stays until the PLC acknowledges again."""
    handshake = Handshake(ack_timeout_ns=100)
    handshake.draw()
    handshake.wrote(10)
    assert handshake.is_free(110) == (True, True)
    assert handshake.is_free(111) == (True, False)
    assert handshake.has_overrun
    handshake.acknowledge(handshake.sequence)
    assert not handshake.has_overrun


def test_waiting_for_the_echo_of_the_start_is_no_overrun() -> None:
    """Nothing is lost when the PLC does not echo 0: no verdict was there."""
    handshake = Handshake(ack_timeout_ns=100)
    handshake.begin(0, 10)
    assert handshake.is_free(20) == (False, False)
    assert handshake.is_free(110) == (True, False)
    assert not handshake.has_overrun
