"""The live page's stream (server-sent events): the latest news, at the listener's own speed."""

import asyncio
from collections.abc import Callable

from starlette.requests import Request

from inspectd.web.guard import Receive, Scope, Send
from inspectd.web.hub import Hub

__all__ = ["PING_S", "SEND_S", "Stream"]

SEND_S = 10.0
"""A browser that takes nothing for so long is let go."""
PING_S = 15.0


class Stream:
    """An ASGI application for one path."""

    def __init__(self, hub: Hub, may_look: Callable[[Request], bool]) -> None:
        """Args: may_look: asked before, and again with every news: a session may end."""
        self._hub, self._may_look = hub, may_look

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one listener until it, its session or its patience ends."""
        request = Request(scope)
        if not self._may_look(request):
            await _refuse(send, 401)
        elif self._hub.is_full:
            await _refuse(send, 503)
        else:
            await self._serve(request, receive, send)

    async def _serve(self, request: Request, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        leaving = asyncio.ensure_future(_left(receive))
        try:
            with self._hub.listening() as listener:
                while not leaving.done() and self._may_look(request):
                    try:
                        news = b"data: " + await asyncio.wait_for(listener.get(), PING_S)
                    except asyncio.TimeoutError:
                        news = b": still here"
                    body = {"type": "http.response.body", "body": news + b"\n\n", "more_body": True}
                    await asyncio.wait_for(send(body), SEND_S)
            await asyncio.wait_for(send({"type": "http.response.body", "body": b""}), SEND_S)
        except asyncio.TimeoutError:
            pass  # the server closes what was not ended
        finally:
            leaving.cancel()


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _refuse(send: Send, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": b""})
