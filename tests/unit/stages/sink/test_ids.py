"""Ids of both widths follow each other, over the wrap, with and without 0."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.stages.sink.ids import GAP_MAX, Ids

IDS = st.builds(Ids, bits=st.sampled_from([16, 32]), skips_zero=st.booleans())


def _after(ids: Ids, key: int) -> int:
    """What the PLC's counter shows next."""
    return (key + 1) % ids.limit or int(ids.skips_zero)


@given(ids=IDS, back=st.integers(0, 5), steps=st.integers(1, GAP_MAX))
def test_steps_are_counted_and_taken_back_over_the_wrap(ids: Ids, back: int, steps: int) -> None:
    """`ahead` and `before` are inverse, and no id is left out."""
    first = ids.limit - 1 - back
    passed = [first]
    for _ in range(steps):
        passed.append(_after(ids, passed[-1]))
    assert ids.ahead(first, passed[-1]) == steps
    assert [ids.before(passed[-1], n) for n in range(steps, -1, -1)] == passed
    assert ids.gap_before(first, passed[-1]) == (steps - 1, False)
    assert ids.follows(first, passed[-1])


@pytest.mark.parametrize("ids", [Ids(), Ids(bits=16), Ids(bits=16, skips_zero=True)])
def test_the_first_step_from_0_is_1(ids: Ids) -> None:
    """A counter that skips 0 stands there before its first part."""
    assert ids.gap_before(0, 1) == (0, False)
    assert ids.gap_before(0, 3) == (2, False)


@given(ids=IDS, last=st.integers(1000, 60_000), key=st.integers(0, GAP_MAX))
def test_a_step_backwards_is_a_counter_that_began_anew(ids: Ids, last: int, key: int) -> None:
    """What it has counted since 0 was missed."""
    assert ids.gap_before(last, key) == (max(key - 1, 0), True)
    assert not ids.follows(last, key)


def test_the_first_id_of_all_has_no_gap() -> None:
    """Nothing is known of those before."""
    assert Ids().gap_before(None, 500) == (0, False)
    assert Ids().follows(None, 500)
