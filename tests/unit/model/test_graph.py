"""What a program costs is counted from the program itself."""

import contextlib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.errors import ModelFault
from inspectd.model import directory
from inspectd.model.graph import counted, read_graph
from inspectd.model.operators import Listing, Operator, Value, list_json, list_pdmodel
from inspectd.model.spec import Program

ROOT = Path(__file__).parents[3]
PAIRS = [
    (
        ROOT / "inspectd" / "models" / "bottle_cap",
        ROOT / "inspectd" / "models" / "bottle_cap_pdmodel",
    ),
    (ROOT / "models" / "deeppcb", ROOT / "models" / "deeppcb_pdmodel"),
]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0].name)
def test_both_formats_of_a_model_cost_the_same(pair: tuple[Path, Path]) -> None:
    """Two readers of two formats agree on parameters and arithmetic, and nearly on memory."""
    one, two = (read_graph(directory.read(str(path)).programs[0]) for path in pair)
    assert one.parameters == two.parameters
    assert one.parameter_bytes == two.parameter_bytes
    assert one.operations == two.operations
    assert one.peak_bytes == pytest.approx(two.peak_bytes, rel=0.01)
    assert one.total_bytes == pytest.approx(two.total_bytes, rel=0.01)


@pytest.mark.parametrize(
    "path", [one for pair in PAIRS for one in pair], ids=lambda path: path.name
)
def test_the_parameters_are_those_on_disk(path: Path) -> None:
    """The file has a header for each of them, and nothing else."""
    stored = directory.read(str(path)).programs[0]
    graph = read_graph(stored)
    assert graph.parameter_bytes <= Path(stored.params_path).stat().st_size
    assert graph.parameter_bytes == pytest.approx(Path(stored.params_path).stat().st_size, rel=0.01)


def test_a_convolution_is_counted_by_hand() -> None:
    """24 channels of 80 x 80 from 3 of 9 x 9: a multiplication and an addition each."""
    values = {
        "x": Value((-1, 3, 320, 320), 4),
        "w": Value((24, 3, 9, 9), 4),
        "y": Value((-1, 24, 80, 80), 4),
    }
    graph = counted([Operator("conv2d", ("x", "w"), ("y",))], values, {"w"})
    assert graph.operations == 2 * 24 * 80 * 80 * 3 * 9 * 9
    assert graph.parameters == 24 * 3 * 9 * 9
    assert graph.peak_bytes == 4 * (3 * 320 * 320 + 24 * 80 * 80)


def test_a_matrix_product_is_counted_by_its_matrix() -> None:
    """128 numbers from 64 each."""
    values = {"x": Value((-1, 64), 4), "w": Value((64, 128), 4), "y": Value((-1, 128), 4)}
    graph = counted([Operator("matmul_v2", ("x", "w"), ("y",))], values, {"w"})
    assert graph.operations == 2 * 128 * 64


def test_a_value_is_alive_until_it_is_last_read() -> None:
    """Of a -> b -> c, a is read again at the end: all three at once; d after them is small."""
    sizes = {name: Value((-1, number), 1) for name, number in (("a", 10), ("b", 20), ("c", 30))}
    values = {**sizes, "d": Value((-1, 1), 1)}
    chain = [Operator("relu", ("a",), ("b",)), Operator("relu", ("b",), ("c",))]
    assert counted(chain, values, ()).peak_bytes == 50
    late = [*chain, Operator("add", ("a", "c"), ("d",))]
    assert counted(late, values, ()).peak_bytes == 60
    assert counted(late, values, ()).total_bytes == 61


@given(st.lists(st.integers(1, 1000), min_size=2, max_size=20), st.integers(1, 64))
def test_the_peak_of_a_chain_is_its_largest_pair(numbers: list[int], batch: int) -> None:
    """And grows with the batch; with no memory shared it is the sum."""
    values = {f"v{at}": Value((-1, number), 4) for at, number in enumerate(numbers)}
    chain = [Operator("relu", (f"v{at}",), (f"v{at + 1}",)) for at in range(len(numbers) - 1)]
    graph = counted(chain, values, ())
    pairs = pairwise(numbers)
    assert graph.peak_bytes == 4 * max(one + two for one, two in pairs)
    assert graph.peak_of(batch) == batch * graph.peak_bytes
    assert graph.total_bytes == 4 * sum(numbers)


def test_a_quantised_program_is_recognised() -> None:
    """By its operators."""
    values = {"x": Value((-1, 1), 4), "y": Value((-1, 1), 1)}
    plain = [Operator("relu", ("x",), ("y",))]
    assert not counted(plain, values, ()).is_quantised
    assert counted([Operator("quantize_linear", ("x",), ("y",))], values, ()).is_quantised


def test_open_sizes_are_said_to_be_unknown() -> None:
    """They count as nothing, and nobody is told otherwise."""
    values = {"x": Value((-1, -1, 4), 4), "y": Value((-1, 2), 4)}
    graph = counted([Operator("relu", ("x",), ("y",))], values, ())
    assert (graph.unknown, graph.peak_bytes) == (1, 8)


@pytest.mark.parametrize("read", [list_json, list_pdmodel])
@given(content=st.binary(max_size=200))
def test_any_bytes_are_a_program_or_a_value_error(
    read: Callable[[bytes], Listing], content: bytes
) -> None:
    """Nothing else comes out of a broken file."""
    with contextlib.suppress(ValueError):
        read(content)


def test_a_program_that_cannot_be_read_is_a_fault_of_the_model(tmp_path: Path) -> None:
    """With its file."""
    path = tmp_path / "model.json"
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(ModelFault, match=r"model\.json"):
        read_graph(Program("json", str(path), str(path)))
