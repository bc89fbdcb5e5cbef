"""The page for the controls engineer says what the code does."""

import re
from pathlib import Path

from inspectd.plc.codes import Command, CommandResult
from inspectd.plc.registers import GROUPS, PROTOCOL_VERSION

PAGE = (Path(__file__).parents[3] / "docs" / "plc.md").read_text(encoding="utf-8")


def test_the_page_has_every_register_at_its_place() -> None:
    """Offset, width, name and writer, in the order of the table; no other rows."""
    rows = re.findall(r"^\| (\d+) \| (\d) \| `(\w+)` \| (\w+) \|", PAGE, flags=re.MULTILINE)
    wanted = [
        (str(register.offset), str(register.words), register.name, group.writer)
        for group in GROUPS
        for register in group.registers
    ]
    assert rows == wanted


def test_the_page_names_the_version_and_every_command_and_result() -> None:
    """With their numbers."""
    assert f"`protocol_version` | vision | always {PROTOCOL_VERSION}" in PAGE
    for code in (*Command, *(result for result in CommandResult if result)):
        assert f"{code.value} {code.name}" in PAGE
