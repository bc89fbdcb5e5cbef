"""The S7 data block as a document and as a source text."""

import csv
import io
import re

import pytest

from inspectd.plc.datablock import (
    BlockPlace,
    blocks_as_csv,
    blocks_as_markdown,
    blocks_as_scl,
)
from inspectd.plc.registers import BLOCK_REGISTERS, GROUPS

LEFT = BlockPlace("left", "10.0.0.1:102", 0, 1, 7, 4)
RIGHT = LEFT._replace(station="right", start_byte=140)
BYTES = {"UDInt": 4, "UInt": 2, "Word": 2}


def member_bytes(source: str) -> dict[str, int]:
    """Work out where each member of the data block lies, as the compiler does (all are even)."""
    types: dict[str, list[tuple[str, int]]] = {}
    for name, body in re.findall(r'TYPE "(\w+)"(.*?)END_TYPE', source, re.DOTALL):
        members = re.findall(r"^ +(\w+) : (\w+);", body, re.MULTILINE)
        types[name] = [(member, BYTES[kind]) for member, kind in members]
    places: dict[str, int] = {}
    byte, station = 0, ""
    block = source.split("DATA_BLOCK", 1)[1].split("BEGIN", maxsplit=1)[0]
    for line in block.splitlines():
        if found := re.match(r' +"(\w+)" : Struct', line):
            station = found[1]
        elif found := re.match(r" +\w+ : Array\[(\d+)\.\.(\d+)\] of Word;", line):
            byte += 2 * (int(found[2]) - int(found[1]) + 1)
        elif found := re.match(r' +(\w+) : "(\w+)";', line):
            for member, size in types[found[2]]:
                places[f"{station}.{member}"] = byte
                byte += size
    places["end"] = byte
    return places


def test_members_of_the_source_lie_at_the_bytes_of_the_map() -> None:
    """Reserved words fill the gaps, so that the compiler puts every member where we look."""
    places = member_bytes(blocks_as_scl([RIGHT, LEFT]))
    for place in (LEFT, RIGHT):
        for register in (one for group in GROUPS for one in group.registers):
            wanted = place.start_byte + 2 * register.offset
            assert places[f"{place.station}.{register.name}"] == wanted
    assert places["end"] == RIGHT.start_byte + 2 * BLOCK_REGISTERS


def test_the_source_asks_for_standard_access_and_starts_with_the_test_constant() -> None:
    """Optimised access has no addresses; the constant stands there before the first scan."""
    source = blocks_as_scl([LEFT])
    assert "{ S7_Optimized_Access := 'FALSE' }" in source
    assert '"left".plc.plc_test_constant := 16#1A2B3C4D;' in source


def test_each_data_block_comes_once() -> None:
    """Stations of one block share it, other blocks and PLCs have their own."""
    other = LEFT._replace(station="other", db=8)
    source = blocks_as_scl([LEFT, RIGHT, other])
    assert re.findall(r'DATA_BLOCK "(\w+)"', source) == ["Inspectd_7", "Inspectd_8"]


def test_stations_side_by_side_have_nothing_between_them() -> None:
    """The second begins where the first ends."""
    source = blocks_as_scl([LEFT._replace(start_byte=0), RIGHT._replace(start_byte=128)])
    assert "unused_" not in source


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("DB7.DBD4", "test_constant"),
        ("DB7.DBW10", "status"),
        ("DB7.DBX11.0", "status.READY"),
        ("DB7.DBX11.4", "status.STOP_REQUEST"),
        ("DB7.DBD68", "trigger_id"),
        ("DB7.DBD100", "plc_test_constant"),
    ],
)
def test_addresses_are_those_of_the_programming_system(address: str, name: str) -> None:
    """Bit 0 of a word is in its second byte: the high byte comes first."""
    rows = list(csv.DictReader(io.StringIO(blocks_as_csv([LEFT]))))
    assert [row["name"] for row in rows if row["address"] == address] == [name]
    assert f"| {address} | " in blocks_as_markdown(LEFT)
