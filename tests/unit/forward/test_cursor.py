"""The cursor file: whatever is cut off or scribbled over, an older place at worst."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.cursor import (
    SLOT_BYTES,
    Cursor,
    CursorFile,
    Found,
    cursor_path,
    is_known,
    newest,
    read,
    slot_of,
)

_CURSORS = st.builds(
    Cursor,
    st.text("0123456789abcdef", min_size=32, max_size=32),
    st.integers(0, 2**62),
    st.integers(0, 2**62),
    st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=110),
)


@given(st.integers(0, 2**62), _CURSORS)
def test_a_slot_says_what_was_written(turn: int, cursor: Cursor) -> None:
    """Codec, there and back."""
    slot = slot_of(turn, cursor)
    assert len(slot) == SLOT_BYTES
    assert newest(slot) == Found(turn, cursor)


@given(_CURSORS, _CURSORS, st.integers(0, SLOT_BYTES), st.booleans())
def test_a_write_cut_at_any_byte_leaves_the_place_before(
    old: Cursor, new: Cursor, cut: int, is_first: bool
) -> None:
    """A death or a power cut within a write: the other slot still stands."""
    torn = slot_of(2, new)[:cut] + slot_of(0, old)[cut:]
    standing = slot_of(1, old)
    content = torn + standing if is_first else standing + torn
    found = newest(content)
    assert found is not None
    assert found.cursor in (old, new)
    assert found.turn >= 1


@given(_CURSORS, st.binary(max_size=3 * SLOT_BYTES))
def test_anything_else_is_no_cursor(cursor: Cursor, content: bytes) -> None:
    """A foreign file is not believed."""
    assert newest(content) is None
    assert newest(slot_of(1, cursor)[:-2] + b"xy") is None


def test_a_cursor_too_long_for_its_slot_is_our_own_fault() -> None:
    """It is refused loudly, not cut."""
    with pytest.raises(ValueError, match="does not fit"):
        slot_of(1, Cursor("a" * 32, 1, 1, "x" * SLOT_BYTES))


def test_a_file_is_made_in_its_full_size_and_read_again(tmp_path: Path) -> None:
    """Later writes need no room; the record reads what the forwarder wrote."""
    path = cursor_path(tmp_path, "broker", "ab" * 16)
    assert read(path) is None
    assert not is_known(tmp_path, "broker")
    file = CursorFile(path)
    assert (file.is_new, file.cursor) == (True, None)
    assert path.stat().st_size == 2 * SLOT_BYTES
    for sequence in range(5):
        file.write(Cursor("ab" * 16, sequence))
        assert read(path) == Cursor("ab" * 16, sequence)
    file.close()
    again = CursorFile(path)
    assert (again.is_new, again.cursor) == (False, Cursor("ab" * 16, 4))
    again.write(Cursor("ab" * 16, 5))
    again.close()
    assert read(path) == Cursor("ab" * 16, 5)


def test_a_name_is_not_taken_for_another_that_begins_alike(tmp_path: Path) -> None:
    """`mes` is new although `mes-2` is known."""
    CursorFile(cursor_path(tmp_path, "mes-2", "ab" * 16)).close()
    assert is_known(tmp_path, "mes-2")
    assert not is_known(tmp_path, "mes")
