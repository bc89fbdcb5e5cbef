"""Every wrong station file in `wrong/` is refused with exactly the faults written at its end."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from inspectd.config.load import LARGEST_BYTES, load
from inspectd.errors import Exit, StationFault, StationFaults

WRONG = sorted((Path(__file__).parent / "wrong").glob("*.yaml"))
_EXPECTED = re.compile(r"# (\d+):(\d+) (\S+|\(whole file\)) ~ (.+)")


class Expected(NamedTuple):
    """One line of the list at the end of a wrong file."""

    line: int
    column: int
    key: str
    part: str


def expected_of(path: Path) -> list[Expected]:
    """Read the list; the places in it were marked by hand, not copied from an output."""
    tail = path.read_text(encoding="latin-1").split("# FAULTS", 1)[1].splitlines()[1:]
    rows = [_EXPECTED.fullmatch(row) for row in tail]
    return [Expected(int(row[1]), int(row[2]), row[3], row[4]) for row in rows if row]


def faults_of(path: Path) -> tuple[StationFault, ...]:
    """Load a file that must be refused."""
    with pytest.raises(StationFaults) as refused:
        load(path)
    assert refused.value.exit_code is Exit.WRONG_FILE
    return refused.value.faults


@pytest.mark.parametrize("path", WRONG, ids=lambda path: str(path.stem))
def test_every_fault_is_reported_at_its_place(path: Path) -> None:
    """All faults of a file, no more, in file order, each with line, column, key and words."""
    faults = faults_of(path)
    expected = expected_of(path)
    found = [(fault.line, fault.column, fault.key) for fault in faults]
    assert found == [(one.line, one.column, one.key) for one in expected], "\n".join(
        map(str, faults)
    )
    for fault, one in zip(faults, expected, strict=True):
        assert one.part in fault.what
        assert fault.file == str(path)


@pytest.mark.parametrize("path", WRONG, ids=lambda path: str(path.stem))
def test_a_fault_is_one_line_that_ends_with_its_remedy(path: Path) -> None:
    """`file:line:column: key: what is wrong; what to do` fits one line of a terminal's log."""
    for fault in faults_of(path):
        assert str(fault).isprintable()
        assert re.search(r"[;:,?] ?.+", fault.what)
        assert str(fault).startswith(f"{path}:{fault.line}:{fault.column}: {fault.key}: ")


def test_there_are_many_wrong_files() -> None:
    """The collection covers every kind of fault: at least twenty-five files, one with five."""
    assert len(WRONG) >= 25
    assert all(expected_of(path) for path in WRONG)
    assert len(expected_of(Path(__file__).parent / "wrong" / "five_at_once.yaml")) == 5


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "the file says nothing"),
        (b"# only a remark\n", "the file says nothing"),
        (b"---\n", "the file says nothing"),
        (b"hello\n", "expected a group of keys, found 'hello'"),
        (b"- a\n", "expected a group of keys, found a list"),
        (b"\xff\xfel\x00", "save the file as UTF-8"),
        (b"#" * (LARGEST_BYTES + 1), "larger than"),
    ],
)
def test_a_file_that_is_no_station_file_is_one_fault(
    tmp_path: Path, content: bytes, part: str
) -> None:
    """Empty, of another encoding, huge, or of another shape: one sentence about the whole file."""
    path = tmp_path / "line.yaml"
    path.write_bytes(content)
    (fault,) = faults_of(path)
    assert (fault.line, fault.key) == (1, "(whole file)")
    assert part in fault.what


def test_a_missing_file_is_a_fault(tmp_path: Path) -> None:
    """There is no traceback for a mistyped path."""
    (fault,) = faults_of(tmp_path / "nowhere.yaml")
    assert "there is no such file" in fault.what


def test_a_folder_is_a_fault(tmp_path: Path) -> None:
    """A folder in place of a file is said to be one."""
    (fault,) = faults_of(tmp_path)
    assert "this is a folder" in fault.what


def test_a_device_is_not_read() -> None:
    """What is no ordinary file might never end."""
    (fault,) = faults_of(Path("/dev/zero"))
    assert "no ordinary file" in fault.what


def test_a_path_that_no_system_takes_is_a_fault() -> None:
    """A path with a NUL byte is refused like any other wrong path."""
    (fault,) = faults_of(Path("a\0b.yaml"))
    assert fault.line == 1
