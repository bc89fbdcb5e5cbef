"""An event on its way out."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from inspectd.forward.event import FIELDS, FORMAT, KEY, Outgoing, as_json, as_row

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def outgoing(**values: Any) -> Outgoing:
    """An event with what matters here."""
    plain: dict[str, Any] = dict.fromkeys(FIELDS, "")
    plain |= {"trigger_id": 7, "epoch_ns": 9, "sequence": 5, "revision": 0, "detail": "{}"}
    plain |= {"line": "l", "run_id": "r", "station": "s"}
    return Outgoing({**plain, **values})


def cleaned(value: Any) -> Any:
    """A JSON value without NUL characters."""
    if isinstance(value, str):
        return value.replace("\0", "�")
    if isinstance(value, list):
        return [cleaned(one) for one in value]
    if isinstance(value, dict):
        return {cleaned(name): cleaned(one) for name, one in value.items()}
    return value


def test_a_message_has_every_field_and_its_detail_opened() -> None:
    """Names are those of the record and of the table."""
    message = json.loads(as_json(outgoing(detail='{"a":[1]}'), 10_000))
    assert set(message) == {"format", *FIELDS}
    assert message["format"] == FORMAT
    assert message["detail"] == {"a": [1]}


def test_the_key_is_what_the_event_is_not_where_it_stood() -> None:
    """Line, run, station, trigger and moment; not the number in a file."""
    assert KEY == ("line", "run_id", "station", "trigger_id", "epoch_ns")
    assert outgoing().mark == "r/s/7/9"


def test_a_large_event_goes_without_its_detail_and_says_so() -> None:
    """One huge event must not block those behind it."""
    message = json.loads(as_json(outgoing(detail=json.dumps({"a": "x" * 5000})), 4000))
    assert message["detail"] is None
    assert message["detail_left_out"] is True


@given(_JSON)
def test_a_row_holds_the_detail_without_nul(detail: Any) -> None:
    """PostgreSQL takes no NUL, escaped or not; everything else arrives as it was."""
    row = as_row(outgoing(detail=json.dumps(detail), part_id="a\0b"))
    assert row[list(FIELDS).index("part_id")] == "a�b"
    assert json.loads(row[list(FIELDS).index("detail")]) == cleaned(detail)


def test_a_row_can_go_without_its_detail() -> None:
    """The last try with an event that a table refuses."""
    row = as_row(outgoing(), with_detail=False)
    assert row[list(FIELDS).index("detail")] is None
