"""Files that a command is asked to write."""

from pathlib import Path

import pytest

from inspectd.errors import UsageFault
from inspectd.outfile import check_writable, write


def test_a_folder_is_no_file_to_write(tmp_path: Path) -> None:
    """It is refused before the work."""
    with pytest.raises(UsageFault, match="is a folder"):
        check_writable(tmp_path)


def test_a_file_without_its_folder_is_refused(tmp_path: Path) -> None:
    """The remedy is to make the folder."""
    with pytest.raises(UsageFault, match="make the folder"):
        check_writable(tmp_path / "no" / "out.json")


def test_what_can_be_written_is_let_pass(tmp_path: Path) -> None:
    """A new file, one that is there, and none at all."""
    (tmp_path / "old.json").write_text("")
    for path in (tmp_path / "new.json", tmp_path / "old.json", None):
        check_writable(path)


def test_a_write_that_fails_is_one_sentence() -> None:
    """A full disk is no bug of ours."""
    with pytest.raises(UsageFault, match="No space left"):
        write("/dev/full", "x" * 100_000)
