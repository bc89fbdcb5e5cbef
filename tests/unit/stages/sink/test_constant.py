"""What a wrong test constant says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.plc.registers import PLC, PlcPart, WordOrder, encode_plc
from inspectd.stages.sink.constant import OTHER_ORDER, Finding, Slip, find

ORDERS: list[WordOrder] = ["high_first", "low_first"]
SAID = PlcPart(trigger_counter=0x01020304, acknowledged=5, heartbeat=6)


def turned(words: list[int]) -> list[int]:
    """Words with their bytes exchanged."""
    return [(word & 0xFF) << 8 | word >> 8 for word in words]


@pytest.mark.parametrize("order", ORDERS)
def test_a_right_constant_is_no_finding(order: WordOrder) -> None:
    """In its place and in our order."""
    assert find(encode_plc(SAID, order), order) is None


@pytest.mark.parametrize("order", ORDERS)
def test_exchanged_words_are_told_from_exchanged_bytes(order: WordOrder) -> None:
    """Four different bytes show which of the exchanges it was, and both at once too."""
    words = encode_plc(SAID, OTHER_ORDER[order])
    assert find(words, order) == Finding(Slip.WORDS_EXCHANGED, 0x3C4D1A2B)
    for any_order in ORDERS:
        found = find(turned(encode_plc(SAID, any_order)), order)
        assert found is not None
        assert found.slip is Slip.BYTES_EXCHANGED


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("shift", [-1, *range(1, PLC.words - 1)])
def test_a_shift_is_found_with_its_width(order: WordOrder, shift: int) -> None:
    """As far as the constant is still in sight; one register before it, by the version."""
    words = encode_plc(SAID, order)
    seen = [*words[1:], 0] if shift < 0 else [0] * shift + words[: len(words) - shift]
    found = find(seen, order)
    assert found is not None
    assert (found.slip, found.shift) == (Slip.SHIFTED, shift)


def test_nothing_there_is_absent() -> None:
    """The PLC's program has not run yet, or is another one."""
    assert find([0] * PLC.words, "high_first") == Finding(Slip.ABSENT, 0)


@given(st.lists(st.integers(0, 0xFFFF), min_size=PLC.words, max_size=PLC.words))
def test_any_words_give_a_finding_or_are_right(words: list[int]) -> None:
    """Whatever a PLC holds, it is told from ours without an error."""
    found = find(words, "high_first")
    assert (found is None) == (words[0] << 16 | words[1] == PlcPart().test_constant)
