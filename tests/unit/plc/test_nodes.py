"""The register map as OPC UA nodes."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.plc.nodemap import NodePlace, nodes_as_csv, nodes_as_markdown
from inspectd.plc.nodes import WORD_ORDER, place_of, type_name, values_of, words_of
from inspectd.plc.registers import (
    GROUPS,
    HEAD,
    PLC,
    VERDICT,
    Group,
    Head,
    Register,
    decode_head,
    encode_head,
)

PLACE = NodePlace("one", "opc.tcp://plc:4840", "ns={ns};s={station}.{name}", "urn:x", is_ours=False)


@st.composite
def group_and_words(draw: st.DrawFn) -> tuple[Group, list[int]]:
    """A group with all of its words."""
    group = draw(st.sampled_from(GROUPS))
    words = st.lists(st.integers(0, 0xFFFF), min_size=group.words, max_size=group.words)
    return group, draw(words)


@given(group_and_words())
def test_words_become_values_and_words_again(pair: tuple[Group, list[int]]) -> None:
    """Nothing is lost on the way, whatever the words."""
    group, words = pair
    values = values_of(group, words)
    assert len(values) == len(group.registers)
    assert words_of(group, values) == words


def test_a_value_of_two_registers_is_one_number() -> None:
    """The word order of the wire codecs is used on both ways."""
    head = Head(heartbeat=7, missed=0x12345678)
    values = dict(
        zip(
            [one.name for one in HEAD.registers],
            values_of(HEAD, encode_head(head, WORD_ORDER)),
            strict=True,
        )
    )
    assert (values["heartbeat"], values["missed"]) == (7, 0x12345678)
    assert decode_head(words_of(HEAD, list(values.values())), WORD_ORDER) == head


def test_the_first_words_of_a_group_are_its_first_values() -> None:
    """Test constant and version are written alone at the first contact."""
    assert values_of(HEAD, [0x1A2B, 0x3C4D, 2]) == [0x1A2B3C4D, 2]


def test_half_a_value_is_refused() -> None:
    """A word that is missing would shift all others."""
    with pytest.raises(ValueError, match="1 words of head end within test_constant"):
        values_of(HEAD, [0x1A2B])


@pytest.mark.parametrize("value", [-1, 0x10000])
def test_a_value_that_does_not_fit_is_refused(value: int) -> None:
    """It would become another one."""
    values = [0] * len(VERDICT.registers)
    values[-1] = value
    with pytest.raises(ValueError, match=r"sequence is .*room for 0 to 65535"):
        words_of(VERDICT, values)


def test_every_value_has_a_type_of_opc_ua() -> None:
    """And a width that none has is refused."""
    assert {type_name(one) for group in GROUPS for one in group.registers} == {"UInt16", "UInt32"}
    with pytest.raises(ValueError, match="odd has 3 registers"):
        type_name(Register("odd", 0, 3, ""))


def test_a_pattern_is_filled_in() -> None:
    """Each mark stands for its word."""
    place = place_of(
        "ns={ns};s={station}.{group}.{name}",
        station="one",
        group=PLC,
        register=PLC.registers[0],
        namespace="4",
    )
    assert place == "ns=4;s=one.plc.plc_test_constant"


def test_the_map_lists_every_value_once() -> None:
    """For import, with type and writer."""
    rows = list(csv.DictReader(io.StringIO(nodes_as_csv([PLACE]))))
    assert [row["name"] for row in rows] == [one.name for g in GROUPS for one in g.registers]
    assert len({row["node"] for row in rows}) == len(rows)
    assert {row["written_by"] for row in rows} == {"vision", "PLC"}


def test_the_map_for_people_says_whose_server_it_is() -> None:
    """And what the index stands for."""
    page = nodes_as_markdown(PLACE)
    assert "in opc.tcp://plc:4840 (the PLC's server)" in page
    assert "`<ns>` is the index of the namespace `urn:x`" in page
    assert "| ns=<ns>;s=one.status | UInt16 | status | vision |" in page
