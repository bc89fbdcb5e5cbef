"""EDGE http.server: hands out the newest page, to few at a time and to nobody for long.

A scraper can be slow, many or hostile: it gets a thread of this process, of which there are eight,
for ten seconds, and at most fifty come in a second. The page is written once for each look at the
line, however often it is read.
"""

import errno
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import ThreadingMixIn
from typing import Any

from inspectd.config.metricsrules import Address
from inspectd.errors import InspectdError, PortBusy, UsageFault
from inspectd.metrics.text import CONTENT_TYPE

__all__ = ["CONNECTIONS_MAX", "STALE_NS", "Page", "Server"]

CONNECTIONS_MAX = 8
CONNECTION_NS = 10_000_000_000
"""A connection is cut after so long, whatever it does."""
STALE_NS = 10_000_000_000
"""A page that is older is not handed out: old figures must not look like new ones."""
PACE_S = 0.02
"""Between two connections that are taken: a flood waits in the kernel, where it costs nothing."""
_POLL_S = 0.5
_REQUEST_MAX_S = 5.0
"""Between two bytes of a request."""


class Page:
    """The newest page; written by whoever reads it first."""

    def __init__(self, clock: Callable[[], int]) -> None:
        """Begin without one."""
        self._clock = clock
        self._lock = threading.Lock()
        self._write: Callable[[], bytes] | None = None
        self._text = b""
        self._made_ns = 0

    def renew(self, write: Callable[[], bytes], now_ns: int) -> None:
        """Have another page written at the next reading."""
        with self._lock:
            self._write, self._made_ns = write, now_ns

    def read(self) -> bytes | None:
        """The page; None: there is none that is new enough."""
        with self._lock:
            if not self._made_ns or self._clock() - self._made_ns > STALE_NS:
                return None
            if self._write is not None:
                self._text, self._write = self._write(), None
            return self._text


class Server:
    """Listens, in a thread of its own."""

    def __init__(self, address: Address, page: Page, clock: Callable[[], int]) -> None:
        """Bind and begin.

        Raises:
            PortBusy: the address is somebody else's.
            UsageFault: it is none of this machine.
        """
        try:
            self._http = _Http(address, page, clock)
        except OSError as error:
            raise _fault_of(address, error) from error
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(_POLL_S,), name="metrics", daemon=True
        )
        self._thread.start()

    @property
    def refused(self) -> int:
        """Connections that were over the limit."""
        return self._http.refused

    def close(self) -> None:
        """Stop listening and cut what is open."""
        self._http.hurry()
        self._http.shutdown()
        self._http.server_close()


def _fault_of(address: Address, error: OSError) -> InspectdError:
    where = f"{address.host}:{address.port}"
    if error.errno == errno.EADDRINUSE:
        return PortBusy(where, "end its owner, or change metrics.listen")
    what = f"the metrics cannot be served there ({error.strerror or error})"
    return UsageFault(what, where, "change metrics.listen")


class _Http(ThreadingMixIn, HTTPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = CONNECTIONS_MAX

    def __init__(self, address: Address, page: Page, clock: Callable[[], int]) -> None:
        self.address_family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        self.page, self._clock = page, clock
        self.refused = 0
        self._is_closing = threading.Event()
        self._open: dict[socket.socket, int] = {}
        self._lock = threading.Lock()
        super().__init__((address.host, address.port), _Handler)

    def server_bind(self) -> None:
        """Bind without asking a name server who we are."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = "inspectd", self.server_address[1]

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ARG002
        """Take a connection, or refuse it when there are enough; the next one not at once."""
        self._is_closing.wait(PACE_S)
        with self._lock:
            if len(self._open) >= CONNECTIONS_MAX:
                self.refused += 1
                return False
            self._open[request] = self._clock()
            return True

    def hurry(self) -> None:
        """Wait for nothing any more."""
        self._is_closing.set()

    def service_actions(self) -> None:
        """Cut connections whose time is over (their threads then end by themselves)."""
        now_ns = self._clock()
        with self._lock:
            over = [one for one, since in self._open.items() if now_ns - since > CONNECTION_NS]
        for connection in over:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection and forget it."""
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def server_close(self) -> None:
        super().server_close()
        with self._lock:
            still_open = list(self._open)
        for connection in still_open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A scraper that goes away is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: _Http
    server_version, sys_version = "inspectd", ""
    timeout = _REQUEST_MAX_S

    def do_GET(self) -> None:
        """Answer `/metrics`; every other place is not there."""
        if self.path.partition("?")[0] != "/metrics":
            self._answer(HTTPStatus.NOT_FOUND, b"the figures are at /metrics\n")
            return
        text = self.server.page.read()
        if text is None:
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, b"no look at the line for too long\n")
        else:
            self._answer(HTTPStatus.OK, text)

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: whoever asks must not fill a log."""

    def _answer(self, status: HTTPStatus, text: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)
