"""kill -9 of any one process, at any moment: the record has what the PLC was told, exactly."""

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.process.killed_line import KilledLine, audited, gaps, pictures_in

pytestmark = [pytest.mark.long, pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(900)]

_KILLS_A_START = 4
"""The supervisor gives up a process that dies six times within a minute."""
_SUPERVISOR_GONE_S = 1.0


def _kill_often(line: KilledLine, role: str, kills: int, seed: int) -> None:
    luck = random.Random(seed)  # noqa: S311 - no secret
    for begin in range(0, kills, _KILLS_A_START):
        line.start()
        for _ in range(min(_KILLS_A_START, kills - begin)):
            line.kill(role, luck)
        line.stop()


@pytest.mark.parametrize(("role", "kills"), [("sink", 12), ("record", 8)])
def test_the_record_has_what_the_plc_took_whoever_is_killed(
    tmp_path: Path, role: str, kills: int
) -> None:
    """Once, the same verdict, the same order; and a row for every trigger, told or not."""
    with audited(tmp_path) as (line, audit):
        _kill_often(line, role, kills, seed=kills)
        found = audit()
    assert found.differences() == []
    assert found.unrecorded() == []
    assert found.report["missing"] == []
    assert len(found.taken) > 20 * kills


def test_the_record_has_what_the_plc_took_when_the_supervisor_is_killed(tmp_path: Path) -> None:
    """The house is gone within a second, and what was told had been committed before."""
    luck = random.Random(5)  # noqa: S311 - no secret
    lived_s = []
    with audited(tmp_path) as (line, audit):
        for _ in range(4):
            line.start()
            lived_s.append(line.kill_supervisor(luck))
        line.start()
        line.stop()
        found = audit()
    assert found.differences() == []
    assert found.gaps() == []
    assert max(lived_s) < _SUPERVISOR_GONE_S


def test_a_record_that_cannot_write_is_gone_all_the_same(tmp_path: Path) -> None:
    """The alarm ends it: a disk that hangs must not keep a killed house alive."""
    with audited(tmp_path) as (line, _audit):
        line.start()
        database = tmp_path / "record" / "events.sqlite"
        with closing(sqlite3.connect(database, timeout=10)) as other:
            other.execute("BEGIN IMMEDIATE")
            lived_s = line.kill_supervisor(random.Random(3))  # noqa: S311 - no secret
    assert lived_s < _SUPERVISOR_GONE_S


def test_a_service_manager_saves_what_was_told_when_everything_is_killed(tmp_path: Path) -> None:
    """The record too, in the same moment: the next start takes up the journals that were kept."""
    luck = random.Random(7)  # noqa: S311 - no secret
    with audited(tmp_path) as (line, audit), line.managed():
        for _ in range(4):
            line.start()
            line.kill_all(luck)
        line.start()
        line.stop()
        found = audit()
    assert found.differences() == []
    assert found.gaps() == []
    assert line.kept == {}


def test_parts_of_a_line_without_a_plc_are_all_recorded(tmp_path: Path) -> None:
    """Timer triggers: whatever the sink held when it was killed is in the record afterwards."""
    pictures_in(tmp_path)
    line = KilledLine(tmp_path, 0)
    try:
        _kill_often(line, "sink", 4, seed=1)
    finally:
        if line.process is not None:
            line.process.kill()
            line.process.wait()
    assert gaps(line.events()) == []
