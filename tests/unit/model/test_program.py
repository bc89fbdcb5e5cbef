"""Names and shapes are read from a program file without Paddle."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.model.program import Port, Ports, read_json, read_pdmodel

from .conftest import INPUTS, OUTPUTS, Shapes, field, pdmodel, pir, places


@pytest.mark.parametrize(("read", "written"), [(read_json, pir), (read_pdmodel, pdmodel)])
def test_ports_are_read_in_the_programs_order(
    read: Callable[[bytes], Ports], written: Callable[[Shapes, Shapes], bytes]
) -> None:
    """Feeds stand in the legacy file in reverse; their column puts them right."""
    ports = read(written(INPUTS, OUTPUTS))
    assert ports.inputs == tuple(Port(*each) for each in INPUTS.items())
    assert ports.outputs == tuple(Port(*each) for each in OUTPUTS.items())


PROGRAM = pdmodel(INPUTS, OUTPUTS)


@given(st.integers(0, len(PROGRAM) - 1))
def test_a_legacy_program_cut_anywhere_never_reads_as_another(end: int) -> None:
    """It is refused, or what was left says the same ports."""
    try:
        ports = read_pdmodel(PROGRAM[:end])
    except ValueError:
        return
    assert ports == read_pdmodel(PROGRAM)


@given(st.binary(max_size=200))
def test_other_bytes_are_refused_in_one_way(content: bytes) -> None:
    """ValueError, whatever the bytes; anything else would be a traceback to the user."""
    for read in (read_json, read_pdmodel):
        try:
            ports = read(content)
        except ValueError:
            continue
        assert ports.inputs == ()


@given(st.data())
def test_a_program_with_a_changed_byte_is_read_or_refused(data: st.DataObject) -> None:
    """Both formats: another reading may come out, another error never."""
    for read, whole in ((read_json, pir(INPUTS, OUTPUTS)), (read_pdmodel, PROGRAM)):
        content = bytearray(whole)
        for _ in range(data.draw(st.integers(1, 3))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        try:
            ports = read(bytes(content))
        except ValueError:
            continue
        sides = [side for port in ports.inputs + ports.outputs for side in port.shape]
        assert all(-1 <= side < 2**31 for side in sides)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@given(st.data(), JSON)
def test_a_pir_program_with_a_changed_value_is_read_or_refused(
    data: st.DataObject, value: Any
) -> None:
    """Valid JSON of another structure than ours at any place."""
    tree = json.loads(pir(INPUTS, OUTPUTS))
    container, key = data.draw(st.sampled_from(places(tree)))
    container[key] = value
    try:
        read_json(json.dumps(tree).encode())
    except ValueError:
        return


@pytest.mark.parametrize(
    "content",
    [b"[" * 100_000, b"{}", b"[]", b"3", b"null", b"", b'{"program": null}', b"\xff\xfe"],
)
def test_json_that_is_no_program_is_refused(content: bytes) -> None:
    """Deep enough to stop a parser, or simply something else."""
    with pytest.raises(ValueError, match=r"."):
        read_json(content)


@pytest.mark.parametrize("side", [-2, 2**31, 2**62])
def test_a_size_that_no_tensor_has_is_refused(side: int) -> None:
    """Memory is laid out by these numbers."""
    inputs: Shapes = {"image": (-1, 3, side, 48)}
    for read, written in ((read_json, pir), (read_pdmodel, pdmodel)):
        with pytest.raises(ValueError, match="size"):
            read(written(inputs, OUTPUTS))


@pytest.mark.parametrize("text", ["Infinity", "1.5", "true", '"3"'])
def test_a_size_that_is_no_whole_number_is_refused(text: str) -> None:
    """JSON has more kinds of numbers than a shape."""
    content = pir(INPUTS, OUTPUTS).replace(b"[-1, 3, 32, 48]", f"[-1, 3, {text}, 48]".encode())
    with pytest.raises(ValueError, match="size"):
        read_json(content)


def test_a_packed_shape_is_read_too() -> None:
    """Writers may pack repeated numbers into one field."""
    packed = b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" + b"\x06"
    tensor = field(1, 5) + field(2, packed)
    variable = field(1, "image") + field(2, field(3, field(1, tensor)))
    column = field(4, field(1, "col") + field(3, 0))
    feed = field(2, field(2, "image")) + field(3, "feed") + column
    program = field(1, field(3, variable) + field(4, feed))
    assert read_pdmodel(program).inputs == (Port("image", (-1, 6)),)
