"""What a Paddle program file says of its inputs and outputs, read without Paddle.

Both formats are read as far as names and shapes go: `.json` (PIR, written by Paddle 3.x) is JSON
text with `data` and `fetch` operations; `.pdmodel` (written by Paddle 2.x) is the protobuf message
`ProgramDesc` of `paddle/fluid/framework/framework.proto`, of which a dozen fields are needed.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ["Port", "Ports", "read_json", "read_pdmodel"]

_Field: TypeAlias = tuple[int, int | bytes]

# Field numbers of framework.proto.
_PROGRAM_BLOCKS = 1
_BLOCK_VARS, _BLOCK_OPS = 3, 4
_VAR_NAME, _VAR_TYPE = 1, 2
_TYPE_LOD_TENSOR = 3
_LOD_TENSOR = 1
_TENSOR_DIMS = 2
_OP_INPUTS, _OP_OUTPUTS, _OP_TYPE, _OP_ATTRS = 1, 2, 3, 4
_SLOT_ARGUMENTS = 2
_ATTR_NAME, _ATTR_INT = 1, 3

_SIDE_MAX = 2**31 - 1
"""Paddle counts a tensor's sides in 64 bits; one beyond 31 is a broken file."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True, slots=True)
class Port:
    """One input or output of a program."""

    name: str
    shape: tuple[int, ...]
    """-1 where the size is free (the batch); empty when the file does not say."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Inputs and outputs of a program, in the program's own order."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]


def read_json(content: bytes) -> Ports:
    """Read a PIR program; raises ValueError when it is not one."""
    try:
        tree = json.loads(content)
        blocks = tree["program"]["regions"][0]["blocks"]
        operations = [operation for block in blocks for operation in block["ops"]]
        inputs = [_json_port(each) for each in _json_named(operations, ("data", "feed"))]
        outputs = [_json_port(each) for each in _json_named(operations, ("fetch",))]
    except (KeyError, IndexError, TypeError, AttributeError, RecursionError) as fault:
        raise ValueError(f"no PIR program ({fault!r})") from fault
    return Ports(tuple(inputs), tuple(outputs))


def _json_named(operations: list[Any], endings: tuple[str, ...]) -> Iterator[Any]:
    """Answer the operations of these kinds; `1.data` and `pd_op.data` are both in use."""
    return (each for each in operations if str(each["#"]).rpartition(".")[2] in endings)


def _json_port(operation: Any) -> Port:
    attributes = {each["N"]: each["AT"]["D"] for each in operation["A"]}
    value_type = operation["O"][0]["TT"]["D"]
    return Port(str(attributes["name"]), _sizes(value_type[1]))


def _sizes(values: Sequence[Any]) -> tuple[int, ...]:
    """Answer a shape; raises ValueError for what no tensor can have."""
    for value in values:
        if type(value) is not int or not -1 <= value <= _SIDE_MAX:
            raise ValueError(f"a tensor has the size {value!r}")
    return tuple(values)


def read_pdmodel(content: bytes) -> Ports:
    """Read a legacy program; raises ValueError when it is not one."""
    blocks = [value for number, value in _fields(content) if number == _PROGRAM_BLOCKS]
    if not blocks:
        raise ValueError("no block in it")
    shapes: dict[str, tuple[int, ...]] = {}
    feeds: dict[int, str] = {}
    fetches: dict[int, str] = {}
    for number, value in _fields(_as_bytes(blocks[0])):
        if number == _BLOCK_VARS:
            name, shape = _variable(_as_bytes(value))
            shapes[name] = shape
        elif number == _BLOCK_OPS:
            _note_port(_as_bytes(value), feeds, fetches)
    return Ports(*(_ordered(ports, shapes) for ports in (feeds, fetches)))


def _ordered(ports: dict[int, str], shapes: dict[str, tuple[int, ...]]) -> tuple[Port, ...]:
    return tuple(Port(name, shapes.get(name, ())) for _, name in sorted(ports.items()))


def _variable(content: bytes) -> tuple[str, tuple[int, ...]]:
    """Answer the name and shape of a `VarDesc`; the shape is empty for what is no tensor."""
    name = _text(_first(content, _VAR_NAME))
    tensor = content
    for number in (_VAR_TYPE, _TYPE_LOD_TENSOR, _LOD_TENSOR):
        inner = _first(tensor, number)
        if not isinstance(inner, bytes):
            return name, ()
        tensor = inner
    sizes: list[int] = []
    for number, value in _fields(tensor):
        if number == _TENSOR_DIMS:
            sizes += [value] if isinstance(value, int) else _packed(value)
    return name, _sizes([_signed(size) for size in sizes])


def _note_port(content: bytes, feeds: dict[int, str], fetches: dict[int, str]) -> None:
    """Enter an `OpDesc` under its column when it is a feed or a fetch."""
    kind = _text(_first(content, _OP_TYPE))
    if kind not in ("feed", "fetch"):
        return
    slot = _as_bytes(_first(content, _OP_OUTPUTS if kind == "feed" else _OP_INPUTS))
    name = _text(_first(slot, _SLOT_ARGUMENTS))
    ports = feeds if kind == "feed" else fetches
    ports[_column(content, len(ports))] = name


def _column(content: bytes, default: int) -> int:
    """Answer the attribute `col`: the position among the feeds or fetches."""
    for number, value in _fields(content):
        if number != _OP_ATTRS:
            continue
        attribute = _as_bytes(value)
        if _text(_first(attribute, _ATTR_NAME)) == "col":
            column = _first(attribute, _ATTR_INT)
            return column if isinstance(column, int) else default
    return default


def _first(content: bytes, wanted: int) -> int | bytes | None:
    return next((value for number, value in _fields(content) if number == wanted), None)


def _as_bytes(value: int | bytes | None) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError("not a Paddle program")  # noqa: TRY004  it is the file that is wrong
    return value


def _text(value: int | bytes | None) -> str:
    return _as_bytes(value).decode()


def _signed(value: int) -> int:
    """Answer a 64-bit two's complement varint as it was meant (-1 is a free size)."""
    return value - (1 << 64) if value >= 1 << 63 else value


def _packed(content: bytes) -> list[int]:
    sizes, at = [], 0
    while at < len(content):
        value, at = _varint(content, at)
        sizes.append(value)
    return sizes


def _fields(content: bytes) -> Iterator[_Field]:
    """Walk the fields of one protobuf message: (number, varint value or bytes)."""
    at = 0
    while at < len(content):
        tag, at = _varint(content, at)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, at = _varint(content, at)
            yield number, value
            continue
        size, at = _size(content, at, wire)
        if at + size > len(content):
            raise ValueError("the file is cut short")
        yield number, content[at : at + size]
        at += size


def _size(content: bytes, at: int, wire: int) -> tuple[int, int]:
    """Answer how long the next value is, and where it begins."""
    if wire == _BYTES:
        return _varint(content, at)
    if wire in (_FIXED64, _FIXED32):
        return (8 if wire == _FIXED64 else 4), at
    raise ValueError("not a protobuf message")


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(content) or shift > 63:  # noqa: PLR2004  a varint has at most 64 bits
            raise ValueError("the file is cut short, or no protobuf message")
        byte = content[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at
