"""The register map: one table, two word orders, no surprises."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.frame import Reason, Verdict
from inspectd.plc.codes import (
    Command,
    CommandResult,
    CommandState,
    Flag,
    StatusBit,
    StopCause,
)
from inspectd.plc.map import Place, as_csv, as_markdown
from inspectd.plc.registers import (
    BLOCK_REGISTERS,
    GROUPS,
    HEAD,
    PLC,
    VERDICT,
    Head,
    PlcPart,
    VerdictBlock,
    WordOrder,
    decode_head,
    decode_plc,
    decode_verdict,
    encode_head,
    encode_plc,
    encode_verdict,
    next_sequence,
    recipe_word,
)

U16, U32 = st.integers(0, 0xFFFF), st.integers(0, 0xFFFFFFFF)
ORDERS = st.sampled_from(["high_first", "low_first"])


BLOCKS = st.builds(
    VerdictBlock, U32, st.sampled_from(list(Verdict)), st.sampled_from(list(Reason)), U16, U16
)
_U32_OF_HEAD = ("recipe_digest", "missed", "late", "untold", "start_counter", "test_constant")
HEADS = st.builds(
    Head,
    **{
        name: U32 if name in _U32_OF_HEAD else U16
        for name in Head._fields
        if name not in {"status", "stop_cause"}
    },
    status=st.sampled_from(list(StatusBit)),
    stop_cause=st.sampled_from(list(StopCause)),
)
PARTS = st.builds(
    PlcPart, U32, U16, U16, st.sampled_from(list(Flag)), U16, U16, U16, U32, protocol_version=U16
)


@given(block=BLOCKS, order=ORDERS)
def test_a_verdict_block_reads_as_it_was_written(block: VerdictBlock, order: WordOrder) -> None:
    """Encode and decode are inverse, in both word orders; the sequence word is last."""
    words = encode_verdict(block, order)
    assert decode_verdict(words, order) == block
    assert words[-1] == block.sequence


@given(head=HEADS, order=ORDERS)
def test_a_head_reads_as_it_was_written(head: Head, order: WordOrder) -> None:
    """Encode and decode are inverse, in both word orders; the echo of the command is last."""
    words = encode_head(head, order)
    assert decode_head(words, order) == head
    assert words[-1] == head.command_echo


@given(part=PARTS, order=ORDERS)
def test_the_plc_part_reads_as_it_was_written(part: PlcPart, order: WordOrder) -> None:
    """Encode and decode are inverse, in both word orders; the sequence of the command is last."""
    words = encode_plc(part, order)
    assert decode_plc(words, order) == part
    assert words[-1] == part.command_sequence


@given(value=U32)
def test_the_two_word_orders_differ_by_the_exchange_of_the_words(value: int) -> None:
    """Nothing else of the block is turned round (pymodbus' own helper reverses whole lists)."""
    block = VerdictBlock(value, Verdict.NG, Reason.DEFECT, sequence=9, recipe=3)
    high, low = encode_verdict(block, "high_first"), encode_verdict(block, "low_first")
    assert high == [value >> 16, value & 0xFFFF, 2, 200, 3, 9]
    assert low == [high[1], high[0], *high[2:]]


def test_the_test_constant_tells_the_word_order() -> None:
    """Read in the wrong order it is another number."""
    words = encode_plc(PlcPart(), "high_first")
    assert decode_plc(words, "low_first").test_constant != PlcPart().test_constant


def test_groups_are_contiguous_do_not_overlap_and_fit_the_block() -> None:
    """One request transfers a group; no register has two owners; 32-bit values lie even."""
    taken: list[int] = []
    for group in GROUPS:
        at = group.offset
        for register in group.registers:
            assert register.offset == at
            assert register.words == 1 or register.offset % 2 == 0
            taken.extend(range(at, at + register.words))
            at += register.words
    assert len(taken) == len(set(taken))
    assert max(taken) < BLOCK_REGISTERS


def test_names_are_unique() -> None:
    """A tag import needs them so."""
    names = [register.name for group in GROUPS for register in group.registers]
    assert len(names) == len(set(names))


def test_sequences_run_from_1_to_65535_and_never_show_0() -> None:
    """0 means: no verdict yet."""
    assert next_sequence(0) == 1
    assert next_sequence(65534) == 65535
    assert next_sequence(65535) == 1


def test_counters_are_cut_to_their_width() -> None:
    """They wrap, as the map says."""
    head = decode_head(encode_head(Head(heartbeat=0x1_0005), "high_first"), "high_first")
    assert head.heartbeat == 5


def test_a_group_of_another_length_is_refused() -> None:
    """A short answer is never read as values."""
    with pytest.raises(ValueError, match="group verdict has 6 registers, got 4"):
        decode_verdict([0] * 4, "high_first")


def test_the_recipe_word_is_the_beginning_of_the_digest() -> None:
    """The PLC can show which recipe runs; 0 without one."""
    assert recipe_word("1a2b3c4d5e6f") == 0x1A2B3C4D
    assert recipe_word("") == 0


def test_the_printed_map_has_every_register_at_its_address() -> None:
    """Markdown and CSV come from the same table that the code uses."""
    place = Place("cap", "10.0.0.5:502", 1, 200, "low_first")
    rows = list(csv.DictReader(io.StringIO(as_csv([place]))))
    by_name = {row["name"]: row for row in rows}
    for group in (HEAD, VERDICT, PLC):
        for register in group.registers:
            row = by_name[register.name]
            assert int(row["address"]) == 200 + register.offset
            assert int(row["reference"]) == 400_201 + register.offset
            assert row["written_by"] == group.writer
            assert f"| {200 + register.offset} | " in as_markdown(place)


def test_the_printed_map_explains_every_code_and_bit() -> None:
    """No number on the wire is left without its name."""
    text = as_markdown(Place("cap", "10.0.0.5:502", 1, 0, "high_first"))
    codes = (Verdict, Reason, StatusBit, StopCause, Flag, Command, CommandState, CommandResult)
    for name in (name for code in codes for name in code.__members__):
        assert f"| {name} |" in text
