"""The word list of the log."""

import ast
from pathlib import Path

import inspectd
from inspectd.host.log import LEVELS
from inspectd.host.words import EVENTS

_ROOT = Path(inspectd.__file__).parent


def _logged() -> set[str]:
    """Every event that some `log(level, event, ...)` in the tree names."""
    found = set()
    for path in _ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and len(node.args) >= 2:
                level, event = node.args[:2]
                if isinstance(level, ast.Constant) and level.value in LEVELS:
                    found |= {
                        text.value
                        for text in ast.walk(event)
                        if isinstance(text, ast.Constant) and isinstance(text.value, str)
                    }
    return found


def test_every_event_that_is_logged_is_explained_and_none_else() -> None:
    """The list is what a reader of the log looks things up in."""
    assert _logged() - {""} == set(EVENTS)
