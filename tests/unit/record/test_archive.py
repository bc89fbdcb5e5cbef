"""Pictures on disk: whole or not at all, and deleted with all that belongs to them."""

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.record.archive import Archive, path_for, sanitised
from inspectd.record.picture import encode

PICTURE = np.frombuffer(b"jpeg", np.uint8)
PATH = "archive/2026-12-01/14/cam-1-1-NG.jpg"


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """An archive in an empty folder."""
    return Archive(tmp_path)


def test_a_path_tells_day_hour_station_trigger_verdict_and_part(desk: Any) -> None:
    """In UTC, so that no hour comes twice in autumn."""
    path = path_for(desk.ticket(7, part_id="A/42"), "cam-1", desk.utc())
    assert path == "archive/2026-12-01/14/cam-1-7-NG-A_42.jpg"


@given(st.text(max_size=200))
def test_no_name_of_a_part_leads_out_of_its_folder(name: str) -> None:
    """Names come from the PLC: they are sanitised whatever they are."""
    safe = sanitised(name)
    assert safe
    assert not safe.startswith(".")
    assert len(safe) <= 64
    assert safe.isascii()
    assert "/" not in safe


def test_a_trigger_id_that_comes_again_gets_another_name(desk: Any, archive: Archive) -> None:
    """Neither a file nor a picture that waits is ever written over."""
    ticket = desk.ticket(1, part_id="")
    archive.write(PATH, PICTURE, b"{}")
    second = archive.free_path(ticket, "cam-1", desk.utc(), ())
    third = archive.free_path(ticket, "cam-1", desk.utc(), {second})
    assert [second, third] == [PATH.replace(".jpg", "-2.jpg"), PATH.replace(".jpg", "-3.jpg")]


def test_a_picture_lies_beside_its_event(archive: Archive, tmp_path: Path) -> None:
    """And nothing unfinished beside them."""
    archive.write(PATH, PICTURE, b'{"verdict":"NG"}')
    assert (tmp_path / PATH).read_bytes() == b"jpeg"
    assert json.loads((tmp_path / PATH).with_suffix(".json").read_bytes()) == {"verdict": "NG"}
    assert len(list((tmp_path / PATH).parent.iterdir())) == 2


def test_a_picture_that_cannot_be_written_leaves_nothing(archive: Archive, tmp_path: Path) -> None:
    """A folder stands where the picture should lie: the event beside it goes again."""
    (tmp_path / PATH).mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        archive.write(PATH, PICTURE, b"{}")
    assert list((tmp_path / PATH).parent.iterdir()) == [tmp_path / PATH]


def test_deleting_takes_the_event_and_empty_folders_along(archive: Archive, tmp_path: Path) -> None:
    """Leftovers of a killed writer too; the archive itself stays."""
    archive.write(PATH, PICTURE, b"{}")
    (tmp_path / (PATH + ".part")).write_bytes(b"half")
    assert archive.size_bytes(PATH) == 6
    assert archive.delete(PATH) == 10
    assert list((tmp_path / "archive").iterdir()) == []


def test_deleting_leaves_what_the_index_does_not_know(archive: Archive, tmp_path: Path) -> None:
    """A person's note in the folder keeps the folder."""
    archive.write(PATH, PICTURE, b"{}")
    note = (tmp_path / PATH).with_name("note.txt")
    note.write_text("look at this one")
    archive.delete(PATH)
    assert list(note.parent.iterdir()) == [note]


@pytest.mark.parametrize(
    "path", ["../victim.jpg", "archive/../../x/victim.jpg", "archive/a/victim.jpg", "/etc/x/y/z"]
)
def test_nothing_outside_the_archive_is_deleted(
    archive: Archive, tmp_path: Path, path: str
) -> None:
    """Whatever the database says."""
    victim = tmp_path / "archive" / "a" / "victim.jpg"
    victim.parent.mkdir(parents=True)
    victim.write_bytes(b"mine")
    assert archive.delete(path) == 0
    assert victim.exists()


@pytest.mark.parametrize("shape", [(48, 64), (48, 64, 3)])
def test_a_picture_is_encoded_from_a_view_as_it_is(shape: tuple[int, ...]) -> None:
    """Grey or blue, green, red; read-only views of a larger memory serve as well."""
    memory = np.full((2, *shape), 77, np.uint8)
    view = memory[1]
    view.flags.writeable = False
    encoded = encode(view, 95)
    assert encoded.ndim == 1
    again = cv2.imdecode(encoded, cv2.IMREAD_UNCHANGED)
    assert again is not None
    assert again.shape == shape
    assert abs(int(again.mean()) - 77) <= 1


def test_a_picture_that_cannot_be_encoded_is_a_value_error() -> None:
    """No OpenCV error leaves the module."""
    with pytest.raises(ValueError, match=r"."):
        encode(np.zeros((0, 0, 3), np.uint8), 90)
