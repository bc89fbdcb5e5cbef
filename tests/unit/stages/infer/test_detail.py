"""Keys added to a part's detail without taking it apart."""

import json

from hypothesis import given
from hypothesis import strategies as st

from inspectd.stages.infer.detail import with_engine, with_error

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), VALUES, max_size=4), st.sampled_from([None, 1]))
def test_a_key_is_added_to_any_object(detail: dict[str, object], indent: int | None) -> None:
    """The rest stays, and the result is JSON."""
    detail.pop("engine", None)
    text = json.dumps(detail, indent=indent).encode()
    made = json.loads(with_engine(text, "caps", "0123"))
    assert made == {**detail, "engine": {"model": "caps", "digest": "0123"}}


def test_a_long_error_is_cut() -> None:
    """A message has room for so much."""
    assert len(json.loads(with_error(b"{}", "x" * 9000))["error"]) == 500
