"""Names and shapes are read from a program file without Paddle."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.model.program import Port, Ports, read_json, read_pdmodel

from .conftest import INPUTS, OUTPUTS, Shapes, field, pdmodel, pir


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


def test_a_packed_shape_is_read_too() -> None:
    """Writers may pack repeated numbers into one field."""
    packed = b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" + b"\x06"
    tensor = field(1, 5) + field(2, packed)
    variable = field(1, "image") + field(2, field(3, field(1, tensor)))
    column = field(4, field(1, "col") + field(3, 0))
    feed = field(2, field(2, "image")) + field(3, "feed") + column
    program = field(1, field(3, variable) + field(4, feed))
    assert read_pdmodel(program).inputs == (Port("image", (-1, 6)),)
