"""The view of a running line in a real browser: every page, both languages, desktop and tablet.

The pictures are kept where `INSPECTD_SHOTS` says, or in the folder of the test.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from inspectd.config.schema import Web
from inspectd.web.files import PAGES
from inspectd.web.sessions import Right
from inspectd.web.users import User, hashed, store
from tests.web.browser import Browser, chromium
from tests.web.view import kept, served

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.timeout(240),
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium on this machine"),
]

_ROOT = Path(__file__).parents[2]
_SIZES = {"desktop": (1440, 900), "tablet": (820, 1180)}
_DRAWN = {
    "line": "document.querySelectorAll('.photo image').length > 0"
    " && document.querySelectorAll('.tile').length > 2"
    " && document.querySelector('.u-over') !== null",
    "events": "document.querySelectorAll('tbody tr').length > 5",
    "review": "document.querySelectorAll('.strip .tile image').length > 1",
    "charts": "document.querySelectorAll('canvas').length > 1",
    "system": "document.querySelectorAll('tbody tr').length > 5",
}
_LOADED = """Promise.all([...document.querySelectorAll('image')].map(async (one) => {
  const picture = new Image(); picture.src = one.getAttribute('href');
  await picture.decode(); return picture.naturalWidth; })).then((all) => all.every(Boolean))"""
_SPILLED = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """The demo line with its view; answers where it is, when some parts are through."""
    text = (_ROOT / "stations" / "demo.yaml").read_text(encoding="utf-8")
    text = text.replace("../var/demo", str(folder / "record"))
    text = text.replace("../inspectd", str(_ROOT / "inspectd"))
    text = text.replace(" demo_frames", f" {_ROOT / 'stations' / 'demo_frames'}")
    file = folder / "line.yaml"
    file.write_text(text + '\nweb: {listen: "127.0.0.1:0"}\n', encoding="utf-8")
    log = folder / "log.jsonl"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "inspectd", "run", str(file)],
            cwd=_ROOT,
            stdout=subprocess.DEVNULL,
            stderr=stream,
        )
    try:
        yield _url(log)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        told = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        assert not [one for one in told if one["event"] in ("process_late", "process_died")]
    finally:
        process.kill()
        process.wait()


def _url(log: Path) -> str:
    by = time.monotonic() + 60
    while time.monotonic() < by:
        told = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        events = {one["event"]: one for one in told}
        if "line_ready" in events and "web_listening" in events:
            return str(events["web_listening"]["url"])
        time.sleep(0.2)
    raise AssertionError(log.read_text(encoding="utf-8"))


def shots_in(folder: Path) -> Path:
    """Where pictures are kept."""
    made = Path(os.environ.get("INSPECTD_SHOTS", folder))
    made.mkdir(parents=True, exist_ok=True)
    return made


def clean(browser: Browser, url: str) -> None:
    """The browser asked nobody else, and had nothing to complain of."""
    hosts = {urlsplit(one).netloc for one in browser.asked if not one.startswith("about:")}
    assert hosts == {urlsplit(url).netloc}
    assert browser.complaints == []


def test_every_page_is_drawn_in_both_languages_and_sizes(tmp_path: Path) -> None:
    """Pictures decode, nothing spills over the side, nobody else is asked, the console is empty."""
    shots = shots_in(tmp_path)
    with running(tmp_path) as url, Browser(tmp_path / "profile") as browser:
        browser.size(*_SIZES["desktop"])
        browser.go(url)
        browser.until("document.querySelectorAll('.tile').length > 2")
        for page in PAGES:
            path = "" if page == "line" else page
            for language in ("en", "zh"):
                browser.go(f"{url}{path}?language={language}")
                for size, sides in _SIZES.items():
                    browser.size(*sides)
                    browser.until(_DRAWN[page])
                    browser.until(_LOADED)
                    assert browser.value(_SPILLED) <= 0, (page, language, size)
                    assert browser.value("document.documentElement.lang")[:2] == language
                    browser.shoot(shots / f"{page}-{language}-{size}.png")
        _reviewed(browser, url)
        clean(browser, url)


def _reviewed(browser: Browser, url: str) -> None:
    """One reject, by the keyboard alone; it stands in the trail then."""
    browser.go(f"{url}review?language=en")
    browser.until(_DRAWN["review"])
    browser.press("ArrowRight")
    browser.press("2")
    browser.until("document.querySelector('button.false_call').ariaPressed === 'true'")
    browser.go(f"{url}system")
    browser.until("document.body.textContent.includes('False call')")


def test_a_person_logs_in_and_out(tmp_path: Path) -> None:
    """A wrong password is said, the right one opens the page, a viewer cannot review."""
    shots = shots_in(tmp_path)
    kept(tmp_path, ["OK", "NG"])
    password = "correct horse"  # noqa: S105 - of nobody
    store(tmp_path / "users", {"vera": User("vera", Right.VIEWER, hashed(password))})
    web = Web(listen="127.0.0.1:0", users_file=str(tmp_path / "users"))
    with served(tmp_path, web) as view, Browser(tmp_path / "profile") as browser:
        for language in ("en", "zh"):
            for size, sides in _SIZES.items():
                browser.size(*sides)
                browser.go(f"{view.url}login?language={language}")
                browser.shoot(shots / f"login-{language}-{size}.png")
        browser.value("document.getElementById('name').value = 'vera'")
        browser.value("document.getElementById('password').value = 'wrong horse'")
        browser.value("document.querySelector('form').requestSubmit()")
        browser.until("!document.querySelector('.alert').hidden")
        assert len(browser.complaints) == 1  # Chromium itself reports the answer 401
        browser.complaints.clear()
        browser.value(f"document.getElementById('password').value = '{password}'")
        browser.value("document.querySelector('form').requestSubmit()")
        browser.until("location.pathname === '/' && document.body.dataset.ready === 'yes'")
        browser.go(f"{view.url}review?language=en")
        browser.until("document.querySelector('button.confirmed').disabled")
        assert "(viewer)" in browser.value("document.querySelector('.who').textContent")
        browser.value("document.querySelector('header button:last-child').click()")
        browser.until("location.pathname === '/login'")
        clean(browser, view.url)
