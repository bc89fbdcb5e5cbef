"""Packets between the sink and the process of the OPC UA server."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.errors import PlcFault
from inspectd.plc.registers import GROUPS, VERDICT, Group
from inspectd.stages.sink.served import (
    ServedPeer,
    Snapshot,
    packet_of,
    road_of,
    snapshot_bytes,
    snapshot_in,
    write_in,
)

WORD = st.integers(0, 0xFFFF)


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    """Any values of all groups."""
    words = {
        group.name: tuple(draw(st.lists(WORD, min_size=group.words, max_size=group.words)))
        for group in GROUPS
    }
    return Snapshot(draw(st.booleans()), words)


@given(snapshots())
def test_a_snapshot_comes_out_as_it_went_in(snapshot: Snapshot) -> None:
    """Every bit of every group."""
    assert snapshot_in(snapshot_bytes(snapshot)) == snapshot


@given(st.sampled_from(GROUPS), st.lists(WORD, max_size=6))
def test_a_packet_comes_out_as_it_went_in(group: Group, words: list[int]) -> None:
    """The first words of any group."""
    if len(words) <= group.words:
        assert write_in(packet_of(group, words)) == (group, words)


@given(st.binary(max_size=200))
def test_any_other_bytes_are_refused_or_are_a_packet(data: bytes) -> None:
    """Nothing but ValueError comes of them."""
    for read in (write_in, snapshot_in):
        with contextlib.suppress(ValueError):
            read(data)


def test_more_words_than_a_group_has_are_refused() -> None:
    """They would run into nothing."""
    with pytest.raises(ValueError, match="more words than the group has"):
        write_in(packet_of(VERDICT, [0] * (VERDICT.words + 1)))


def test_a_server_that_is_not_there_is_a_fault() -> None:
    """The sink tries again by itself."""
    peer = ServedPeer(road_of("no-such-run", 0), "opc.tcp://127.0.0.1:4840", 50)
    with pytest.raises(PlcFault, match="our OPC UA server is not there"):
        peer.connect()
    assert not peer.is_connected
