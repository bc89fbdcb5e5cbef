"""One table of words for both languages, and pages that need nothing from elsewhere."""

import json
import re
from pathlib import Path

import inspectd.web
from inspectd.frame import Role, Verdict
from inspectd.ports import Status
from inspectd.web.files import PAGES, load

STATIC = Path(inspectd.web.__file__).parent / "static"
WORDS = json.loads((STATIC / "words.json").read_text(encoding="utf-8"))
OURS = [one for one in STATIC.glob("*.js") if not one.name.startswith("uPlot")]


def test_every_word_is_there_in_both_languages() -> None:
    """With the same places for figures."""
    for key, (english, chinese) in WORDS.items():
        assert english, key
        assert chinese, key
        assert set(re.findall(r"\{\d\}", english)) == set(re.findall(r"\{\d\}", chinese)), key


def test_every_word_that_a_page_asks_for_is_in_the_table() -> None:
    """Words by name in scripts and pages, and what comes from the line."""
    asked = set(PAGES) | {"login"}
    for script in OURS:
        asked |= set(re.findall(r'\bword\("(\w+)"', script.read_text(encoding="utf-8")))
    asked |= {one.name for one in Verdict if one} | {one.name for one in Status}
    on_board = set(Role) - {Role.NOBODY, Role.SUPERVISOR}
    asked |= {one.name.lower() for one in on_board}
    assert asked <= set(WORDS)


def test_no_page_has_script_or_style_inside() -> None:
    """The policy forbids it, and no text of the line is ever read as HTML."""
    for page in STATIC.glob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son\w+=|https?://", text), page
    for script in OURS:
        text = script.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|\beval\(|Function\(", text)


def test_the_charts_come_with_their_licence() -> None:
    """Vendored, MIT."""
    assert "uPlot.iife.min.js" in load()
    assert "MIT" in (STATIC / "uPlot.LICENSE.txt").read_text(encoding="utf-8")
