"""The register map as an S7 data block: Markdown, CSV, and a source text for TIA Portal.

Pure: text from the table in `inspectd.plc.registers`. A register is a word at
`start_byte + 2 * offset`, high byte first, so bit 0 of a word lies in its second byte. The source
declares what the table says, reserved words too; with standard access the members then lie at
exactly the bytes of the map, which a test works out from the text.
"""

import csv
import io
from collections.abc import Iterator
from enum import IntFlag
from typing import NamedTuple

from inspectd.plc.codes import Flag, StatusBit, StopCause
from inspectd.plc.registers import (
    BLOCK_REGISTERS,
    GROUPS,
    PLC,
    PROTOCOL_VERSION,
    TEST_CONSTANT,
    Group,
    Register,
)

__all__ = ["BlockPlace", "blocks_as_csv", "blocks_as_markdown", "blocks_as_scl"]

_BITS: dict[str, type[IntFlag]] = {
    "status": StatusBit,
    "stop_cause": StopCause,
    "plc_flags": Flag,
}
"""Registers that are bits, not numbers."""
_BYTE_BITS = 8
_COLUMNS = ("address", "type", "name", "written_by", "meaning")
_STARTS = {"plc_test_constant": f"16#{TEST_CONSTANT:08X}", "plc_protocol_version": PROTOCOL_VERSION}
"""What the PLC's program must say; as start values they stand there before its first scan."""


class BlockPlace(NamedTuple):
    """Where a station's registers lie in a data block."""

    station: str
    peer: str
    """host:port."""
    rack: int
    slot: int
    db: int
    start_byte: int


def blocks_as_markdown(place: BlockPlace) -> str:
    """The part of a data block that is one station's."""
    last = place.start_byte + 2 * BLOCK_REGISTERS - 1
    columns = ("address", "type", "name", "written by", "meaning")
    lines = [columns, tuple("---" for _ in columns), *_rows(place)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"""\
## Station {place.station}: DB{place.db} bytes {place.start_byte} to {last}

PLC {place.peer}, rack {place.rack}, slot {place.slot}.
The data block has standard (not optimised) access, and the CPU permits PUT/GET.

{table}

Words that are not listed are reserved and stay 0.
`inspectd plc-map FILE --scl` prints the data block as a source for TIA Portal.
"""


def blocks_as_csv(places: list[BlockPlace]) -> str:
    """All stations in one table with a header line, comma separated."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("station", "peer", "rack", "slot", *_COLUMNS))
    for place in places:
        for row in _rows(place):
            writer.writerow((place.station, place.peer, place.rack, place.slot, *row))
    return text.getvalue()


def blocks_as_scl(places: list[BlockPlace]) -> str:
    """Types of the groups, and each data block with all of its stations, as one source text."""
    blocks: dict[tuple[str, int], list[BlockPlace]] = {}
    for place in sorted(places, key=lambda one: one.start_byte):
        blocks.setdefault((place.peer, place.db), []).append(place)
    lines = [line for group in GROUPS for line in _type(group)]
    for (peer, db), stations in sorted(blocks.items()):
        lines += _block(peer, db, stations)
    return "\n".join(lines) + "\n"


def _rows(place: BlockPlace) -> Iterator[tuple[str, ...]]:
    for group in GROUPS:
        for register in group.registers:
            at = place.start_byte + 2 * register.offset
            width = "DBD" if register.words > 1 else "DBW"
            address = f"DB{place.db}.{width}{at}"
            yield (address, _type_name(register), register.name, group.writer, register.meaning)
            for flag in _BITS.get(register.name, ()):
                number = int(flag).bit_length() - 1
                byte = at + 1 - number // _BYTE_BITS
                bit = f"DB{place.db}.DBX{byte}.{number % _BYTE_BITS}"
                name = f"{register.name}.{flag.name}"
                yield (bit, "Bool", name, group.writer, f"bit {number} of {register.name}")


def _type_name(register: Register) -> str:
    if register.words > 1:
        return "UDInt"
    return "Word" if register.name in _BITS else "UInt"


def _type(group: Group) -> list[str]:
    members = [
        f"      {register.name} : {_type_name(register)};   // {register.meaning}"
        for register in group.registers
    ]
    return [
        f'TYPE "{_udt(group)}"',
        f"// written by {group.writer}",
        f"VERSION : {PROTOCOL_VERSION}.0",
        "   STRUCT",
        *members,
        "   END_STRUCT;",
        "END_TYPE",
        "",
    ]


def _block(peer: str, db: int, stations: list[BlockPlace]) -> list[str]:
    members: list[str] = []
    byte = 0
    for station in stations:
        if station.start_byte > byte:
            count = (station.start_byte - byte) // 2
            members.append(f"      unused_{byte} : Array[1..{count}] of Word;")
        members += _station(station)
        byte = station.start_byte + 2 * BLOCK_REGISTERS
    starts = [
        f'   "{station.station}".{PLC.name}.{name} := {value};'
        for station in stations
        for name, value in _STARTS.items()
    ]
    return [
        f"// For {peer}. Give it the number {db} in its properties.",
        f'DATA_BLOCK "Inspectd_{db}"',
        "{ S7_Optimized_Access := 'FALSE' }",
        f"VERSION : {PROTOCOL_VERSION}.0",
        "NON_RETAIN",
        "   STRUCT",
        *members,
        "   END_STRUCT;",
        "BEGIN",
        *starts,
        "END_DATA_BLOCK",
        "",
    ]


def _station(place: BlockPlace) -> list[str]:
    """The groups of one station, and the reserved words between and behind them."""
    members = []
    at = 0
    for group in GROUPS:
        if group.offset > at:
            members.append(_reserved(at, group.offset))
        members.append(f'         {group.name} : "{_udt(group)}";')
        at = group.offset + group.words
    if at < BLOCK_REGISTERS:
        members.append(_reserved(at, BLOCK_REGISTERS))
    return [f'      "{place.station}" : Struct', *members, "      END_STRUCT;"]


def _reserved(first: int, end: int) -> str:
    return f"         reserved_{first} : Array[{first}..{end - 1}] of Word;"


def _udt(group: Group) -> str:
    return f"Inspectd_{group.name}"
