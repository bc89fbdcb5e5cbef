"""What a wrong test constant says: words exchanged, bytes exchanged, a shift, or nothing at all.

Pure. Only a constant that the *other* side wrote can tell; reading back one's own shows the same
mistake twice, and calls it right.
"""

from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple

from inspectd.plc.registers import (
    PLC,
    PlcPart,
    WordOrder,
    decode_plc,
    encode_plc,
)

__all__ = ["OTHER_ORDER", "Finding", "Slip", "exchanged", "find"]

OTHER_ORDER: dict[WordOrder, WordOrder] = {"high_first": "low_first", "low_first": "high_first"}
_WANTED = PlcPart().test_constant
_CONSTANT_WORDS = 2


class Slip(Enum):
    """How the PLC's constant differs from what it should be."""

    WORDS_EXCHANGED = auto()
    BYTES_EXCHANGED = auto()
    """The bytes within each word, with the words in either order."""
    SHIFTED = auto()
    """The PLC's part lies beside its place."""
    ABSENT = auto()
    """It is nowhere to be seen."""


class Finding(NamedTuple):
    """What was found where the PLC's test constant should be."""

    slip: Slip
    found: int
    """The 32 bits that stand there."""
    shift: int = 0
    """Registers from where it should be to where it is."""


def find(words: Sequence[int], order: WordOrder) -> Finding | None:
    """Look at the words of the group `PLC`; None: the constant stands where it should.

    Raises:
        ValueError: The number of words is not the group's.
    """
    found = decode_plc(words, order).test_constant
    if found == _WANTED:
        return None
    if decode_plc(words, OTHER_ORDER[order]).test_constant == _WANTED:
        return Finding(Slip.WORDS_EXCHANGED, found)
    turned = [exchanged(word) for word in words]
    if _WANTED in (decode_plc(turned, any_order).test_constant for any_order in OTHER_ORDER):
        return Finding(Slip.BYTES_EXCHANGED, found)
    shift = _shift(words, order)
    return Finding(Slip.SHIFTED if shift else Slip.ABSENT, found, shift)


def exchanged(word: int) -> int:
    """A register with its two bytes exchanged."""
    return (word & 0xFF) << 8 | word >> 8


def _shift(words: Sequence[int], order: WordOrder) -> int:
    """How far from its place the PLC's part lies; 0 when it is nowhere to be seen."""
    expected = encode_plc(PlcPart(), order)
    version_at = next(one.offset for one in PLC.registers if one.name == "plc_protocol_version")
    second_and_version = [expected[1], expected[version_at - PLC.offset]]
    if list(words[:_CONSTANT_WORDS]) == second_and_version:
        return -1  # the usual 0-based, 1-based confusion; the first word is out of sight
    constant = expected[:_CONSTANT_WORDS]
    for shift in range(1, len(words) - 1):
        if list(words[shift : shift + _CONSTANT_WORDS]) == constant:
            return shift
    return 0
