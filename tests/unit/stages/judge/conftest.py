"""Frame memory for a station with frames of 200 x 100 px, and a tally of what a step counts."""

from collections import Counter as Tally
from collections.abc import Iterator

import pytest

from inspectd.bus.arena import Geometry, MemfdArena
from inspectd.ports import Counter


@pytest.fixture
def arena() -> Iterator[MemfdArena]:
    """Four slots."""
    made = MemfdArena.create(Geometry(4, (100, 200, 3), (1, 1, 1), 64), "judge-test")
    yield made
    made.close()


@pytest.fixture
def counted() -> Tally[Counter]:
    """What a step has counted: hand its `count` to the step."""
    return Tally()
