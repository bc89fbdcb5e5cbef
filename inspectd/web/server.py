"""EDGE uvicorn: the server, with bounds on connections and on patience."""

import asyncio
import logging
import socket
import ssl
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from inspectd.config.schema import Web
from inspectd.config.webrules import address_of
from inspectd.errors import PortBusy, UsageFault

__all__ = ["bound", "server_of"]

TICK_S = 5.0
SILENT_TICKS = 3
"""A connection on which no request is under way for so many ticks is closed."""
_BACKLOG = 64


def bound(web: Web) -> socket.socket:
    """A socket at the address of the view.

    Raises:
        PortBusy: it is somebody else's, or not of this machine.
    """
    host, port = address_of(web.listen) or ("127.0.0.1", 0)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
    except OSError as error:
        made.close()
        remedy = f"give `web.listen` another one ({error.strerror})"
        raise PortBusy(web.listen, remedy) from error
    return made


def server_of(app: Any, web: Web) -> uvicorn.Server:
    """A server that is not started.

    Raises:
        UsageFault: certificate or key cannot be used.
    """
    config = uvicorn.Config(
        app,
        http=_protocol(web.connections_max),
        loop="none",
        lifespan="off",
        ws="none",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        date_header=False,
        backlog=_BACKLOG,
        timeout_keep_alive=int(TICK_S),
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=16384,
        ssl_certfile=web.tls.cert_file if web.tls else None,
        ssl_keyfile=web.tls.key_file if web.tls else None,
    )
    logging.getLogger("uvicorn.error").addHandler(logging.NullHandler())
    logging.getLogger("uvicorn").propagate = False
    try:
        config.load()
    except (OSError, ssl.SSLError) as error:
        where = web.tls.cert_file if web.tls else "web.tls"
        remedy = "give a PEM certificate and its key in `web.tls`, readable for inspectd"
        raise UsageFault(f"cannot be used ({error})", where, remedy) from error
    if config.ssl is not None:
        config.ssl.minimum_version = ssl.TLSVersion.TLSv1_2
    return uvicorn.Server(config)


def _protocol(connections_max: int) -> type[asyncio.Protocol]:
    """HTTP/1.1 for so many connections; who is silent, or does not take its answer, is closed."""

    class Bounded(H11Protocol):
        _silent = 0
        _tick: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if len(self.connections) > connections_max:
                transport.abort()
                return
            self._tick = self.loop.call_later(TICK_S, self._look)

        def connection_lost(self, exc: Exception | None) -> None:
            if self._tick is not None:
                self._tick.cancel()
            super().connection_lost(exc)

        def _look(self) -> None:
            is_asking = self.cycle is not None and not self.cycle.response_complete
            self._silent = 0 if is_asking and not self.transport.is_closing() else self._silent + 1
            if self._silent >= SILENT_TICKS:
                self.transport.abort()
                return
            self._tick = self.loop.call_later(TICK_S, self._look)

    return Bounded
