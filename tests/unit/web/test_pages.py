"""The view over a real socket, without users: what is answered, refused, and said in headers."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import psutil
import pytest

from inspectd.config.schema import Web
from tests.receivers.records import event, opened
from tests.web.view import JPEG, Served, kept, served

pytestmark = pytest.mark.slow

_VERDICTS = ["OK", "NG", "UNFIT", "OK", "NG", "OK"]


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A record of six parts, served."""
    folder = tmp_path_factory.mktemp("record")
    kept(folder, _VERDICTS)
    with served(folder) as one:
        yield one


def test_the_live_page_has_what_the_record_has(view: Served) -> None:
    """Counters, yield, the last part with its boxes, the rejects newest first, processes."""
    client, _ = view.entered()
    news = client.get("/api/line").json()
    (station,) = news["stations"]
    assert station["counts"] == {"OK": 3, "NG": 2, "UNFIT": 1, "LATE": 0, "FAULT": 0}
    assert station["yield"] == 0.5
    assert station["last"]["verdict"] == "OK"
    assert station["pictured"]["boxes"] == [["Scratch", 0.9, 1, 2, 3, 4]]
    assert [one["verdict"] for one in news["rejects"]] == ["NG", "UNFIT", "NG"]
    assert news["processes"][0]["status"] == "READY"
    assert news["models"] == {"bottles": "d1"}


def test_the_stream_brings_news(view: Served) -> None:
    """Two in some seconds, each the whole page."""
    client, _ = view.entered()
    found = []
    with client.stream("GET", "/api/stream") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            if line.startswith("data: "):
                found.append(json.loads(line[6:]))
            if len(found) == 2:
                break
    assert found[0]["utc"] < found[1]["utc"]


def test_every_answer_has_the_headers(view: Served) -> None:
    """Pages, data, scripts, and what is refused."""
    client, _ = view.entered()
    for path in ("/", "/events", "/api/line", "/static/app.css", "/nowhere", "/api/stream/"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy, path
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert "no-" in headers["cache-control"]
        assert "server" not in headers


def test_the_cookie_is_for_this_page_only(view: Served) -> None:
    """No script reads it, no other site sends it."""
    cookie = view.client().get("/").headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie


def test_another_host_name_is_refused(view: Served) -> None:
    """A page of elsewhere whose name was pointed here gets nothing."""
    client, _ = view.entered()
    for host in ("evil.example", "127.0.0.1.evil.example", ""):
        assert client.get("/api/line", headers={"host": host}).status_code in (400, 421)
    port = view.url.rsplit(":", 1)[1].strip("/")
    assert client.get("/api/line", headers={"host": f"localhost:{port}"}).status_code == 200


def test_data_is_for_those_who_opened_the_page(view: Served) -> None:
    """Without the cookie there is none."""
    client = view.client()
    for path in ("/api/line", "/api/events", "/api/stream", "/picture/2", "/api/system"):
        assert client.get(path).status_code == 401, path


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),
        ({"x-csrf-token": "guessed"}, 403),
        ({"x-csrf-token": "ü"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
    ],
)
def test_a_change_from_elsewhere_is_refused(
    view: Served, headers: dict[str, str], status: int
) -> None:
    """The cookie alone changes nothing."""
    client, ours = view.entered()
    token = {} if not headers or "x-csrf-token" in headers else ours
    sent = {
        "content-type": "application/json",
        **token,
        **headers,
    }
    body = json.dumps({"sequence": 2, "judgement": "confirmed"})
    answer = client.post(
        "/api/review", content=body, headers=httpx.Headers(sent, encoding="latin-1")
    )
    assert answer.status_code == status


def test_a_long_or_wrong_body_is_refused(view: Served) -> None:
    """Before it is read, or as what it is."""
    client, ours = view.entered()
    headers = {**ours, "content-type": "application/json"}
    long = client.post("/api/review", content=b"x" * 10_000, headers=headers)
    assert long.status_code == 413
    for body in (b"[1]", b"{", b"[" * 8000, b'{"sequence": "2"}', b'{"sequence": -1}'):
        answer = client.post("/api/review", content=body, headers=headers)
        assert answer.status_code in (400, 422), body
    assert client.request("DELETE", "/api/review").status_code == 405


def test_a_reject_can_be_reviewed(view: Served) -> None:
    """It stands at the event then, with who said it; an impossible one is refused in words."""
    client, ours = view.entered()
    answer = client.post(
        "/api/review",
        json={"sequence": 2, "judgement": "false_call", "note": "clean"},
        headers=ours,
    )
    assert answer.status_code == 200
    (found,) = (one for one in client.get("/api/events").json() if one["sequence"] == 2)
    assert found["review"]["judgement"] == "false_call"
    assert found["review"]["reviewer"] == "local"
    assert client.get("/api/reviews").json()["false_calls"] == 1
    assert client.get("/api/system").json()["trail"][0]["note"] == "clean"
    for sequence, judgement in ((1, "false_call"), (2, "nonsense"), (999, "confirmed")):
        refused = client.post(
            "/api/review", json={"sequence": sequence, "judgement": judgement}, headers=ours
        )
        assert refused.status_code == 409
        assert refused.json()["error"]


def test_events_come_in_pages(view: Served) -> None:
    """Newest first, filtered, from a number on; what is no number begins at the newest."""
    client, _ = view.entered()

    def numbers(query: str) -> list[int]:
        return [one["sequence"] for one in client.get(f"/api/events?{query}").json()]

    assert numbers("") == [6, 5, 4, 3, 2, 1]
    assert numbers("verdict=REJECTS") == [5, 3, 2]
    assert numbers("before=5&verdict=NG") == [2]
    assert numbers("station=nowhere") == []
    assert numbers("before=x'--&verdict=' OR 1=1") == []
    assert numbers("before=99999999999999999999999") == [6, 5, 4, 3, 2, 1]


def test_pictures_are_those_of_the_archive(view: Served) -> None:
    """By the number of the event, and nothing else on the disk."""
    client, _ = view.entered()
    assert client.get("/picture/2").content == JPEG
    assert client.get("/picture/1").status_code == 404
    assert client.get("/picture/99999999999999999999").status_code == 404
    for path in ("../../etc/passwd", "..%2f..%2fetc%2fpasswd", "-1", "2/../../x"):
        assert client.get(f"/picture/{path}").status_code == 404, path
        assert client.get(f"/static/{path}").status_code == 404, path
    assert client.get("/static/line.html").status_code == 404


@pytest.mark.parametrize("path", ["archive/../secret.jpg", "/etc/passwd", "archive/link.jpg"])
def test_a_record_that_points_outside_the_archive_shows_nothing(tmp_path: Path, path: str) -> None:
    """Whoever wrote the record cannot make the view read other files."""
    (tmp_path / "archive").mkdir()
    (tmp_path / "secret.jpg").write_bytes(b"secret")
    (tmp_path / "archive" / "link.jpg").symlink_to(tmp_path / "secret.jpg")
    with closing(opened(tmp_path)) as database:
        database.write([event(1, archive=path)])
    with served(tmp_path) as one:
        client, _ = one.entered()
        assert client.get("/picture/1").status_code == 404


def test_a_browser_that_reads_nothing_costs_nothing(view: Served) -> None:
    """It holds a stream and never reads; the others get their news, memory stays where it was."""
    client, _ = view.entered()
    cookie = client.cookies["inspectd_session"]
    host, port = view.url.split("//")[1].strip("/").split(":")
    frozen = []
    for _ in range(10):
        one = socket.create_connection((host, int(port)))
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lines = ("GET /api/stream HTTP/1.1", f"Host: {host}", f"Cookie: inspectd_session={cookie}")
        request = "\r\n".join((*lines, "", ""))
        one.sendall(request.encode())
        frozen.append(one)
    before = psutil.Process().memory_info().rss
    by = time.monotonic() + 3
    while time.monotonic() < by:
        assert client.get("/api/line", timeout=2).status_code == 200
    assert psutil.Process().memory_info().rss - before < 20 * 2**20
    assert client.get("/api/system").json()["listeners"] >= 10
    for one in frozen:
        one.close()


def test_connections_are_bounded(tmp_path: Path) -> None:
    """Further ones are closed at once; when others leave there is room again."""
    kept(tmp_path, ["OK"])
    with served(tmp_path, Web(listen="127.0.0.1:0", connections_max=8)) as one:
        host, port = one.url.split("//")[1].strip("/").split(":")
        open_ones = [socket.create_connection((host, int(port))) for _ in range(8)]
        time.sleep(0.3)
        with pytest.raises(httpx.TransportError):
            one.client().get("/")
        for each in open_ones:
            each.close()
        time.sleep(0.3)
        assert one.client().get("/").status_code == 200


def test_nothing_of_the_process_is_left_open(tmp_path: Path) -> None:
    """Begun and ended some times: no thread and no descriptor stays."""
    kept(tmp_path, ["OK"])
    with served(tmp_path) as one:
        one.entered()
    threads, files = threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        with served(tmp_path) as one:
            client, _ = one.entered()
            client.close()
    assert threading.active_count() <= threads
    assert len(list(Path("/proc/self/fd").iterdir())) <= files


def test_a_taken_port_is_trouble_and_tried_again(tmp_path: Path) -> None:
    """The line goes on; the sentence says what to do."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        listen = f"127.0.0.1:{other.getsockname()[1]}"
        one = Served(tmp_path, Web(listen=listen))
        with closing(one.step):
            one.turn(one.step.trouble)
            assert f"address {listen} is in use" in one.step.trouble()
            other.close()
            one.turn(lambda: not one.step.trouble())
