"""One run of a line at a time."""

from pathlib import Path

import pytest

from inspectd.errors import PortBusy, UsageFault
from inspectd.host.lock import only_run


def test_a_second_run_with_the_same_record_is_refused(tmp_path: Path) -> None:
    """The message names the folder; afterwards the folder is free again."""
    with only_run(tmp_path), pytest.raises(PortBusy, match="another run"), only_run(tmp_path):
        pass
    with only_run(tmp_path):
        pass


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    """Before anything is started."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageFault, match=r"record\.folder"), only_run(tmp_path / "file"):
        pass
