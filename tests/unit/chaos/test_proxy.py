"""The wire that can be broken."""

import random
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.chaos.kinds import KINDS, Action
from inspectd.chaos.proxy import WORDS, Proxy, _garbled

pytestmark = pytest.mark.slow


class _Echo:
    """Answers what it gets, and remembers it."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self.listener.getsockname()[1])
        self.got = b""
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(peer,), daemon=True).start()

    def _serve(self, peer: socket.socket) -> None:
        with peer:
            try:
                while data := peer.recv(4096):
                    self.got += data
                    peer.sendall(data)
            except OSError:
                return


@pytest.fixture
def echo() -> Iterator[_Echo]:
    """A peer in the place of the PLC."""
    made = _Echo()
    yield made
    made.listener.close()


@pytest.fixture
def wire(echo: _Echo) -> Iterator[Proxy]:
    """A wire without trouble."""
    made = Proxy(echo.port)
    made.start()
    yield made
    made.close()


@pytest.fixture
def sink(wire: Proxy) -> Iterator[socket.socket]:
    """A connection through the wire that has said hello."""
    with socket.create_connection(("127.0.0.1", wire.port), timeout=5) as made:
        made.sendall(b"hello")
        assert _received(made, 5) == b"hello"
        yield made


def _received(peer: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count and (chunk := peer.recv(count - len(data))):
        data += chunk
    return data


def _is_cut(peer: socket.socket) -> bool:
    try:
        return peer.recv(1) == b""
    except ConnectionError:
        return True


def _is_refused(port: int) -> bool:
    """Whether a new connection ends at once, or before."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as refused:
            return _is_cut(refused)
    except ConnectionError:
        return True


def test_a_reset_ends_the_connection_and_lets_the_next_one_in(
    wire: Proxy, sink: socket.socket
) -> None:
    """As a switch that is restarted does."""
    wire.trouble("reset", 1)
    assert _is_cut(sink)
    with socket.create_connection(("127.0.0.1", wire.port), timeout=5) as again:
        again.sendall(b"again")
        assert _received(again, 5) == b"again"


def test_who_is_refused_is_let_in_when_it_is_over(wire: Proxy, sink: socket.socket) -> None:
    """Connections end at once until then."""
    wire.trouble("refuse", 1)
    assert _is_cut(sink)
    assert _is_refused(wire.port)
    wire.calm()
    with socket.create_connection(("127.0.0.1", wire.port), timeout=5) as again:
        again.sendall(b"again")
        assert _received(again, 5) == b"again"


@pytest.mark.parametrize("word", ["delay", "split"])
def test_slow_bytes_all_arrive_in_order(wire: Proxy, sink: socket.socket, word: str) -> None:
    """Late, or in pieces."""
    wire.trouble(word, 1)
    sink.sendall(b"0123456789")
    assert _received(sink, 10) == b"0123456789"


def test_what_is_held_arrives_when_it_is_over(
    wire: Proxy, echo: _Echo, sink: socket.socket
) -> None:
    """A request is carried out late."""
    wire.trouble("hold", 1)
    sink.sendall(b"late")
    time.sleep(0.1)
    assert echo.got == b"hello"
    wire.calm()
    assert _received(sink, 4) == b"late"


def test_of_a_half_open_wire_only_answers_are_lost(
    wire: Proxy, echo: _Echo, sink: socket.socket
) -> None:
    """The request was carried out, and nobody hears of it; the connection ends with the trouble."""
    wire.trouble("half-open", 1)
    sink.sendall(b"told")
    until = time.monotonic() + 5
    while echo.got != b"hellotold" and time.monotonic() < until:
        time.sleep(0.01)
    assert echo.got == b"hellotold"
    time.sleep(0.1)
    wire.calm()
    assert _is_cut(sink)


def test_a_black_hole_lets_nothing_through(wire: Proxy, echo: _Echo, sink: socket.socket) -> None:
    """Neither way, and what went in never comes out."""
    wire.trouble("blackhole", 1)
    sink.sendall(b"gone")
    time.sleep(0.1)
    wire.calm()
    assert _is_cut(sink)
    assert echo.got == b"hello"


@given(st.binary(min_size=9, max_size=60), st.integers(0, 1 << 32))
def test_a_garbled_answer_is_another_one(answer: bytes, seed: int) -> None:
    """Whatever the dice say."""
    assert _garbled(answer, random.Random(seed)) != answer  # noqa: S311 - trouble, no secret


def test_the_table_of_kinds_uses_every_trouble() -> None:
    """Each word of the wire is a kind of a campaign."""
    assert {kind.word for kind in KINDS if kind.action is Action.WIRE} == WORDS
