"""`docs/logs.md`: what to do about every event of the log."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import inspectd
from inspectd.host.log import LEVELS
from inspectd.host.words import EVENTS

_ROOT = Path(inspectd.__file__).parent
_PAGE = _ROOT.parent / "docs" / "logs.md"
_ROW = re.compile(r"^\| `(\w+)` \| ([\w, ]+) \| (.+) \| (.+) \|$", re.MULTILINE)


def _logged() -> dict[str, set[str]]:
    """Levels by event, from every `log(level, event, ...)` of the source."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path in _ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or len(node.args) < 2:
                continue
            level, event = node.args[:2]
            if isinstance(level, ast.Constant) and level.value in LEVELS:
                for text in ast.walk(event):
                    if isinstance(text, ast.Constant) and isinstance(text.value, str):
                        found[text.value].add(str(level.value))
    return found


def _page() -> list[tuple[str, ...]]:
    return [match.groups() for match in _ROW.finditer(_PAGE.read_text(encoding="utf-8"))]


def test_the_page_has_every_event_once_and_none_else() -> None:
    """`tests/unit/host/test_words.py` holds the word list against the source."""
    names = [name for name, *_ in _page()]
    assert sorted(names) == sorted(EVENTS)


def test_the_page_says_the_level_and_the_meaning_of_the_source() -> None:
    """So that it cannot say something else than the program does."""
    logged = _logged()
    for name, levels, meaning, remedy in _page():
        assert (set(levels.split(", ")), meaning) == (logged[name], EVENTS[name]), name
        assert remedy.endswith("."), name


def test_an_error_always_asks_for_something() -> None:
    """An error is what a person must act on: 'Nothing.' is no answer to it."""
    idle = [name for name, levels, _, to_do in _page() if "error" in levels and to_do == "Nothing."]
    assert idle == []
