"""Who is logged in. Pure: the time and the random tokens go in.

A session ends after a while without doing anything, and in any case after twelve hours. Only what a
person does keeps it alive: pictures that a page fetches by itself do not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

__all__ = ["LONGEST_NS", "SESSIONS_MAX", "Right", "Session", "Sessions"]

SESSIONS_MAX = 200
LONGEST_NS = 12 * 3600 * 1_000_000_000


class Right(IntEnum):
    """What a person may do; each may what those before it may."""

    VIEWER = 0
    """Look at line, events and charts."""
    OPERATOR = 1
    """Say whether rejects were right."""
    ENGINEER = 2
    """See processes, logins and the trail of reviews."""


@dataclass(slots=True)
class Session:
    """One login."""

    name: str
    right: Right
    csrf: str
    """Goes with every change; a page of another origin cannot know it."""
    began_ns: int
    active_ns: int
    """When its person last did something."""


class Sessions:
    """All logins, by their secret token."""

    def __init__(self, idle_ns: int, token: Callable[[], str]) -> None:
        """Nobody is logged in.

        Args:
            idle_ns: A session without activity ends after so long.
            token: Answers a new secret each time.
        """
        self._idle_ns, self._token = idle_ns, token
        self._by_token: dict[str, Session] = {}

    def begin(self, name: str, right: Right, now_ns: int) -> str:
        """Log somebody in; answer the token. The oldest gives way when there are too many."""
        self._forget(now_ns)
        while len(self._by_token) >= SESSIONS_MAX:
            oldest = min(self._by_token, key=lambda one: self._by_token[one].active_ns)
            del self._by_token[oldest]
        token = self._token()
        self._by_token[token] = Session(name, right, self._token(), now_ns, now_ns)
        return token

    def find(self, token: str, now_ns: int) -> Session | None:
        """The session of a token, while it lasts."""
        session = self._by_token.get(token)
        if session is None or self._is_over(session, now_ns):
            self._by_token.pop(token, None)
            return None
        return session

    def end(self, token: str) -> None:
        """Log out."""
        self._by_token.pop(token, None)

    def end_of(self, name: str) -> None:
        """Log somebody out everywhere."""
        for token in [one for one, session in self._by_token.items() if session.name == name]:
            del self._by_token[token]

    def living(self, now_ns: int) -> list[Session]:
        """Who is logged in, without tokens."""
        self._forget(now_ns)
        return list(self._by_token.values())

    def _is_over(self, session: Session, now_ns: int) -> bool:
        is_idle = now_ns - session.active_ns >= self._idle_ns
        return is_idle or now_ns - session.began_ns >= LONGEST_NS

    def _forget(self, now_ns: int) -> None:
        over = [one for one, session in self._by_token.items() if self._is_over(session, now_ns)]
        for token in over:
            del self._by_token[token]
