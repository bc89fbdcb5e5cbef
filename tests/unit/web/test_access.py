"""The view with users and TLS, over a real socket: who gets in, and who may do what."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from inspectd.config.schema import Web, WebTls
from inspectd.errors import UsageFault
from inspectd.stages.sink.selfsigned import make
from inspectd.web.doorman import Doorman
from inspectd.web.sessions import Right
from inspectd.web.throttle import FAILURES_MAX
from inspectd.web.users import User, hashed, store
from tests.web.view import Served, kept, served

pytestmark = pytest.mark.slow

_PASSWORD = "correct horse"  # noqa: S105 - of nobody
_RIGHTS = {"vera": Right.VIEWER, "otto": Right.OPERATOR, "erna": Right.ENGINEER}


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> dict[str, User]:
    """One of each."""
    text = hashed(_PASSWORD)
    return {name: User(name, right, text) for name, right in _RIGHTS.items()}


@pytest.fixture
def view(tmp_path: Path, users: dict[str, User]) -> Iterator[Served]:
    """Open to the network, with TLS and users."""
    kept(tmp_path, ["OK", "NG"])
    store(tmp_path / "users", users)
    made = make("view", "urn:view", ["localhost"], 10)
    (tmp_path / "view.pem").write_bytes(made.certificate_pem)
    (tmp_path / "view.key").write_bytes(made.key_pem)
    tls = WebTls(cert_file=str(tmp_path / "view.pem"), key_file=str(tmp_path / "view.key"))
    web = Web(listen="0.0.0.0:0", tls=tls, users_file=str(tmp_path / "users"))
    with served(tmp_path, web) as one:
        one.url = one.url.replace("0.0.0.0", "localhost")
        yield one


def entered(view: Served, name: str, password: str = _PASSWORD) -> httpx.Client:
    """A browser that has logged in, and sends its token with every change."""
    client = view.client()
    answer = client.post("/api/login", json={"name": name, "password": password})
    assert answer.status_code == 200, answer.text
    client.headers["x-csrf-token"] = client.get("/api/me").json()["csrf"]
    return client


def test_pages_lead_to_the_login(view: Served) -> None:
    """And data is refused."""
    client = view.client()
    for path in ("/", "/events", "/review", "/charts", "/system"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["location"]) == (303, "/login"), path
        assert "set-cookie" not in answer.headers
    assert client.get("/login").status_code == 200
    assert client.get("/api/line").status_code == 401


def test_each_right_may_what_it_may(view: Served) -> None:
    """Look; review; see the logins."""
    expected = {"vera": (200, 403, 403), "otto": (200, 200, 403), "erna": (200, 200, 200)}
    for name, statuses in expected.items():
        client = entered(view, name)
        found = (
            client.get("/api/line").status_code,
            client.post("/api/review", json={"sequence": 2, "judgement": "confirmed"}).status_code,
            client.get("/api/system").status_code,
        )
        assert found == statuses, name
    trail = entered(view, "erna").get("/api/system").json()["trail"]
    assert [one["reviewer"] for one in trail] == ["erna", "otto"]


def test_the_cookie_goes_over_tls_only(view: Served) -> None:
    """And browsers are told to keep to it."""
    answer = view.client().post("/api/login", json={"name": "vera", "password": _PASSWORD})
    assert "Secure" in answer.headers["set-cookie"]
    assert answer.headers["strict-transport-security"]


def test_plain_http_gets_nothing(view: Served) -> None:
    """The port speaks TLS."""
    port = int(view.url.rsplit(":", 1)[1].strip("/"))
    with socket.create_connection(("127.0.0.1", port), 5) as plain:
        plain.sendall(b"GET /login HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"HTTP" not in plain.recv(1000)


def test_who_logs_out_is_out(view: Served) -> None:
    """Also with the old cookie."""
    client = entered(view, "vera")
    old = client.cookies["inspectd_session"]
    assert client.post("/api/logout", json={}).status_code == 200
    client.cookies.set("inspectd_session", old)
    assert client.get("/api/line").status_code == 401


def test_who_is_taken_out_or_changed_is_out_at_once(view: Served, users: dict[str, User]) -> None:
    """No restart, no waiting for the end of the session."""
    vera, otto = entered(view, "vera"), entered(view, "otto")
    path = Path(view.line.web.users_file if view.line.web else "")
    store(path, {"otto": User("otto", Right.VIEWER, users["otto"].hash)})
    assert vera.get("/api/line").status_code == 401
    assert otto.get("/api/line").status_code == 401
    assert entered(view, "otto").get("/api/me").json()["right"] == "viewer"


def test_passwords_cannot_be_tried_without_end(view: Served) -> None:
    """After some failures even the right one must wait; the log has no password and no name."""
    client = view.client()
    for _ in range(FAILURES_MAX):
        answer = client.post("/api/login", json={"name": "vera", "password": "wrong horse"})
        assert answer.status_code == 401
    answer = client.post("/api/login", json={"name": "vera", "password": _PASSWORD})
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) > 60
    view.turn(lambda: sum(name == "web_login_refused" for name, _ in view.logged) == FAILURES_MAX)
    assert "horse" not in str(view.logged)


def test_an_unknown_name_gets_the_same_answer(view: Served) -> None:
    """Nobody learns who is a user."""
    client = view.client()
    answers = [
        client.post("/api/login", json={"name": name, "password": "wrong horse"})
        for name in ("vera", "nobody")
    ]
    assert {(one.status_code, one.text) for one in answers} == {(401, '{"error":"wrong"}')}


def test_a_session_ends_in_an_open_stream_too(view: Served) -> None:
    """Whoever logged out elsewhere sees nothing new."""
    client = entered(view, "vera")
    with client.stream("GET", "/api/stream") as stream:
        lines = stream.iter_lines()
        assert next(lines).startswith("data: ")
        other = view.client()
        other.cookies.set("inspectd_session", client.cookies["inspectd_session"])
        other.post("/api/logout", json={}, headers={"x-csrf-token": client.headers["x-csrf-token"]})
        assert len(list(lines)) < 10


def test_an_open_address_without_users_is_refused_even_past_the_check(tmp_path: Path) -> None:
    """Whatever built the configuration."""
    with pytest.raises(UsageFault, match="others could reach it"):
        Doorman(Web(listen="0.0.0.0:8080"), lambda: 0, lambda *_, **__: None)


def test_what_is_missing_is_trouble(tmp_path: Path, users: dict[str, User]) -> None:
    """A certificate that is not there, a users file that is wrong: one sentence."""
    store(tmp_path / "users", users)
    tls = WebTls(cert_file=str(tmp_path / "no.pem"), key_file=str(tmp_path / "no.key"))
    (tmp_path / "wrong").write_text("vera:viewer:correct horse\n", encoding="utf-8")
    for web, words in (
        (Web(listen="127.0.0.1:0", tls=tls, users_file=str(tmp_path / "users")), "no.pem"),
        (Web(listen="127.0.0.1:0", users_file=str(tmp_path / "wrong")), "no password hash"),
        (Web(listen="127.0.0.1:0", users_file=str(tmp_path / "none")), "cannot be read"),
    ):
        one = Served(tmp_path, web)
        with closing(one):
            one.turn(one.step.trouble)
            assert words in one.step.trouble()
            assert "horse" not in one.step.trouble()


def test_users_are_written_by_the_command(tmp_path: Path) -> None:
    """Added, listed, taken out; the password comes from a pipe and is not shown."""

    def told(*arguments: str, line: str = "") -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "inspectd", "web-user", *arguments],
            input=line,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    file = str(tmp_path / "users")
    code, said = told("add", file, "otto", "--role", "operator", line=f"{_PASSWORD}\n")
    assert (code, said) == (0, "otto (operator) may log in\n")
    assert told("list", file) == (0, "otto (operator)\n")
    code, said = told("add", file, "vera", line="short\n")
    assert code == 2
    assert "choose 10 to 256" in said
    assert told("remove", file, "otto")[0] == 0
    assert told("list", file) == (0, "")
    assert told("remove", file, "otto")[0] == 2
