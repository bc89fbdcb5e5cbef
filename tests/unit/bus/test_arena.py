"""Frame memory: layout, refusals, and what becomes of views."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspectd.bus.arena import Geometry, MemfdArena
from inspectd.errors import ArenaFault
from inspectd.frame import Role

_GEOMETRY = Geometry(slots=3, frame_shape=(48, 64, 3), tensor_shape=(3, 32, 32), raw_bytes=1000)


@given(st.integers(2, 256), st.integers(16, 5000), st.integers(16, 5000), st.integers(0, 10**8))
def test_regions_of_any_geometry_are_aligned_and_fit(
    slots: int, height: int, width: int, raw_bytes: int
) -> None:
    """All rooms are whole cache lines, the arena whole pages that hold all of them."""
    geometry = Geometry(slots, (height, width), (3, height, width), raw_bytes)
    rooms = (geometry.frame_bytes, geometry.tensor_bytes, geometry.raw_room_bytes)
    assert all(room % 64 == 0 for room in rooms)
    assert geometry.total_bytes % 4096 == 0
    assert geometry.total_bytes >= slots * sum(rooms)


def test_attach_refuses_another_geometry() -> None:
    """A process that believes in other shapes would read other parts' pixels."""
    arena = MemfdArena.create(_GEOMETRY, "test")
    other = Geometry(3, (48, 64), (3, 32, 32), 1000)
    with pytest.raises(ArenaFault, match="48x64x3"):
        MemfdArena.attach(arena.fd, other, Role.GATE)
    arena.close()


def test_attach_refuses_memory_that_is_no_arena() -> None:
    """Any other descriptor is recognised before it is used."""
    fd = os.memfd_create("other")
    with pytest.raises(ArenaFault, match="no arena"):
        MemfdArena.attach(fd, _GEOMETRY, Role.GATE)
    os.close(fd)


def test_the_memory_cannot_be_cut() -> None:
    """Nobody can shrink it under a reader, which would be SIGBUS."""
    arena = MemfdArena.create(_GEOMETRY, "test")
    with pytest.raises(PermissionError):
        os.ftruncate(arena.fd, 0)
    arena.close()


def test_too_little_memory_is_said_at_the_start() -> None:
    """The pages are asked for when the arena is made: one sentence with the remedy, no crash later.

    A limit of the file size stands in for a full machine.
    """
    code = (
        "import resource\n"
        "from inspectd.bus.arena import Geometry, MemfdArena\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "MemfdArena.create(Geometry(4, (480, 640, 3), (3, 320, 320), 1000), 'pcb')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "for pcb cannot be had" in done.stderr
    assert "lower `slots`" in done.stderr


def test_close_refuses_while_a_picture_is_in_use() -> None:
    """A view pins the memory: an error now instead of a segmentation fault later."""
    arena = MemfdArena.create(_GEOMETRY, "test")
    frame = arena.frame(0)
    with pytest.raises(BufferError):
        arena.close()
    assert frame[0, 0, 0] == 0


def test_only_the_camera_may_write_pictures() -> None:
    """A stage that changes a picture would change what is archived."""
    arena = MemfdArena.create(_GEOMETRY, "test")
    camera = MemfdArena.attach(os.dup(arena.fd), _GEOMETRY, Role.CAMERA)
    gate = MemfdArena.attach(os.dup(arena.fd), _GEOMETRY, Role.GATE)
    camera.frame(1)[...] = 7
    assert gate.frame(1)[47, 63, 2] == 7
    with pytest.raises(ValueError, match="read-only"):
        gate.frame(1)[0, 0, 0] = 1


def test_slots_do_not_touch_each_other() -> None:
    """Each picture, tensor and raw output lies in its own place."""
    arena = MemfdArena.create(_GEOMETRY, "test")
    camera = MemfdArena.attach(os.dup(arena.fd), _GEOMETRY, Role.CAMERA)
    for slot in range(3):
        camera.frame(slot)[...] = slot + 1
        camera.tensor(slot)[...] = slot + 10
        camera.write_raw(slot, {"boxes": np.full((2, 6), slot + 100, np.float32)})
    for slot in range(3):
        assert np.all(arena.frame(slot) == slot + 1)
        assert np.all(arena.tensor(slot) == slot + 10)
        assert np.all(arena.read_raw(slot)["boxes"] == slot + 100)


_arrays = st.lists(
    st.tuples(
        st.sampled_from(["float32", "int32", "int64", "uint8", "float16"]),
        st.lists(st.integers(0, 4), max_size=3),
    ),
    max_size=5,
)


@given(_arrays)
@settings(max_examples=50)
def test_raw_outputs_come_back_with_names_types_and_shapes(
    arrays: list[tuple[str, list[int]]],
) -> None:
    """Empty ones too: a picture without a detection is the usual case."""
    arena = MemfdArena.create(Geometry(2, (16, 16), (1, 16, 16), 4096), "test")
    outputs = {
        f"out {i}": np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
        for i, (dtype, shape) in enumerate(arrays)
    }
    arena.write_raw(1, outputs)
    found = arena.read_raw(1)
    assert list(found) == list(outputs)
    for name, values in outputs.items():
        assert found[name].dtype == values.dtype
        assert np.array_equal(found[name], values)
        assert values.size == 0 or not found[name].flags.writeable
    del found
    arena.close()


def test_outputs_that_do_not_fit_are_refused_with_their_sizes() -> None:
    """Never into the next slot: the message names what came and what fits."""
    arena = MemfdArena.create(_GEOMETRY, "test")
    with pytest.raises(ArenaFault, match=r"12000 bytes .*boxes float32 \(500, 6\).* 1000 fit"):
        arena.write_raw(0, {"boxes": np.zeros((500, 6), np.float32)})
    arena.close()


def test_a_new_loan_forgets_the_raw_outputs_before_it() -> None:
    """What the last part's picture gave must never be read for this one."""
    arena = MemfdArena.create(_GEOMETRY, "test")
    slot, generation = arena.loan(1) or (-1, 0)
    arena.write_raw(slot, {"num": np.ones(1, np.int32)})
    arena.release(slot, generation, Role.CAMERA)
    arena.loan(2)
    assert arena.read_raw(slot) == {}
    arena.close()
