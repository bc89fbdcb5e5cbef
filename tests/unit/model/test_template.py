"""Golden pictures are found by the part's name, and never outside their folder."""

from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from inspectd.config.schema import Template
from inspectd.errors import FrameFault
from inspectd.model.template import Templates, template_name


def settings(folder: Path | str = "golden", pattern: str = "{part_id}.png") -> Template:
    """Names as boards have them: `pcb7_test` is compared with `pcb7.png`."""
    return Template(folder=str(folder), pattern=pattern, strip_suffix="_test")


def store(folder: Path, name: str, value: int) -> None:
    """A golden picture of one grey."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    assert cv2.imwrite(str(folder / name), np.full((4, 6), value, np.uint8))


@pytest.mark.parametrize(
    ("part_id", "name"),
    [
        ("pcb7", "pcb7.png"),
        ("pcb7_test", "pcb7.png"),
        ("a_test_b", "a_test_b.png"),
        ("..x", "..x.png"),
        ("Prüfling 7", "Prüfling 7.png"),
    ],
)
def test_the_suffix_is_taken_off_and_nothing_else(part_id: str, name: str) -> None:
    """Only at the end; any plain name will do."""
    assert template_name(settings(), part_id) == name


@pytest.mark.parametrize(
    "part_id", ["../secret", "a/b", "/etc/passwd", "", "_test", ".", "..", "a\0b", "../_test"]
)
def test_a_name_that_leads_elsewhere_is_refused(part_id: str) -> None:
    """Names come from the PLC or from files: from outside."""
    with pytest.raises(FrameFault, match="cannot name"):
        template_name(settings(pattern="sub/{part_id}"), part_id)


@given(st.text(max_size=12))
def test_no_name_leaves_the_folder(part_id: str) -> None:
    """Whatever the text: the picture lies directly where the pattern says, or there is none."""
    try:
        name = template_name(settings("/golden", "{part_id}"), part_id)
    except FrameFault:
        return
    path = (Path("/golden") / name).absolute()
    assert path.parent == Path("/golden")
    assert ".." not in path.parts


@given(st.text(st.characters(), max_size=300))
@example("\ud800")
@example("x" * 300)
def test_any_name_is_a_picture_or_a_frame_fault(part_id: str) -> None:
    """Too long, not to be encoded, a folder: one kind of error, which makes the part a FAULT."""
    templates = Templates(settings("/nonexistent"), 4, 6)
    with pytest.raises(FrameFault):
        templates.of(part_id)


def test_a_folder_in_place_of_a_picture_is_a_fault(tmp_path: Path) -> None:
    """It exists, and cannot be read."""
    (tmp_path / "pcb7.png").mkdir()
    with pytest.raises(FrameFault, match="cannot be read"):
        Templates(settings(tmp_path), 4, 6).of("pcb7")


def test_a_picture_of_another_size_says_both(tmp_path: Path) -> None:
    """Width first, as people say it."""
    store(tmp_path, "pcb7.png", 1)
    with pytest.raises(FrameFault, match=r"is \(6, 4\), frames are \(8, 4\)"):
        Templates(settings(tmp_path), 4, 8).of("pcb7")


def test_a_picture_cannot_be_changed_by_its_user(tmp_path: Path) -> None:
    """It serves the next part too."""
    store(tmp_path, "pcb7.png", 1)
    picture = Templates(settings(tmp_path), 4, 6).of("pcb7")
    with pytest.raises(ValueError, match="read-only"):
        picture[0, 0] = 2


def test_only_the_newest_pictures_are_kept(tmp_path: Path) -> None:
    """Room for two: the one that was not used longest is read again."""
    templates = Templates(settings(tmp_path), 4, 6, room_bytes=2 * 4 * 6)
    for at, name in enumerate("abc"):
        store(tmp_path, f"{name}.png", at)
    for name in "abac":
        templates.of(name)
    for name in "abc":
        (tmp_path / f"{name}.png").unlink()
    assert templates.of("a")[0, 0] == 0
    assert templates.of("c")[0, 0] == 2
    with pytest.raises(FrameFault):
        templates.of("b")
