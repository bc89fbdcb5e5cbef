"""What every arena promises: run over the memfd arena, alone and shared between two mappings."""

import os
from collections.abc import Iterator

import pytest

from inspectd.bus.arena import Geometry, MemfdArena
from inspectd.frame import NO_SLOT, Role
from inspectd.ports import Arena

_GEOMETRY = Geometry(slots=3, frame_shape=(16, 16), tensor_shape=(1, 16, 16), raw_bytes=64)


@pytest.fixture(params=["one mapping", "two mappings"])
def pair(request: pytest.FixtureRequest) -> Iterator[tuple[Arena, Arena]]:
    """The camera's arena and the gate's."""
    arena = MemfdArena.create(_GEOMETRY, "contract")
    if request.param == "one mapping":
        yield arena, arena
    else:
        other = MemfdArena.attach(os.dup(arena.fd), _GEOMETRY, Role.GATE)
        yield arena, other
        other.close()
    arena.close()


class TestArena:
    """Ownership."""

    def test_all_slots_can_be_loaned_and_no_more(self, pair: tuple[Arena, Arena]) -> None:
        """None is the answer when all are in use: a value, no error."""
        camera, _ = pair
        loans = [camera.loan(i) for i in range(4)]
        assert loans[3] is None
        assert len({loan[0] for loan in loans if loan}) == 3

    def test_the_owner_holds_and_nobody_else(self, pair: tuple[Arena, Arena]) -> None:
        """A hand-over is seen by the other process at once."""
        camera, gate = pair
        slot, generation = camera.loan(9) or (NO_SLOT, 0)
        assert camera.holds(slot, generation, Role.CAMERA)
        assert camera.hand_over(slot, generation, Role.CAMERA, Role.GATE)
        assert gate.holds(slot, generation, Role.GATE)
        assert not camera.holds(slot, generation, Role.CAMERA)

    def test_a_slot_is_released_once(self, pair: tuple[Arena, Arena]) -> None:
        """The second release answers False and frees nothing."""
        camera, _ = pair
        slot, generation = camera.loan(9) or (NO_SLOT, 0)
        assert camera.release(slot, generation, Role.CAMERA)
        assert not camera.release(slot, generation, Role.CAMERA)

    def test_a_stale_ticket_matches_nothing(self, pair: tuple[Arena, Arena]) -> None:
        """After release and a new loan the old generation holds, hands over and frees nothing."""
        camera, gate = pair
        slot, generation = camera.loan(1) or (NO_SLOT, 0)
        camera.release(slot, generation, Role.CAMERA)
        camera.loan(2)
        assert not gate.holds(slot, generation, Role.CAMERA)
        assert not camera.hand_over(slot, generation, Role.CAMERA, Role.GATE)
        assert not camera.release(slot, generation, Role.CAMERA)

    def test_a_ticket_without_a_slot_matches_nothing(self, pair: tuple[Arena, Arena]) -> None:
        """NO_SLOT is answered False everywhere; it must not mean the last slot."""
        camera, _ = pair
        assert not camera.holds(NO_SLOT, 0, Role.CAMERA)
        assert not camera.hand_over(NO_SLOT, 0, Role.CAMERA, Role.GATE)
        assert not camera.release(NO_SLOT, 0, Role.CAMERA)

    def test_the_slots_of_the_dead_are_free_and_named(self) -> None:
        """Reclaim answers which parts are lost; the others' slots stay."""
        arena = MemfdArena.create(_GEOMETRY, "contract")
        kept = arena.loan(1) or (NO_SLOT, 0)
        lost = arena.loan(2) or (NO_SLOT, 0)
        arena.hand_over(*lost, Role.CAMERA, Role.GATE)
        assert arena.reclaim(Role.GATE) == [(*lost, 2)]
        assert arena.holds(*kept, Role.CAMERA)
        assert not arena.holds(*lost, Role.GATE)
        arena.close()
