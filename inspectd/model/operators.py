"""The operators and values of a Paddle program, in order; read without Paddle.

Both formats, as far as `inspectd.model.graph` counts: which operator reads and makes which value,
and how large the values are.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

from inspectd.model.protobuf import as_bytes, fields, first, packed, signed, text

__all__ = ["Listing", "Operator", "Value", "list_json", "list_pdmodel"]

_FREE = -1
_BYTES_PIR = {"f64": 8, "i64": 8, "f32": 4, "i32": 4, "f16": 2, "bf16": 2, "i16": 2}
_BYTES_PROTO = {1: 2, 2: 4, 3: 8, 4: 2, 5: 4, 6: 8, 22: 2}
"""`VarType.Type` of framework.proto: INT16, INT32, INT64, FP16, FP32, FP64, BF16; else one byte."""

# Field numbers of framework.proto.
_PROGRAM_BLOCKS = 1
_BLOCK_VARS, _BLOCK_OPS = 3, 4
_VAR_NAME, _VAR_TYPE, _VAR_PERSISTABLE = 1, 2, 3
_TYPE_LOD_TENSOR, _LOD_TENSOR = 3, 1
_TENSOR_DATA_TYPE, _TENSOR_DIMS = 1, 2
_OP_INPUTS, _OP_OUTPUTS, _OP_TYPE = 1, 2, 3
_SLOT_ARGUMENTS = 2


class Operator(NamedTuple):
    """One operator."""

    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """What an operator reads or makes."""

    shape: tuple[int, ...]
    """-1 where the size is free."""
    item_bytes: int

    @property
    def is_open(self) -> bool:
        """Whether more than the batch is free."""
        return _FREE in self.shape[1:]

    @property
    def elements(self) -> int:
        """Numbers of one frame; 0 when that is open."""
        if self.is_open or not self.shape:
            return 0
        return prod(max(side, 1) for side in self.shape)

    @property
    def frame_bytes(self) -> int:
        """Bytes of one frame."""
        return self.elements * self.item_bytes


class Listing(NamedTuple):
    """A program."""

    operators: tuple[Operator, ...]
    values: dict[str, Value]
    parameters: frozenset[str]
    """Names of the values that are stored with the program."""


# ---------------------------------------------------------------- .json


def list_json(content: bytes) -> Listing:
    """Read a PIR program; raises ValueError when it is not one."""
    values: dict[str, Value] = {}
    parameters: set[str] = set()
    operators: list[Operator] = []
    try:
        blocks = json.loads(content)["program"]["regions"][0]["blocks"]
        for operation in (each for block in blocks for each in block["ops"]):
            kind = str(operation["#"]).rpartition(".")[2].rstrip("_")
            made = operation["O"] if isinstance(operation["O"], list) else [operation["O"]]
            outputs = tuple(_json_value(each, values) for each in made)
            inputs = tuple(f"%{each['%']}" for each in operation.get("I", ()))
            operators.append(Operator(kind, inputs, outputs))
            if kind == "p":
                parameters.update(outputs)
    except (KeyError, IndexError, TypeError, AttributeError, RecursionError) as fault:
        raise ValueError(f"no PIR program ({fault!r})") from fault
    return Listing(tuple(operators), values, frozenset(parameters))


def _json_value(output: Any, values: dict[str, Value]) -> str:
    """Enter an output of an operator; what is no tensor has no size."""
    name = f"%{output['%']}"
    content = output.get("TT", {}).get("D")
    shape: tuple[int, ...] = ()
    item_bytes = 1
    if isinstance(content, list) and len(content) > 1 and isinstance(content[1], list):
        shape = tuple(int(side) for side in content[1])
        kind = str(content[0].get("#", "")).rpartition("_")[2]
        item_bytes = _BYTES_PIR.get(kind, 1)
    values[name] = Value(shape, item_bytes)
    return name


# ---------------------------------------------------------------- .pdmodel


def list_pdmodel(content: bytes) -> Listing:
    """Read the main block of a legacy program; raises ValueError when it is not one."""
    blocks = [value for number, value in fields(content) if number == _PROGRAM_BLOCKS]
    if not blocks:
        raise ValueError("no block in it")
    values: dict[str, Value] = {}
    parameters: set[str] = set()
    operators: list[Operator] = []
    for number, value in fields(as_bytes(blocks[0])):
        if number == _BLOCK_VARS:
            name, found, is_kept = _variable(as_bytes(value))
            values[name] = found
            if is_kept and found.shape:
                parameters.add(name)
        elif number == _BLOCK_OPS:
            operators.append(_operator(as_bytes(value)))
    return Listing(tuple(operators), values, frozenset(parameters))


def _variable(content: bytes) -> tuple[str, Value, bool]:
    name = text(first(content, _VAR_NAME))
    is_kept = bool(first(content, _VAR_PERSISTABLE) or 0)
    tensor = content
    for number in (_VAR_TYPE, _TYPE_LOD_TENSOR, _LOD_TENSOR):
        inner = first(tensor, number)
        if not isinstance(inner, bytes):
            return name, Value((), 1), is_kept
        tensor = inner
    sizes: list[int] = []
    for number, value in fields(tensor):
        if number == _TENSOR_DIMS:
            sizes += [value] if isinstance(value, int) else packed(value)
    kind = first(tensor, _TENSOR_DATA_TYPE)
    item_bytes = _BYTES_PROTO.get(kind, 1) if isinstance(kind, int) else 1
    return name, Value(tuple(signed(size) for size in sizes), item_bytes), is_kept


def _operator(content: bytes) -> Operator:
    return Operator(
        text(first(content, _OP_TYPE)),
        tuple(_arguments(content, _OP_INPUTS)),
        tuple(_arguments(content, _OP_OUTPUTS)),
    )


def _arguments(content: bytes, wanted: int) -> Iterator[str]:
    for number, slot in fields(content):
        if number == wanted:
            for inner, value in fields(as_bytes(slot)):
                if inner == _SLOT_ARGUMENTS:
                    yield text(value)
