"""What a Paddle program costs: parameters, activations, arithmetic; read without Paddle.

The estimate is ours and errs on the safe side: operators are taken in the program's order, a value
lives from the operator that makes it to the last one that reads it, nothing works in place, and
fusion (which saves values) is not counted. The largest sum of what lives at once is what memory
optimisation can reach; the sum of everything is what runs without it. Scratch memory of single
kernels is not in the program and not in the estimate. Arithmetic is counted for convolutions and
matrix products, a multiplication and an addition as two, as PaddleDetection's tables do.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

from inspectd.errors import ModelFault
from inspectd.model.operators import Operator, Value, list_json, list_pdmodel
from inspectd.model.spec import Program

__all__ = ["Graph", "read_graph"]

_CONVOLUTIONS = frozenset(
    {"conv2d", "depthwise_conv2d", "fused_conv2d", "conv2d_transpose", "deformable_conv"}
)
_PRODUCTS = frozenset({"matmul", "matmul_v2", "mul", "fc", "bmm"})
_SILENT = frozenset({"feed", "fetch", "data", "p", "parameter", "combine"})
"""Operators that make no value of their own."""
_QUANTISERS = ("quantize_linear", "dequantize_linear", "fake_quantize", "fake_channel_wise")
_RANK_OF_MATRIX, _RANK_OF_KERNEL = 2, 4


@dataclass(frozen=True, slots=True)
class Graph:
    """A program, counted."""

    parameter_bytes: int
    parameters: int
    """How many numbers."""
    peak_bytes: int
    """Largest sum of activations alive at once, for one frame."""
    total_bytes: int
    """Sum of all activations, for one frame."""
    operations: int
    """Of one frame."""
    operators: Mapping[str, int]
    """Type -> how many."""
    unknown: int
    """Values whose size the program leaves open in more than the batch; they count as nothing."""
    is_quantised: bool

    def peak_of(self, batch: int) -> int:
        """Bytes of activations of a batch, with memory optimisation."""
        return self.peak_bytes * batch


def read_graph(stored: Program) -> Graph:
    """Count a stored program.

    Raises:
        ModelFault: it cannot be read.
    """
    path = Path(stored.program_path)
    listed = list_json if stored.format == "json" else list_pdmodel
    try:
        operators, values, parameters = listed(path.read_bytes())
    except (OSError, ValueError) as fault:
        raise ModelFault(str(path), "", f"cannot be read ({fault})", "export it again") from fault
    return counted(operators, values, parameters)


def counted(
    operators: Sequence[Operator], values: Mapping[str, Value], parameters: Iterable[str]
) -> Graph:
    """Count operators in their order; sizes of 1 stand for the free batch."""
    fixed = set(parameters)
    made = [one for one in operators if one.kind not in _SILENT]
    sizes = {name: value.frame_bytes for name, value in values.items() if name not in fixed}
    peak, total = _lives(made, sizes)
    kinds: dict[str, int] = {}
    for one in made:
        kinds[one.kind] = kinds.get(one.kind, 0) + 1
    return Graph(
        parameter_bytes=sum(values[name].frame_bytes for name in fixed if name in values),
        parameters=sum(values[name].elements for name in fixed if name in values),
        peak_bytes=peak,
        total_bytes=total,
        operations=sum(_operations(one, values, fixed) for one in made),
        operators=dict(sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0]))),
        unknown=sum(value.is_open for name, value in values.items() if name not in fixed),
        is_quantised=any(kind.startswith(_QUANTISERS) for kind in kinds),
    )


def _lives(operators: Sequence[Operator], sizes: Mapping[str, int]) -> tuple[int, int]:
    """Answer the largest sum alive at once, and the sum of all."""
    last: dict[str, int] = {}
    for at, one in enumerate(operators):
        last.update(dict.fromkeys((*one.inputs, *one.outputs), at))
    first_read = {name for one in operators for name in one.inputs}
    made = {name for one in operators for name in one.outputs}
    alive = {name for name in first_read - made if name in sizes}
    now = sum(sizes[name] for name in alive)
    peak, total = now, now
    for at, one in enumerate(operators):
        for name in one.outputs:
            if name in sizes and name not in alive:
                alive.add(name)
                now += sizes[name]
                total += sizes[name]
        peak = max(peak, now)
        for name in {*one.inputs, *one.outputs} & alive:
            if last[name] == at:
                alive.remove(name)
                now -= sizes[name]
    return peak, total


def _operations(one: Operator, values: Mapping[str, Value], fixed: Collection[str]) -> int:
    """Twice the multiplications of an operator, for one frame."""
    if not one.outputs or one.outputs[0] not in values:
        return 0
    out = values[one.outputs[0]].elements
    weights = [values[name].shape for name in one.inputs if name in fixed and name in values]
    if one.kind in _CONVOLUTIONS:
        kernel = next((shape for shape in weights if len(shape) == _RANK_OF_KERNEL), (0, 0))
        return 2 * out * prod(kernel[1:])
    if one.kind in _PRODUCTS:
        matrix = next((shape for shape in weights if len(shape) == _RANK_OF_MATRIX), None)
        first = values[one.inputs[0]].shape if one.inputs[0] in values else ()
        return 2 * out * abs(matrix[0] if matrix else first[-1] if first else 0)
    return 0
