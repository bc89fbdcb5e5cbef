"""The register map as OPC UA nodes: each value is a node with a name and a type.

Made from the table in `inspectd.plc.registers`, like every other form of the map. There are no word
orders here: a value of two registers is one UInt32. Pure.
"""

from collections.abc import Sequence

from inspectd.plc.registers import Group, Register, WordOrder

__all__ = ["WORD_ORDER", "place_of", "type_name", "values_of", "words_of"]

WORD_ORDER: WordOrder = "high_first"
"""How the words of a value are put together; no peer ever sees it."""
_TYPES = {1: "UInt16", 2: "UInt32", 4: "UInt64"}
_WORD_BITS = 16
_WORD = 0xFFFF


def type_name(register: Register) -> str:
    """The OPC UA type of a value, e.g. `UInt32`.

    Raises:
        ValueError: No unsigned integer of OPC UA has so many bits.
    """
    if register.words not in _TYPES:
        raise ValueError(f"{register.name} has {register.words} registers: no type of OPC UA has")
    return _TYPES[register.words]


def values_of(group: Group, words: Sequence[int]) -> list[int]:
    """The first values of a group, as many as `words` hold.

    Raises:
        ValueError: The words end in the middle of a value.
    """
    values: list[int] = []
    at = 0
    for register in group.registers:
        if at == len(words):
            break
        if at + register.words > len(words):
            raise ValueError(f"{len(words)} words of {group.name} end within {register.name}")
        value = 0
        for word in words[at : at + register.words]:
            value = value << _WORD_BITS | word
        values.append(value)
        at += register.words
    return values


def words_of(group: Group, values: Sequence[int]) -> list[int]:
    """All values of a group as its registers.

    Raises:
        ValueError: Too few or too many values, or one does not fit its registers.
    """
    words: list[int] = []
    for register, value in zip(group.registers, values, strict=True):
        if not 0 <= value <= register.limit:
            raise ValueError(f"{register.name} is {value}: it has room for 0 to {register.limit}")
        shifts = range(_WORD_BITS * (register.words - 1), -1, -_WORD_BITS)
        words.extend(value >> shift & _WORD for shift in shifts)
    return words


def place_of(
    pattern: str, *, station: str, group: Group, register: Register, namespace: str
) -> str:
    """Fill the pattern of the station file in: a node id or a browse path.

    Args:
        pattern: Text with `{name}` and perhaps `{group}`, `{station}`, `{ns}`.
        station: Name of the station.
        group: Of the value.
        register: The value.
        namespace: What stands for `{ns}`: an index, or anything for people.
    """
    filled = {
        "{name}": register.name,
        "{group}": group.name,
        "{station}": station,
        "{ns}": namespace,
    }
    for mark, text in filled.items():
        pattern = pattern.replace(mark, text)
    return pattern
