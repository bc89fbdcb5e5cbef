"""Inboxes and outboxes, in one process, over real abstract sockets."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspectd.bus.link import QUEUE_MAX, Inbox, Road
from inspectd.errors import PortBusy, WireMismatch
from inspectd.frame import Kind, Role, Ticket


@pytest.fixture
def road() -> Iterator[Road]:
    """Links of a run of its own."""
    made = Road(f"test-{secrets.token_hex(4)}", 77)
    yield made
    made.close()


def test_messages_arrive_in_order(road: Road) -> None:
    """One outbox keeps its order."""
    inbox, outbox = road.inbox(Role.GATE, 0), road.outbox(Role.GATE, 0)
    for i in range(50):
        assert outbox.send(Kind.FRAME, Ticket(0, i))
    assert [_next(inbox).trigger_id for _ in range(50)] == list(range(50))


def test_an_empty_inbox_answers_none(road: Road) -> None:
    """Nothing there is a value; the wait ends by itself."""
    inbox = road.inbox(Role.GATE, 0)
    assert not inbox.wait(0.001)
    assert inbox.receive() is None


def test_a_full_queue_is_an_answer(road: Road) -> None:
    """Sending to nobody ends with False and never waits."""
    outbox = road.outbox(Role.GATE, 0)
    sent = 0
    while outbox.send(Kind.FRAME, Ticket(0, sent)):
        sent += 1
    assert sent == QUEUE_MAX


def test_a_message_of_another_run_is_a_mismatch(road: Road) -> None:
    """Somebody who knows the address but not the token is refused, and the inbox goes on."""
    inbox = road.inbox(Role.SINK, 0)
    stranger = Road(road.run, 78)
    stranger.outbox(Role.SINK, 0).send(Kind.VERDICT, Ticket(0, 1))
    with pytest.raises(WireMismatch, match="token"):
        _next(inbox)
    stranger.close()
    road.outbox(Role.SINK, 0).send(Kind.VERDICT, Ticket(0, 2))
    assert _next(inbox).trigger_id == 2


def test_an_inbox_is_bound_once(road: Road) -> None:
    """A second process of the same role of the same run is told so."""
    road.inbox(Role.SINK, 0)
    with pytest.raises(PortBusy, match="sink"):
        road.inbox(Role.SINK, 0)


def test_addresses_are_abstract_and_gone_when_closed() -> None:
    """Nothing stands in the file system, and the kernel forgets the name."""
    road = Road(f"test-{secrets.token_hex(4)}", 1)
    road.inbox(Role.INFER, -1)
    name = f"@inspectd-{road.run}-line-infer"
    assert name in Path("/proc/net/unix").read_text(encoding="utf-8")
    road.close()
    assert name not in Path("/proc/net/unix").read_text(encoding="utf-8")


def test_messages_wait_for_a_receiver_that_comes_later(road: Road) -> None:
    """What is sent while the receiver restarts is not lost."""
    road.outbox(Role.JUDGE, 0).send(Kind.RAW, Ticket(0, 5))
    assert _next(road.inbox(Role.JUDGE, 0)).trigger_id == 5


def _next(inbox: Inbox) -> Ticket:
    """Take the next message; a second is far more than it needs."""
    for _ in range(100):
        if inbox.wait(0.01) and (message := inbox.receive()) is not None:
            return message[1]
    raise AssertionError("no message came")
