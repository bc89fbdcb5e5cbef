"""Who is logged in, for how long."""

import itertools

from inspectd.web.sessions import LONGEST_NS, SESSIONS_MAX, Right, Sessions

_MINUTE = 60 * 10**9


def made() -> Sessions:
    """With countable secrets."""
    numbers = itertools.count()
    return Sessions(30 * _MINUTE, lambda: f"token-{next(numbers)}")


def test_a_session_ends_when_nothing_is_done() -> None:
    """It is there a moment before, and gone after."""
    sessions = made()
    token = sessions.begin("anna", Right.VIEWER, 0)
    assert sessions.find(token, 30 * _MINUTE - 1) is not None
    assert sessions.find(token, 30 * _MINUTE) is None
    assert sessions.find(token, 0) is None


def test_what_a_person_does_keeps_it_for_twelve_hours_at_most() -> None:
    """Activity moves the end, not for ever."""
    sessions = made()
    token = sessions.begin("anna", Right.VIEWER, 0)
    now = 0
    while now + 20 * _MINUTE < LONGEST_NS:
        now += 20 * _MINUTE
        session = sessions.find(token, now)
        assert session is not None
        session.active_ns = now
    assert sessions.find(token, LONGEST_NS) is None


def test_the_number_of_sessions_is_bounded() -> None:
    """The one that was quiet longest gives way."""
    sessions = made()
    first = sessions.begin("anna", Right.VIEWER, 0)
    for number in range(SESSIONS_MAX):
        sessions.begin("bert", Right.VIEWER, number + 1)
    assert sessions.find(first, SESSIONS_MAX) is None
    assert len(sessions.living(SESSIONS_MAX)) == SESSIONS_MAX


def test_each_change_token_is_of_one_session() -> None:
    """And it is not the cookie."""
    sessions = made()
    tokens = [sessions.begin("anna", Right.VIEWER, 0) for _ in range(2)]
    found = [sessions.find(token, 1) for token in tokens]
    assert len({one.csrf for one in found if one} | set(tokens)) == 4


def test_logging_out_ends_it() -> None:
    """At once."""
    sessions = made()
    token = sessions.begin("anna", Right.VIEWER, 0)
    sessions.end(token)
    assert sessions.find(token, 1) is None
