"""The board on which processes say how they are."""

import os
from collections.abc import Iterator

import pytest

from inspectd.errors import ArenaFault
from inspectd.frame import Role
from inspectd.host.board import Board
from inspectd.host.journey import LINE_WIDE, STATION_WIDE, Member
from inspectd.host.patience import PATIENCE, SILENCE_NS
from inspectd.ports import Counter, Status

_SECOND = 1_000_000_000
_NOW = 100 * _SECOND


def _crew(stations: int) -> tuple[Member, ...]:
    everywhere = ((role, i) for role in STATION_WIDE for i in range(stations))
    return (*((role, -1) for role in LINE_WIDE), *everywhere)


@pytest.fixture
def board() -> Iterator[Board]:
    """A line of two stations."""
    made = Board.create(_crew(2))
    yield made
    made.close()


def _ready(board: Board, station: int) -> None:
    for role in (Role.CAMERA, Role.GATE, Role.JUDGE, Role.INFER):
        row = board.row(role, -1 if role is Role.INFER else station)
        row.say(Status.READY)
        row.beat(_NOW)


def test_a_new_board_says_that_nobody_is_there(board: Board) -> None:
    """Absent is the value of untouched memory."""
    assert {state.status for state in board.states()} == {Status.ABSENT}


def test_what_one_process_writes_another_reads(board: Board) -> None:
    """The page is shared by descriptor."""
    other = Board.attach(os.dup(board.fd), _crew(2))
    row = board.row(Role.SINK, 1)
    row.alive(4711)
    row.count(Counter.LATE, 3)
    row.say(Status.TROUBLED, "der Prüfer antwortet nicht")
    state = next(s for s in other.states() if (s.role, s.station) == (Role.SINK, 1))
    other.close()
    assert (state.pid, state.status) == (4711, Status.TROUBLED)
    assert state.counters[Counter.LATE] == 3
    assert state.trouble == "der Prüfer antwortet nicht"


def test_a_long_trouble_stays_in_its_row(board: Board) -> None:
    """The next row is somebody else's."""
    board.row(Role.INFER, -1).say(Status.TROUBLED, "x" * 5000)
    assert board.row(Role.RECORD, -1).state().status is Status.ABSENT
    assert 0 < len(board.row(Role.INFER, -1).state().trouble) < 5000


def test_attach_refuses_a_board_of_another_line(board: Board) -> None:
    """Rows would be somebody else's."""
    with pytest.raises(ArenaFault, match="board"):
        Board.attach(board.fd, _crew(3))


def test_ready_means_that_it_says_so_and_moves(board: Board) -> None:
    """READY of a process that stands still is no READY."""
    row = board.row(Role.GATE, 0)
    row.beat(_NOW)
    assert not board.is_ready(Role.GATE, 0, _NOW)
    row.say(Status.READY)
    assert board.is_ready(Role.GATE, 0, _NOW + SILENCE_NS - 1)
    assert not board.is_ready(Role.GATE, 0, _NOW + SILENCE_NS)


def test_a_busy_engine_has_more_time_than_an_idle_one(board: Board) -> None:
    """A long run is work; not even beginning one is none."""
    row = board.row(Role.INFER, -1)
    row.say(Status.READY)
    row.beat(_NOW)
    row.busy(_NOW)
    limit_ns = int(PATIENCE[Role.INFER].busy_s * _SECOND)
    assert board.is_ready(Role.INFER, -1, _NOW + limit_ns - 1)
    assert not board.is_ready(Role.INFER, -1, _NOW + limit_ns)


def test_a_process_that_the_line_does_not_have_is_not_ready(board: Board) -> None:
    """A question about it is answered, not a crash."""
    assert not board.is_ready(Role.GATE, 7, _NOW)


@pytest.mark.parametrize("missing", [Role.CAMERA, Role.GATE, Role.INFER, Role.JUDGE])
def test_a_station_needs_all_of_its_stages(board: Board, missing: Role) -> None:
    """The heartbeat falls when any of them does not move."""
    _ready(board, 0)
    assert board.is_line_healthy(0, _NOW)
    board.row(missing, -1 if missing is Role.INFER else 0).gone()
    assert not board.is_line_healthy(0, _NOW)


def test_a_station_with_an_ejector_of_its_own_needs_it() -> None:
    """No part may be triggered that could not be rejected; other stations do not care."""
    board = Board.create((*_crew(2), (Role.REJECT, 0)))
    _ready(board, 0)
    _ready(board, 1)
    assert (board.is_line_healthy(0, _NOW), board.is_line_healthy(1, _NOW)) == (False, True)
    board.row(Role.REJECT, 0).say(Status.READY)
    board.row(Role.REJECT, 0).beat(_NOW)
    assert board.is_line_healthy(0, _NOW)
    board.row(Role.REJECT, 0).say(Status.TROUBLED, "the bin is full")
    assert not board.is_line_healthy(0, _NOW)
    board.close()


def test_a_dead_record_does_not_stop_verdicts(board: Board) -> None:
    """Nor does another station's trouble."""
    _ready(board, 0)
    board.row(Role.RECORD, -1).gone()
    board.row(Role.GATE, 1).gone()
    assert board.is_line_healthy(0, _NOW)


def test_the_line_begins_once(board: Board) -> None:
    """A restarted camera must count on from the first start."""
    assert board.epoch_ns == 0
    board.begin(_NOW)
    board.begin(_NOW + 1)
    assert board.epoch_ns == _NOW


def test_counters_go_on_over_a_restart(board: Board) -> None:
    """They count the run, not the life of a process."""
    row = board.row(Role.GATE, 0)
    row.count(Counter.FRAMES, 5)
    row.born(1, _NOW)
    row.count(Counter.FRAMES)
    assert row.state().counters[Counter.FRAMES] == 6
    assert row.state().restarts == 1
