"""What a Paddle program file says of its inputs and outputs, read without Paddle.

Both formats are read as far as names and shapes go: `.json` (PIR, written by Paddle 3.x) is JSON
text with `data` and `fetch` operations; `.pdmodel` (written by Paddle 2.x) is the protobuf message
`ProgramDesc` of `paddle/fluid/framework/framework.proto`, of which a dozen fields are needed.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from inspectd.model.protobuf import as_bytes, fields, first, packed, signed, text

__all__ = ["Port", "Ports", "read_json", "read_pdmodel"]

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
    blocks = [value for number, value in fields(content) if number == _PROGRAM_BLOCKS]
    if not blocks:
        raise ValueError("no block in it")
    shapes: dict[str, tuple[int, ...]] = {}
    feeds: dict[int, str] = {}
    fetches: dict[int, str] = {}
    for number, value in fields(as_bytes(blocks[0])):
        if number == _BLOCK_VARS:
            name, shape = _variable(as_bytes(value))
            shapes[name] = shape
        elif number == _BLOCK_OPS:
            _note_port(as_bytes(value), feeds, fetches)
    return Ports(*(_ordered(ports, shapes) for ports in (feeds, fetches)))


def _ordered(ports: dict[int, str], shapes: dict[str, tuple[int, ...]]) -> tuple[Port, ...]:
    return tuple(Port(name, shapes.get(name, ())) for _, name in sorted(ports.items()))


def _variable(content: bytes) -> tuple[str, tuple[int, ...]]:
    """Answer the name and shape of a `VarDesc`; the shape is empty for what is no tensor."""
    name = text(first(content, _VAR_NAME))
    tensor = content
    for number in (_VAR_TYPE, _TYPE_LOD_TENSOR, _LOD_TENSOR):
        inner = first(tensor, number)
        if not isinstance(inner, bytes):
            return name, ()
        tensor = inner
    sizes: list[int] = []
    for number, value in fields(tensor):
        if number == _TENSOR_DIMS:
            sizes += [value] if isinstance(value, int) else packed(value)
    return name, _sizes([signed(size) for size in sizes])


def _note_port(content: bytes, feeds: dict[int, str], fetches: dict[int, str]) -> None:
    """Enter an `OpDesc` under its column when it is a feed or a fetch."""
    kind = text(first(content, _OP_TYPE))
    if kind not in ("feed", "fetch"):
        return
    slot = as_bytes(first(content, _OP_OUTPUTS if kind == "feed" else _OP_INPUTS))
    name = text(first(slot, _SLOT_ARGUMENTS))
    ports = feeds if kind == "feed" else fetches
    ports[_column(content, len(ports))] = name


def _column(content: bytes, default: int) -> int:
    """Answer the attribute `col`: the position among the feeds or fetches."""
    for number, value in fields(content):
        if number != _OP_ATTRS:
            continue
        attribute = as_bytes(value)
        if text(first(attribute, _ATTR_NAME)) == "col":
            column = first(attribute, _ATTR_INT)
            return column if isinstance(column, int) else default
    return default
