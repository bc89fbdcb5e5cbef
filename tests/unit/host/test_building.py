"""A process that builds an engine is neither ready nor given up."""

from collections.abc import Iterator

import pytest

from inspectd.frame import Role
from inspectd.host.board import Board, Row
from inspectd.host.children import is_overdue
from inspectd.host.journey import LINE_WIDE, STATION_WIDE
from inspectd.host.patience import PATIENCE
from inspectd.ports import Status

_SECOND = 1_000_000_000
_NOW = 10_000 * _SECOND


@pytest.fixture
def board() -> Iterator[Board]:
    """A line of one station, everybody ready."""
    made = Board.create(
        [*((role, -1) for role in LINE_WIDE), *((role, 0) for role in STATION_WIDE)]
    )
    for role, station in made.members:
        made.row(role, station).born(0, _NOW)
        made.row(role, station).say(Status.READY)
    yield made
    made.close()


@pytest.fixture
def infer(board: Board) -> Row:
    """The inference process, at its start."""
    row = board.row(Role.INFER, -1)
    row.born(0, _NOW)
    return row


def test_building_is_seen_with_what_is_built(infer: Row) -> None:
    """On the board, and so in the view of the terminal; afterwards it is starting as before."""
    infer.building("shapes inside the program", _NOW)
    assert infer.state().status is Status.BUILDING
    assert infer.state().trouble == "shapes inside the program"
    infer.building("", _NOW)
    assert infer.state().status is Status.STARTING
    assert infer.state().trouble == ""


def test_a_line_that_builds_is_not_healthy(board: Board, infer: Row) -> None:
    """The heartbeat to the PLC stands still: no Ready."""
    infer.building("an engine", _NOW)
    assert not board.is_ready(Role.INFER, -1, _NOW)
    assert not board.is_line_healthy(0, _NOW)
    infer.say(Status.READY)
    assert board.is_line_healthy(0, _NOW)


def test_a_builder_has_longer_than_any_start(infer: Row) -> None:
    """TensorRT takes ten minutes; a start that loads takes five at most."""
    patience = PATIENCE[Role.INFER]
    assert patience.build_s > 5 * patience.start_s
    later = _NOW + int((patience.start_s + 1) * _SECOND)
    assert is_overdue(infer, later)
    infer.building("an engine", _NOW)
    assert not is_overdue(infer, later)
    assert is_overdue(infer, _NOW + int((patience.build_s + 1) * _SECOND))


def test_each_step_of_a_build_has_its_own_time(infer: Row) -> None:
    """Shapes, calibration, kernels: each says itself."""
    step_ns = int((PATIENCE[Role.INFER].build_s - 1) * _SECOND)
    infer.building("shapes", _NOW)
    infer.building("kernels", _NOW + step_ns)
    assert not is_overdue(infer, _NOW + 2 * step_ns)
