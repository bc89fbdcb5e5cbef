"""The door: few at a time, nobody for long, and nothing old."""

import http.client
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest

from inspectd.config.metricsrules import Address, address_of
from inspectd.errors import PortBusy, UsageFault
from inspectd.metrics import server as door
from inspectd.metrics.server import CONNECTIONS_MAX, STALE_NS, Page, Server
from tests.receivers.peers import free_port, until

pytestmark = pytest.mark.slow


class _Clock:
    """The time, as the test wants it."""

    def __init__(self) -> None:
        self.ahead_ns = 0

    def __call__(self) -> int:
        return time.monotonic_ns() + self.ahead_ns


@pytest.fixture
def clock() -> _Clock:
    """Goes as the machine's until it is set ahead."""
    return _Clock()


@pytest.fixture
def page(clock: _Clock) -> Page:
    """With a text on it."""
    made = Page(clock)
    made.renew(lambda: b"x 1\n", clock())
    return made


@pytest.fixture
def address() -> Address:
    """A free one."""
    return Address("127.0.0.1", free_port(), is_local=True)


@pytest.fixture
def server(address: Address, page: Page, clock: _Clock) -> Iterator[Server]:
    """At work."""
    with closing(Server(address, page, clock)) as made:
        yield made


def ask(address: Address, path: str = "/metrics", method: str = "GET") -> tuple[int, bytes]:
    """Status and text."""
    with closing(http.client.HTTPConnection(address.host, address.port, timeout=5)) as connection:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.read()


def test_the_page_is_at_metrics_and_nothing_elsewhere(server: Server, address: Address) -> None:
    """No other path leads anywhere, and nothing can be sent."""
    assert ask(address) == (200, b"x 1\n")
    assert ask(address, "/metrics?x=1") == (200, b"x 1\n")
    assert ask(address, method="HEAD") == (200, b"")
    for path in ("/", "/etc/passwd", "/../metrics", "/metrics/.."):
        assert ask(address, path)[0] == 404
    for method in ("POST", "PUT", "DELETE", "TRACE"):
        assert ask(address, method=method)[0] == 501


def test_a_page_is_written_once_however_often_it_is_read(
    server: Server, address: Address, page: Page, clock: _Clock
) -> None:
    """Many scrapes cost no more than one."""
    written = []

    def write() -> bytes:
        written.append(1)
        return b"y 2\n"

    page.renew(write, clock())
    assert {ask(address) for _ in range(20)} == {(200, b"y 2\n")}
    assert len(written) == 1


def test_old_figures_are_refused(server: Server, address: Address, clock: _Clock) -> None:
    """A look that hangs must not serve yesterday's figures."""
    clock.ahead_ns = STALE_NS + 1
    assert ask(address)[0] == 503


def test_before_the_first_look_there_is_nothing(clock: _Clock) -> None:
    """Not an empty page."""
    assert Page(clock).read() is None


def test_slow_scrapers_are_few_and_are_cut(server: Server, address: Address, clock: _Clock) -> None:
    """More than eight are refused; whoever dribbles is cut, and the next is served."""
    with ExitStack() as rest:
        slow = []
        for _ in range(CONNECTIONS_MAX):
            slow.append(rest.enter_context(socket.create_connection((address.host, address.port))))
            slow[-1].sendall(b"GET /metrics HTTP/1.1\r\nX: ")
        with pytest.raises((OSError, http.client.HTTPException)):
            until(lambda: not ask(address), 10)
        assert server.refused >= 1
        clock.ahead_ns = door.CONNECTION_NS + 1
        for one in slow:
            one.settimeout(10)
            assert one.recv(100) == b""
        clock.ahead_ns = 0
        until(lambda: ask(address)[0] == 200)


def test_a_flood_is_taken_at_a_walk(server: Server, address: Address) -> None:
    """Whoever asks without end gets fifty answers a second, and the machine is left to the line."""
    begin = time.monotonic()
    for _ in range(25):
        assert ask(address)[0] == 200
    assert time.monotonic() - begin >= 24 * door.PACE_S


@pytest.mark.parametrize("garbage", [b"\x16\x03\x01\x02\x00", b"GET\r\n\r\n", b"A" * 100_000, b""])
def test_garbage_ends_nothing(server: Server, address: Address, garbage: bytes) -> None:
    """TLS, half requests, endless lines: the next scrape is served."""
    with socket.create_connection((address.host, address.port)) as peer:
        peer.settimeout(10)
        peer.sendall(garbage)
        peer.shutdown(socket.SHUT_WR)
        try:
            while peer.recv(4096):
                pass
        except ConnectionResetError:
            pass
    assert ask(address) == (200, b"x 1\n")


def test_an_address_that_is_taken_says_so(server: Server, address: Address, page: Page) -> None:
    """With the remedy, and so does one that is none of this machine."""
    with pytest.raises(PortBusy, match=r"in use; end its owner, or change metrics\.listen"):
        Server(address, page, time.monotonic_ns)
    elsewhere = Address("192.0.2.1", address.port, is_local=False)
    with pytest.raises(UsageFault, match=r"cannot be served there .*; change metrics\.listen"):
        Server(elsewhere, page, time.monotonic_ns)


@pytest.mark.parametrize(
    ("listen", "expected"),
    [
        ("127.0.0.1:9464", ("127.0.0.1", 9464, True)),
        ("127.9.9.9:1", ("127.9.9.9", 1, True)),
        ("[::1]:65535", ("::1", 65535, True)),
        ("0.0.0.0:9464", ("0.0.0.0", 9464, False)),
        ("[::]:9464", ("::", 9464, False)),
        ("10.0.0.1:80", ("10.0.0.1", 80, False)),
        ("localhost:9464", None),
        ("127.0.0.1", None),
        ("127.0.0.1:0", None),
        ("127.0.0.1:65536", None),
        ("::1:9464", None),
        ("[127.0.0.1]:9464", None),
        ("127.1:9464", None),
        (":9464", None),
        ("127.0.0.1:9464/metrics", None),
    ],
)
def test_only_addresses_are_taken(listen: str, expected: tuple[str, int, bool] | None) -> None:
    """A name may mean another interface later; what all reach is never taken for local."""
    found = address_of(listen)
    assert (None if found is None else tuple(found)) == expected


def test_ipv6_is_served(page: Page, clock: _Clock) -> None:
    """In brackets in the URL."""
    address = Address("::1", free_port(), is_local=True)
    try:
        server = Server(address, page, clock)
    except UsageFault:
        pytest.skip("there is no IPv6 on this machine")
    with closing(server):
        assert ask(address) == (200, b"x 1\n")
    assert address.url == f"http://[::1]:{address.port}/metrics"
