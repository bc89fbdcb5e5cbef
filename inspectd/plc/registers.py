"""The register map: one table from which both sides, the tests and the manual are made.

A station has `BLOCK_REGISTERS` holding registers from `base_register` on, in three groups. Each
group is contiguous, has one writer, and is written (FC16) or read (FC3) as a whole:

    offset  0..21   HEAD      vision writes   who is there, is it well, its answer to a command
    offset 32..37   VERDICT   vision writes   one verdict, the sequence word last
    offset 48..58   PLC       the PLC writes  triggers, acknowledgement, sign of life, a command

All other registers of the block are reserved and stay 0. 32-bit values lie at even offsets and take
two registers in the word order of the station file; both sides keep `TEST_CONSTANT` in their part,
so that a wrong order or a wrong address is found before the first part. Pure: no socket, no clock.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from inspectd.frame import Reason, Verdict
from inspectd.plc.codes import NO_COMMAND, NO_RECIPE, CommandState, Flag, StatusBit, StopCause

__all__ = [
    "BLOCK_REGISTERS",
    "GROUPS",
    "HEAD",
    "NO_SEQUENCE",
    "PLC",
    "PROTOCOL_VERSION",
    "TEST_CONSTANT",
    "VERDICT",
    "Flag",
    "Group",
    "Head",
    "PlcPart",
    "Register",
    "StatusBit",
    "StopCause",
    "VerdictBlock",
    "WordOrder",
    "decode_head",
    "decode_plc",
    "decode_verdict",
    "encode_head",
    "encode_plc",
    "encode_verdict",
    "next_sequence",
    "recipe_word",
]

WordOrder: TypeAlias = Literal["high_first", "low_first"]

BLOCK_REGISTERS = 64
"""Registers of one station, from its `base_register` on."""
PROTOCOL_VERSION = 2
"""Of this map and of the handshake; both sides say theirs."""
TEST_CONSTANT = 0x1A2B3C4D
"""Four different bytes: any exchange of words or bytes shows."""
NO_SEQUENCE = 0
"""No verdict was written since the start."""

_WORD = 0xFFFF
_WORD_BITS = 16


class Register(NamedTuple):
    """One value of the map."""

    name: str
    offset: int
    """From the station's `base_register`."""
    words: int
    """Registers it takes: 1 (16 bits) or 2 (32 bits)."""
    meaning: str

    @property
    def limit(self) -> int:
        """The largest value that fits."""
        return int((1 << (_WORD_BITS * self.words)) - 1)


class Group(NamedTuple):
    """Contiguous registers with one writer, transferred in one request."""

    name: str
    writer: Literal["vision", "PLC"]
    registers: tuple[Register, ...]

    @property
    def offset(self) -> int:
        """Of the first register."""
        return self.registers[0].offset

    @property
    def words(self) -> int:
        """Registers of the whole group."""
        return sum(register.words for register in self.registers)


HEAD = Group(
    "head",
    "vision",
    (
        Register("test_constant", 0, 2, f"always 0x{TEST_CONSTANT:08X}: check it before trusting"),
        Register("protocol_version", 2, 1, f"always {PROTOCOL_VERSION}"),
        Register("status", 3, 1, "bits, see below"),
        Register("heartbeat", 4, 1, "counts up while the line is well; wraps"),
        Register("stop_cause", 5, 1, "why STOP_REQUEST is set: bits, see below"),
        Register("recipe_digest", 6, 2, "first 32 bits of the digest of the station file"),
        Register("missed", 8, 2, "triggers that vision did not see or could not take; wraps"),
        Register("late", 10, 2, "parts decided by the clock since the start; wraps"),
        Register("untold", 12, 2, "parts whose verdict was given up untold since the start; wraps"),
        Register("start_counter", 14, 2, "the trigger counter when vision started"),
        Register("late_in_a_row", 16, 1, "parts that were LATE since the last one in time"),
        Register("not_ok_in_a_row", 17, 1, "parts that were not OK since the last OK"),
        Register("active_recipe", 18, 1, "number of the recipe by which parts are judged; 0: none"),
        Register("command_result", 19, 1, "why a command failed, see below; 0: it did not"),
        Register("command_state", 20, 1, "of the command with this echo, see below"),
        Register("command_echo", 21, 1, "the command_sequence that vision took up last"),
    ),
)
VERDICT = Group(
    "verdict",
    "vision",
    (
        Register("trigger_id", 32, 2, "the value the trigger counter had for this part"),
        Register("verdict", 34, 1, "1 is OK; everything else rejects (0: none yet)"),
        Register("reason", 35, 1, "why, see below"),
        Register("recipe", 36, 1, "number of the recipe by which it was judged; 0: none"),
        Register("sequence", 37, 1, "1..65535, changes with each verdict; 0: none yet"),
    ),
)
PLC = Group(
    "plc",
    "PLC",
    (
        Register("plc_test_constant", 48, 2, f"always 0x{TEST_CONSTANT:08X}, written by the PLC"),
        Register("plc_protocol_version", 50, 1, f"always {PROTOCOL_VERSION}, written by the PLC"),
        Register("plc_flags", 51, 1, "bits, see below"),
        Register("plc_heartbeat", 52, 1, "counts up with the PLC's own period; wraps"),
        Register("acknowledged", 53, 1, "the sequence of the verdict last taken over"),
        Register("trigger_counter", 54, 2, "counts up by one for each part; wraps"),
        Register("command", 56, 1, "what vision is to do, see below"),
        Register("command_argument", 57, 1, "of the command: the number of the recipe"),
        Register("command_sequence", 58, 1, "1..65535, changes with each command; 0: none yet"),
    ),
)
GROUPS: tuple[Group, ...] = (HEAD, VERDICT, PLC)


class Head(NamedTuple):
    """What vision says of itself."""

    status: StatusBit = StatusBit(0)
    heartbeat: int = 0
    stop_cause: StopCause = StopCause(0)
    recipe_digest: int = 0
    missed: int = 0
    late: int = 0
    untold: int = 0
    start_counter: int = 0
    late_in_a_row: int = 0
    not_ok_in_a_row: int = 0
    active_recipe: int = NO_RECIPE
    command_result: int = 0
    """A `CommandResult`; perhaps one that nobody defined."""
    command_state: int = CommandState.NONE
    command_echo: int = NO_COMMAND
    test_constant: int = TEST_CONSTANT
    protocol_version: int = PROTOCOL_VERSION


class VerdictBlock(NamedTuple):
    """One verdict as it stands in the registers; the default is the reject state."""

    trigger_id: int = 0
    verdict: Verdict = Verdict.NONE
    reason: Reason = Reason.NONE
    sequence: int = NO_SEQUENCE
    recipe: int = NO_RECIPE


class PlcPart(NamedTuple):
    """What the PLC says."""

    trigger_counter: int = 0
    acknowledged: int = NO_SEQUENCE
    heartbeat: int = 0
    flags: Flag = Flag(0)
    command: int = 0
    """A `Command`; perhaps one that nobody defined."""
    command_argument: int = 0
    command_sequence: int = NO_COMMAND
    test_constant: int = TEST_CONSTANT
    protocol_version: int = PROTOCOL_VERSION


def encode_head(head: Head, order: WordOrder) -> list[int]:
    """`HEAD` as registers; counters are cut to their width, so that they wrap."""
    return _encode(HEAD, head._asdict(), order)


def decode_head(words: Sequence[int], order: WordOrder) -> Head:
    """Registers of `HEAD` as values; bits nobody defined are kept."""
    values = _decode(HEAD, words, order)
    values["status"] = StatusBit(values["status"])
    values["stop_cause"] = StopCause(values["stop_cause"])
    return Head(**values)


def encode_verdict(block: VerdictBlock, order: WordOrder) -> list[int]:
    """`VERDICT` as registers, the sequence word last."""
    return _encode(VERDICT, block._asdict(), order)


def decode_verdict(words: Sequence[int], order: WordOrder) -> VerdictBlock:
    """Registers of `VERDICT` as values.

    Raises:
        ValueError: A code is not one of ours, or the number of registers is not the group's.
    """
    values = _decode(VERDICT, words, order)
    values["verdict"] = Verdict(values["verdict"])
    values["reason"] = Reason(values["reason"])
    return VerdictBlock(**values)


def encode_plc(part: PlcPart, order: WordOrder) -> list[int]:
    """`PLC` as registers (the simulator's side)."""
    values = {f"{_PLC_PREFIX}{name}": value for name, value in part._asdict().items()}
    return _encode(PLC, {**values, **part._asdict()}, order)


def decode_plc(words: Sequence[int], order: WordOrder) -> PlcPart:
    """Registers of `PLC` as values; bits and commands nobody defined are kept."""
    found = _decode(PLC, words, order)
    values = {name.removeprefix(_PLC_PREFIX): value for name, value in found.items()}
    values["flags"] = Flag(values["flags"])
    return PlcPart(**values)


def next_sequence(sequence: int) -> int:
    """The sequence word after this one: 1 to 65535, then 1 again; 0 is never reached."""
    return sequence % _WORD + 1


def recipe_word(digest: str) -> int:
    """The 32 bits of a recipe digest that the PLC sees; 0 when there is none."""
    return int(digest[:8] or "0", 16)


_PLC_PREFIX = "plc_"
"""Before those names of the PLC's part that vision's head has as well."""


def _encode(group: Group, values: Mapping[str, int], order: WordOrder) -> list[int]:
    words: list[int] = []
    for register in group.registers:
        words.extend(_split(values[register.name] & register.limit, register.words, order))
    return words


def _decode(group: Group, words: Sequence[int], order: WordOrder) -> dict[str, Any]:
    if len(words) != group.words:
        raise ValueError(f"group {group.name} has {group.words} registers, got {len(words)}")
    values: dict[str, Any] = {}
    for register in group.registers:
        at = register.offset - group.offset
        values[register.name] = _join(words[at : at + register.words], order)
    return values


def _split(value: int, count: int, order: WordOrder) -> list[int]:
    """A value as `count` registers."""
    low_first = [(value >> (_WORD_BITS * index)) & _WORD for index in range(count)]
    return low_first if order == "low_first" else low_first[::-1]


def _join(words: Sequence[int], order: WordOrder) -> int:
    """Registers as one value."""
    low_first = words if order == "low_first" else words[::-1]
    return sum(word << (_WORD_BITS * index) for index, word in enumerate(low_first))
