"""A stamp tells every circumstance of an engine, and one that differs makes it stale."""

from dataclasses import asdict, fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.stages.infer.stamp import Stamp, decoded, differences, encoded

NAMES = [field.name for field in fields(Stamp)]
TEXTS = st.text(max_size=20)
STAMPS = st.builds(Stamp, **dict.fromkeys(NAMES, TEXTS))
FILES = st.dictionaries(TEXTS, TEXTS, max_size=4)


@given(STAMPS, FILES)
def test_what_is_written_is_read(stamp: Stamp, files: dict[str, str]) -> None:
    """Circumstances and digests come back as they were."""
    assert decoded(encoded(stamp, files)) == (stamp, files)


@given(STAMPS, FILES, st.data())
def test_a_stamp_cut_short_is_none(
    stamp: Stamp, files: dict[str, str], data: st.DataObject
) -> None:
    """A half-written file vouches for nothing."""
    text = encoded(stamp, files).rstrip("\n")
    at = data.draw(st.integers(0, len(text) - 1))
    assert decoded(text[:at]) is None


@given(st.text())
def test_any_other_text_is_no_stamp(text: str) -> None:
    """And never an error."""
    assert decoded(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        '{"format": 2}',
        '{"format": 1, "stamp": {}, "files": {}}',
        '{"format": 1, "stamp": [], "files": {}}',
        '{"format": 1, "files": {"a": 1}}',
    ],
)
def test_a_stamp_of_another_format_is_none(text: str) -> None:
    """Whoever wrote it: it is not understood."""
    assert decoded(text) is None


@given(STAMPS)
def test_the_same_circumstances_do_not_differ(stamp: Stamp) -> None:
    """The engine may be used."""
    assert differences(stamp, replace(stamp)) == ()


@given(STAMPS, st.sampled_from(NAMES), TEXTS)
def test_each_field_alone_makes_it_stale(stamp: Stamp, name: str, value: str) -> None:
    """A driver, a card, a version, a shape, an operator: whichever it is, it is named."""
    other = Stamp(**{**asdict(stamp), name: value})
    found = differences(stamp, other)
    assert [one.field for one in found] == ([name] if asdict(stamp)[name] != value else [])


@given(STAMPS, STAMPS)
def test_all_fields_that_differ_are_named(one: Stamp, two: Stamp) -> None:
    """In the order of the stamp, with both values."""
    wrong = [name for name in NAMES if getattr(one, name) != getattr(two, name)]
    assert [each.field for each in differences(one, two)] == wrong
    assert [each.now for each in differences(one, two)] == [getattr(two, name) for name in wrong]
