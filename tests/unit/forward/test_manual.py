"""`docs/forward.md` is kept honest."""

import re
from pathlib import Path

from inspectd.config.load import line_of
from inspectd.forward.event import FIELDS, FORMAT, KEY
from inspectd.forward.table import COMMENT, ddl, insertion
from tests.unit.config.test_crossrules import TEXT

MANUAL = (Path(__file__).parents[3] / "docs" / "forward.md").read_text(encoding="utf-8")


def test_every_field_is_explained() -> None:
    """By its name; and the format is the one that is sent."""
    assert [name for name in FIELDS if f"`{name}`" not in MANUAL] == []
    assert f"`format` ({FORMAT})" in MANUAL


def test_the_entries_shown_are_read() -> None:
    """They can be copied into a station file."""
    (shown,) = re.findall(r"```yaml\n(.*?)```", MANUAL, re.DOTALL)
    line, _ = line_of((TEXT + shown).encode(), "x.yaml", must_exist=False)
    assert [entry.kind for entry in line.forward] == ["mqtt", "postgresql"]


def test_the_table_has_every_field_and_its_key() -> None:
    """What is printed is what is filled."""
    text = ddl("parts", "")
    assert all(
        re.search(rf"^    {name} +{re.escape(FIELDS[name])},$", text, re.MULTILINE)
        for name in FIELDS
    )
    assert f"PRIMARY KEY ({', '.join(KEY)})" in text
    assert COMMENT in text
    assert f"ON CONFLICT ({', '.join(KEY)})" in insertion("parts")
