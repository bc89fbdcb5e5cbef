"""Around every request: who may ask in which form, and what every answer says to the browser.

Pure ASGI: nothing of it depends on the pages. Names of the host are checked on loopback, where a
page of elsewhere could have its name point here (DNS rebinding).
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias
from urllib.parse import urlsplit

__all__ = ["BODY_MAX_BYTES", "HEADERS", "Guard"]

BODY_MAX_BYTES = 8192
_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", _CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)
_HSTS = (b"strict-transport-security", b"max-age=31536000")

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]


class Guard:
    """An ASGI application around another."""

    def __init__(self, app: App, *, is_loopback: bool, is_tls: bool) -> None:
        """Args: is_loopback: host names are checked. is_tls: browsers are told to keep to it."""
        self._app, self._is_loopback = app, is_loopback
        self._headers = [*HEADERS, _HSTS] if is_tls else list(HEADERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return

        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                given = list(message.get("headers", []))
                if not any(name == b"cache-control" for name, _ in given):
                    given.append((b"cache-control", b"no-store"))
                message = {**message, "headers": [*given, *self._headers]}
            await send(message)

        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, sending)
            return
        status, words = refusal
        headers = [(b"content-type", b"text/plain; charset=utf-8")]
        await sending({"type": "http.response.start", "status": status, "headers": headers})
        await sending({"type": "http.response.body", "body": words.encode()})

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get(b"host", "")
        if self._is_loopback and not _is_local(host):
            return 421, "ask for this page as localhost or 127.0.0.1"
        if scope["method"] in ("GET", "HEAD"):
            return None
        if scope["method"] != "POST":
            return 405, "only GET, HEAD and POST"
        return _refused_post(headers, host)


def _refused_post(headers: dict[bytes, str], host: str) -> tuple[int, str] | None:
    """A change must be JSON, which no page of another origin can send unasked, and short."""
    origin = headers.get(b"origin")
    if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
        return 403, "this comes from a page of elsewhere"
    if headers.get(b"sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return 403, "this comes from a page of elsewhere"
    if headers.get(b"content-type", "").partition(";")[0].strip() != "application/json":
        return 415, "changes are application/json"
    length = headers.get(b"content-length", "")
    if not length.isdigit():
        return 411, "say the length"
    if int(length) > BODY_MAX_BYTES:
        return 413, "too long"
    return None


def _is_local(host: str) -> bool:
    try:
        return urlsplit(f"//{host}").hostname in ("localhost", "127.0.0.1", "::1")
    except ValueError:
        return False
