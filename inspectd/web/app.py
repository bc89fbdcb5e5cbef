"""EDGE starlette: the pages and their data."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from inspectd.errors import UsageFault
from inspectd.web import files
from inspectd.web.desk import Desk
from inspectd.web.doorman import COOKIE, Doorman
from inspectd.web.guard import BODY_MAX_BYTES, Guard
from inspectd.web.hub import Hub
from inspectd.web.sessions import Right, Session
from inspectd.web.stream import Stream

__all__ = ["application"]

BODY_S = 5.0
_NUMBER_MAX = 2**62


def application(desk: Desk, doorman: Doorman, hub: Hub, *, language: str) -> Guard:
    """The whole view as one ASGI application.

    Args:
        desk: Answers what is asked of record and reviews.
        doorman: Knows who asks.
        hub: Of the live page.
        language: Of a browser that has not chosen.
    """
    view = _View(desk, doorman, hub, language)
    app = Starlette(routes=view.routes(), exception_handlers={UsageFault: _faulty})
    return Guard(app, is_loopback=doorman.is_loopback, is_tls=doorman.is_tls)


class _View:
    def __init__(self, desk: Desk, doorman: Doorman, hub: Hub, language: str) -> None:
        self._desk, self._doorman, self._hub = desk, doorman, hub
        self._language = language
        self._files = files.load()

    def routes(self) -> list[Route]:
        """Every path that is answered."""
        looks = (
            ("/api/me", self._me, Right.VIEWER),
            ("/api/line", self._line, Right.VIEWER),
            ("/api/events", self._events, Right.VIEWER),
            ("/api/series", self._series, Right.VIEWER),
            ("/api/reviews", self._reviews, Right.VIEWER),
            ("/api/system", self._system, Right.ENGINEER),
            ("/picture/{sequence:int}", self._picture, Right.VIEWER),
        )
        changes = (
            ("/api/logout", self._logout, Right.VIEWER),
            ("/api/alive", self._alive, Right.VIEWER),
            ("/api/review", self._review, Right.OPERATOR),
        )
        return [
            *(Route(f"/{name}", partial(self._page, name)) for name in files.PAGES[1:]),
            Route("/", partial(self._page, files.PAGES[0])),
            Route("/login", self._login_page),
            Route("/api/login", self._login, methods=["POST"]),
            Route("/static/{name}", self._static),
            Route("/api/stream", Stream(self._hub, self._may_look)),
            *(Route(path, self._asked(call, right)) for path, call, right in looks),
            *(
                Route(path, self._changing(call, right), methods=["POST"])
                for path, call, right in changes
            ),
        ]

    # ---------------------------------------------------------------- who asks

    def _asked(
        self, call: Callable[[Request, Session], Awaitable[Response]], right: Right
    ) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            return await call(request, self._session(request, right))

        return endpoint

    def _changing(
        self, call: Callable[[Session, dict[str, Any]], Awaitable[Response]], right: Right
    ) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            session = self._session(request, right)
            if not self._doorman.has_token(session, request.headers.get("x-csrf-token", "")):
                raise HTTPException(403, "the page is of an earlier login; load it again")
            self._doorman.touch(session)
            if call == self._logout:
                self._doorman.leave(request.cookies.get(COOKIE, ""))
            return await call(session, await _json(request))

        return endpoint

    def _session(self, request: Request, right: Right) -> Session:
        session = self._doorman.find(request.cookies.get(COOKIE, ""))
        if session is None:
            raise HTTPException(401, "log in")
        if session.right < right:
            raise HTTPException(403, f"only {right.name.lower()}s may do this")
        return session

    def _may_look(self, request: Request) -> bool:
        return self._doorman.find(request.cookies.get(COOKIE, "")) is not None

    # ---------------------------------------------------------------- pages

    async def _page(self, name: str, request: Request) -> Response:
        token = request.cookies.get(COOKIE, "")
        session = self._doorman.find(token)
        if session is None:
            if self._doorman.has_users:
                return RedirectResponse("/login", 303)
            token = self._doorman.enter_locally()
        else:
            self._doorman.touch(session)
        return self._with_cookie(self._html(f"{name}.html"), token)

    async def _login_page(self, request: Request) -> Response:  # noqa: ARG002
        if not self._doorman.has_users:
            return RedirectResponse("/", 303)
        return self._html("login.html")

    async def _static(self, request: Request) -> Response:
        file = self._files.get(request.path_params["name"])
        if file is None or file.media_type.startswith("text/html"):
            raise HTTPException(404)
        headers = {"cache-control": "no-cache"}
        return Response(file.body, media_type=file.media_type, headers=headers)

    def _html(self, name: str) -> Response:
        file = self._files[name]
        return Response(file.body, media_type=file.media_type)

    def _with_cookie(self, response: Response, token: str) -> Response:
        response.set_cookie(
            COOKIE,
            token,
            path="/",
            secure=self._doorman.is_tls,
            httponly=True,
            samesite="strict",
        )
        return response

    # ---------------------------------------------------------------- data

    async def _me(self, request: Request, session: Session) -> Response:  # noqa: ARG002
        return JSONResponse(
            {
                "name": session.name,
                "right": session.right.name.lower(),
                "csrf": session.csrf,
                "has_users": self._doorman.has_users,
                "language": self._language,
                "stations": self._desk.stations,
            }
        )

    async def _line(self, request: Request, session: Session) -> Response:  # noqa: ARG002
        return Response(self._hub.latest or b"{}", media_type="application/json")

    async def _events(self, request: Request, session: Session) -> Response:  # noqa: ARG002
        asked = request.query_params
        rows = await self._desk.events(
            before=_number(asked.get("before")),
            station=asked.get("station", ""),
            verdict=asked.get("verdict", ""),
        )
        return JSONResponse(rows)

    async def _series(self, request: Request, session: Session) -> Response:  # noqa: ARG002
        return JSONResponse(await self._desk.series(request.query_params.get("station", "")))

    async def _reviews(self, request: Request, session: Session) -> Response:  # noqa: ARG002
        return JSONResponse(await self._desk.reviews())

    async def _system(self, request: Request, session: Session) -> Response:  # noqa: ARG002
        living = [asdict(one) for one in self._doorman.living()]
        for one in living:
            del one["csrf"]
            one["right"] = one["right"].name.lower()
        trail = await self._desk.trail()
        return JSONResponse({"sessions": living, "listeners": self._hub.count, "trail": trail})

    async def _picture(self, request: Request, session: Session) -> Response:  # noqa: ARG002
        sequence = request.path_params["sequence"]
        jpeg = await self._desk.picture(sequence) if sequence < _NUMBER_MAX else None
        if jpeg is None:
            raise HTTPException(404)
        return Response(jpeg, media_type="image/jpeg")

    # ---------------------------------------------------------------- changes

    async def _login(self, request: Request) -> Response:
        given = await _json(request)
        name, password = str(given.get("name", "")), str(given.get("password", ""))
        address = request.client.host if request.client else ""
        entry = await self._doorman.enter(name, password, address)
        if entry.wait_s:
            headers = {"retry-after": str(entry.wait_s)}
            return JSONResponse({"wait_s": entry.wait_s}, 429, headers=headers)
        if not entry.token:
            return JSONResponse({"error": "wrong"}, 401)
        return self._with_cookie(JSONResponse({"ok": True}), entry.token)

    async def _logout(self, session: Session, given: dict[str, Any]) -> Response:  # noqa: ARG002
        response = JSONResponse({"ok": True})
        response.delete_cookie(COOKIE, path="/")
        return response

    async def _alive(self, session: Session, given: dict[str, Any]) -> Response:  # noqa: ARG002
        return JSONResponse({"ok": True})

    async def _review(self, session: Session, given: dict[str, Any]) -> Response:
        sequence = given.get("sequence")
        if not isinstance(sequence, int) or not 0 < sequence < _NUMBER_MAX:
            raise HTTPException(422, "`sequence` is the number of an event")
        judgement, note = str(given.get("judgement", "")), str(given.get("note", ""))
        await self._desk.judge(sequence, judgement, reviewer=session.name, note=note)
        return JSONResponse({"ok": True})


async def _json(request: Request) -> dict[str, Any]:
    """The body, an object; in bounded time."""
    try:
        body = await asyncio.wait_for(request.body(), BODY_S)
        value = json.loads(body[:BODY_MAX_BYTES] or b"{}")
    except (asyncio.TimeoutError, ValueError, RecursionError):
        raise HTTPException(400, "send a JSON object") from None
    if not isinstance(value, dict):
        raise HTTPException(400, "send a JSON object")
    return value


def _number(text: str | None) -> int:
    is_number = text is not None and text.isascii() and text.isdigit() and len(text) < len("1" * 19)
    return int(text or "0") if is_number else 0


async def _faulty(request: Request, fault: Exception) -> Response:  # noqa: ARG001
    """What the record or the reviews cannot do, without the path of a file."""
    what = fault.what if isinstance(fault, UsageFault) else "not now"
    return JSONResponse({"error": what}, 409)
