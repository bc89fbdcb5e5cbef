"""The register map as a document: Markdown for people, CSV for a PLC's tag import.

Pure: text from the table in `inspectd.plc.registers`. Addresses are given twice, as they go over
the wire (counted from 0) and as the six-digit reference of holding registers (from 400001).
"""

import csv
import io
from enum import Enum, IntFlag
from typing import NamedTuple

from inspectd.frame import Reason, Verdict
from inspectd.plc.codes import Command, CommandResult, CommandState, Flag, StatusBit, StopCause
from inspectd.plc.registers import (
    BLOCK_REGISTERS,
    GROUPS,
    Group,
    Register,
    WordOrder,
)

__all__ = ["Place", "as_csv", "as_markdown", "codes_as_markdown"]

_FIRST_REFERENCE = 400_001
"""Reference of the holding register with address 0 (Modbus Application Protocol V1.1b3, 4.4)."""

_ORDER: dict[WordOrder, str] = {
    "high_first": "high word at the lower address",
    "low_first": "low word at the lower address",
}


class Place(NamedTuple):
    """Where a station's block lies in the PLC."""

    station: str
    peer: str
    """host:port."""
    device_id: int
    base_register: int
    word_order: WordOrder


def as_markdown(place: Place) -> str:
    """The map of one station with its bits and codes."""
    last = place.base_register + BLOCK_REGISTERS - 1
    order = _ORDER[place.word_order]
    parts = [
        f"## Station {place.station}: holding registers {place.base_register} to {last}",
        f"PLC {place.peer}, device id {place.device_id}; 32-bit values: {order}.",
        _table(
            ("address", "reference", "registers", "name", "written by", "meaning"),
            [_row(place, group, register) for group in GROUPS for register in group.registers],
        ),
        "Registers that are not listed are reserved and stay 0.",
        codes_as_markdown(),
    ]
    return "\n\n".join(parts)


def codes_as_markdown() -> str:
    """Bits and codes, which are the same on every fieldbus."""
    parts = [
        "### Bits of status (vision to PLC)",
        _table(("bit", "name"), [(_bit(flag), flag.name or "") for flag in StatusBit]),
        "### Bits of stop_cause (vision to PLC)",
        _table(("bit", "name"), [(_bit(flag), flag.name or "") for flag in StopCause]),
        "### Bits of plc_flags (PLC to vision)",
        _table(("bit", "name"), [(_bit(flag), flag.name or "") for flag in Flag]),
        "### Commands",
        _codes(Command),
        "### States of a command (command_state)",
        _codes(CommandState),
        "### Results of a command (command_result)",
        _codes(CommandResult),
        "### Verdicts",
        _codes(Verdict),
        "### Reasons",
        _codes(Reason),
    ]
    return "\n\n".join(parts) + "\n"


def as_csv(places: list[Place]) -> str:
    """All stations in one table with a header line, comma separated."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        (
            "station",
            "peer",
            "device_id",
            "word_order",
            "address",
            "reference",
            "registers",
            "type",
            "name",
            "written_by",
            "meaning",
        )
    )
    for place in places:
        for group in GROUPS:
            for register in group.registers:
                address, reference, words, name, writer_name, meaning = _row(place, group, register)
                kind = "UDINT" if register.words > 1 else "UINT"
                writer.writerow(
                    (
                        place.station,
                        place.peer,
                        place.device_id,
                        place.word_order,
                        address,
                        reference,
                        words,
                        kind,
                        name,
                        writer_name,
                        meaning,
                    )
                )
    return text.getvalue()


def _row(place: Place, group: Group, register: Register) -> tuple[str, ...]:
    address = place.base_register + register.offset
    return (
        str(address),
        str(_FIRST_REFERENCE + address),
        str(register.words),
        register.name,
        group.writer,
        register.meaning,
    )


def _bit(flag: IntFlag) -> str:
    return str(int(flag).bit_length() - 1)


def _codes(codes: type[Enum]) -> str:
    return _table(("code", "name"), [(str(code.value), code.name) for code in codes])


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
