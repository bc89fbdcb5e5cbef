"""Small pictures out of frame memory, and never half of two parts."""

from collections.abc import Iterator

import cv2
import numpy as np
import pytest

from inspectd.bus.arena import Geometry, MemfdArena
from inspectd.frame import Role
from inspectd.ports import Pixels
from inspectd.web.thumbnails import KEPT, LOOK_NS, SIDE_PX, Thumbnails


@pytest.fixture
def arena() -> Iterator[MemfdArena]:
    """Three slots of 1000 x 800."""
    made = MemfdArena.create(Geometry(3, (800, 1000), (1, 4, 4), 64), "trial")
    yield made
    made.close()


def photographed(arena: MemfdArena, trigger_id: int, value: int, at_ns: int) -> tuple[int, int]:
    """A part whose picture is whole and at the gate."""
    loaned = arena.loan(trigger_id)
    assert loaned is not None
    slot, generation = loaned
    frame = arena.frame(slot)
    frame.flags.writeable = True
    frame[:] = value
    arena.note_captured(slot, at_ns)
    assert arena.hand_over(slot, generation, Role.CAMERA, Role.GATE)
    return slot, generation


def test_the_newest_picture_is_copied_small(arena: MemfdArena) -> None:
    """It fits the longest side, and shows what the frame showed."""
    photographed(arena, 1, 50, 100)
    photographed(arena, 2, 200, 200)
    thumbnails = Thumbnails({0: arena})
    thumbnails.look(LOOK_NS)
    assert thumbnails.of(0, 1, 0) is None
    jpeg = thumbnails.of(0, 2, 150)
    assert jpeg is not None
    picture = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_GRAYSCALE)
    assert picture is not None
    assert max(picture.shape) <= SIDE_PX
    assert abs(float(picture.mean()) - 200) < 2


def test_a_freed_slot_still_shows_its_part(arena: MemfdArena) -> None:
    """Until the camera takes it again; then the copy is of nobody."""
    slot, generation = photographed(arena, 1, 50, 100)
    assert arena.release(slot, generation, Role.GATE)
    thumbnails = Thumbnails({0: arena})
    thumbnails.look(LOOK_NS)
    assert thumbnails.of(0, 1, 0) is not None


def test_a_slot_given_away_during_the_copy_is_not_shown(arena: MemfdArena) -> None:
    """The camera takes the slot while it is read: the copy is thrown away."""
    slot, generation = photographed(arena, 1, 50, 100)
    assert arena.release(slot, generation, Role.GATE)

    class Torn:
        """Frame memory whose slot is loaned while its picture is fetched."""

        owned = arena.owned
        captured_ns = arena.captured_ns

        def frame(self, number: int) -> Pixels:
            assert arena.loan(2) is not None
            return arena.frame(number)

    thumbnails = Thumbnails({0: Torn()})
    thumbnails.look(LOOK_NS)
    assert thumbnails.of(0, 1, 0) is None


def test_copies_are_few_and_forgotten(arena: MemfdArena) -> None:
    """Not more than two a second, and the last ones only; ids that come again are not confused."""
    thumbnails = Thumbnails({0: arena})
    for number in range(1, KEPT + 3):
        slot, generation = photographed(arena, number, 9, number * LOOK_NS)
        assert arena.release(slot, generation, Role.GATE)
        thumbnails.look(number * LOOK_NS)
    assert thumbnails.of(0, 1, 0) is None
    assert thumbnails.of(0, KEPT + 2, 0) is not None
    assert thumbnails.of(0, KEPT + 2, (KEPT + 3) * LOOK_NS) is None
    photographed(arena, 99, 9, 10**18)
    thumbnails.look((KEPT + 2) * LOOK_NS + 1)
    assert thumbnails.of(0, 99, 0) is None
