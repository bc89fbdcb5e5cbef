"""The table of reported faults names tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_test_that_the_table_names_exists() -> None:
    """A renamed test takes its name along in the table."""
    table = (ROOT / "docs" / "field-issues.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(test_\w+)`", table))
    written = {
        name
        for path in (ROOT / "tests").rglob("*.py")
        for name in re.findall(r"def (test_\w+)\(", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 40
    assert named - written == set()
