"""Frame memory on the heap, with the manners of the real one, and a context around it."""

from collections import Counter as Tally
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from inspectd.frame import Role
from inspectd.ports import Counter, Pixels, Tensor


class HeapArena:
    """A few slots as plain arrays; ownership and generations as `inspectd.ports.Arena` says."""

    def __init__(self, slots: int = 4, shape: tuple[int, ...] = (100, 200, 3)) -> None:
        self.owners = [Role.NOBODY] * slots
        self.generations = [0] * slots
        self.pictures = [np.zeros(shape, np.uint8) for _ in range(slots)]
        self.raws: list[dict[str, npt.NDArray[Any]]] = [{} for _ in range(slots)]

    def loan(self, trigger_id: int) -> tuple[int, int] | None:
        """Take the first free slot."""
        if Role.NOBODY not in self.owners:
            return None
        slot = self.owners.index(Role.NOBODY)
        self.owners[slot] = Role.CAMERA
        self.generations[slot] += 1
        return slot, self.generations[slot]

    def holds(self, slot: int, generation: int, role: Role) -> bool:
        """Whether it is this one's, of this use."""
        return self.owners[slot] is role and self.generations[slot] == generation

    def hand_over(self, slot: int, generation: int, owner: Role, to: Role) -> bool:
        """Change the owner, if it is the owner who says so."""
        if not self.holds(slot, generation, owner):
            return False
        self.owners[slot] = to
        return True

    def release(self, slot: int, generation: int, owner: Role) -> bool:
        """Nobody's again."""
        return self.hand_over(slot, generation, owner, Role.NOBODY)

    def frame(self, slot: int) -> Pixels:
        """The picture itself."""
        return self.pictures[slot]

    def tensor(self, slot: int) -> Tensor:
        """Nobody here needs one."""
        raise NotImplementedError(slot)

    def write_raw(self, slot: int, outputs: Mapping[str, npt.NDArray[Any]]) -> None:
        """Keep them."""
        self.raws[slot] = dict(outputs)

    def read_raw(self, slot: int) -> dict[str, npt.NDArray[Any]]:
        """What was kept."""
        return self.raws[slot]


@pytest.fixture
def arena() -> HeapArena:
    """Four slots for frames of 200 x 100 px."""
    return HeapArena()


@pytest.fixture
def counted() -> Tally[Counter]:
    """What a step has counted: hand its `count` to the step."""
    return Tally()
