"""Who asks, and may they come in: sessions, passwords and patience put together."""

import asyncio
import hmac
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from inspectd.config.schema import Web
from inspectd.config.webrules import address_of, is_loopback
from inspectd.errors import UsageFault
from inspectd.web.sessions import Right, Session, Sessions
from inspectd.web.throttle import Throttle
from inspectd.web.users import Users

__all__ = ["COOKIE", "LOCAL_NAME", "Doorman", "Entry"]

COOKIE = "inspectd_session"
LOCAL_NAME = "local"
"""Whoever is at this machine, where there are no users."""
TRYING_MAX = 4
"""Passwords that wait to be hashed; each takes 64 MiB and 0.1 s, one after the other."""


class Entry(NamedTuple):
    """How a login went."""

    token: str = ""
    """Empty: name or password are wrong."""
    wait_s: int = 0
    """Try again then."""


class Doorman:
    """Of one view."""

    def __init__(self, web: Web, clock: Callable[[], int], log: Callable[..., None]) -> None:
        """Read the users once, so that a wrong file is known before anybody asks.

        Raises:
            UsageFault: the address is open to others and the file of users or TLS are not given, or
                a line of it is wrong.
        """
        self.is_tls = web.tls is not None
        self.is_loopback = is_loopback((address_of(web.listen) or ("127.0.0.1", 0))[0])
        if not self.is_loopback and not (web.users_file and web.tls):
            remedy = "give `tls` and `users_file`, or listen on 127.0.0.1"
            raise UsageFault("others could reach it", web.listen, remedy)
        self._users = Users(Path(web.users_file)) if web.users_file else None
        if self._users is not None:
            self._users.all()
        self._clock, self._log = clock, log
        idle_ns = int(web.session_minutes * 60e9)
        self._sessions = Sessions(idle_ns, lambda: secrets.token_urlsafe(32))
        self._throttle = Throttle()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="passwords")
        self._trying = 0

    @property
    def has_users(self) -> bool:
        """Whether people must log in."""
        return self._users is not None

    def find(self, token: str) -> Session | None:
        """The session of a token, while it lasts and its user is still what he was."""
        session = self._sessions.find(token, self._clock())
        if session is None or self._users is None:
            return session
        try:
            user = self._users.all().get(session.name)
        except UsageFault:
            return None
        if user is None or user.right is not session.right:
            self._sessions.end(token)
            return None
        return session

    def has_token(self, session: Session, csrf: str) -> bool:
        """Whether a change comes from a page of this session."""
        return hmac.compare_digest(session.csrf.encode(), csrf.encode())

    def touch(self, session: Session) -> None:
        """Its person did something."""
        session.active_ns = self._clock()

    def enter_locally(self) -> str:
        """A session without a name, where there are no users."""
        return self._sessions.begin(LOCAL_NAME, Right.ENGINEER, self._clock())

    async def enter(self, name: str, password: str, address: str) -> Entry:
        """Try a password; the hash is computed beside the loop."""
        keys = (f"name {name[:64]}", f"address {address}")
        wait_s = self._throttle.wait_s(keys, self._clock())
        if wait_s or self._trying >= TRYING_MAX or self._users is None:
            return Entry(wait_s=wait_s or 1)
        self._trying += 1
        self._throttle.failed(keys, self._clock())  # before the hash: tries at once count too
        try:
            loop = asyncio.get_running_loop()
            proved = self._users.proved
            user = await loop.run_in_executor(self._thread, proved, name, password)
        except UsageFault:
            user = None
        finally:
            self._trying -= 1
        if user is None:
            self._log("warning", "web_login_refused", address=address)
            return Entry()
        self._throttle.succeeded(keys)
        self._log("info", "web_login", user=user.name, address=address)
        return Entry(token=self._sessions.begin(user.name, user.right, self._clock()))

    def leave(self, token: str) -> None:
        """Log out."""
        self._sessions.end(token)

    def living(self) -> list[Session]:
        """Who is logged in."""
        return self._sessions.living(self._clock())

    def close(self) -> None:
        """Hash no more."""
        self._thread.shutdown(wait=False, cancel_futures=True)
