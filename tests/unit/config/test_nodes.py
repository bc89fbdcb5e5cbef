"""What unquoted scalars mean, and when readers of YAML disagree on them."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from inspectd.config.nodes import Sort, below, meaning, quoted


def read(text: str) -> tuple[Sort, object, bool]:
    """Ask for the meaning, with the tag that YAML 1.1 gives."""
    tag = yaml.SafeLoader("").resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    return meaning(text, tag)


@pytest.mark.parametrize(
    ("text", "sort", "value"),
    [
        ("12", Sort.WHOLE, 12),
        ("-3", Sort.WHOLE, -3),
        ("0", Sort.WHOLE, 0),
        ("0x1F", Sort.WHOLE, 31),
        ("1.50", Sort.NUMBER, 1.5),
        (".5", Sort.NUMBER, 0.5),
        ("1.5e+3", Sort.NUMBER, 1500.0),
        ("true", Sort.TRUTH, True),
        ("FALSE", Sort.TRUTH, False),
        ("~", Sort.NOTHING, None),
        ("", Sort.NOTHING, None),
        ("pin-hole", Sort.TEXT, "pin-hole"),
        ("10.0.0.7", Sort.TEXT, "10.0.0.7"),
        ("../models/a", Sort.TEXT, "../models/a"),
    ],
)
def test_what_all_readers_agree_on_is_taken(text: str, sort: Sort, value: object) -> None:
    """Plain decimal and hex numbers, true and false, null and words."""
    assert read(text) == (sort, value, False)


@pytest.mark.parametrize(
    "text",
    [
        *("yes", "No", "on", "OFF", "010", "08", "1e3", "1.5e3", "1_000", "0b11", "0o17"),
        *("12:30", "1:2.5", "2026-01-31", "=", "<<", "+.5", "-.5", "1" * 19),
    ],
)
def test_what_readers_disagree_on_is_doubtful(text: str) -> None:
    """YAML 1.1 and 1.2 read these differently; a number beyond 64 bits is not safe either."""
    assert read(text) == (Sort.TEXT, text, True)


@pytest.mark.slow
@given(st.from_regex(r"[-+.0-9eExob_:a-fnN~]{0,12}", fullmatch=True))
def test_what_is_taken_means_the_same_to_pyyaml(text: str) -> None:
    """Whatever is not doubtful has the very value that YAML 1.1 gives it."""
    sort, value, is_doubtful = read(text)
    if is_doubtful or sort is Sort.TEXT:
        return
    theirs = yaml.safe_load(f"[{text}]")[0] if text else None
    assert repr(value) == repr(theirs)


@pytest.mark.slow
@given(st.text(max_size=100))
def test_messages_stay_on_one_printable_line(text: str) -> None:
    """Whatever stands in a file, what a message repeats of it is short and printable."""
    assert quoted(text).isprintable()
    assert below("a", text).isprintable()
    assert len(quoted(text)) < 700


def test_dotted_keys_are_joined() -> None:
    """Words are joined with a dot; the top has no name."""
    assert below("", "line") == "line"
    assert below("stations[0]", "camera") == "stations[0].camera"
