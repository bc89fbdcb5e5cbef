"""Which pictures go: old ones by the calendar, others by need, unknown ones never."""

from contextlib import closing
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspectd.config.schema import Record
from inspectd.record.archive import Archive
from inspectd.record.database import Database
from inspectd.record.event import event_of
from inspectd.record.retention import Kept, Retention, plan

MIB = 2**20
FIVE = [Kept(f"archive/d/h/{i}.jpg", f"2026-12-0{i}", MIB) for i in range(1, 6)]


def chosen(oldest: str, free_mb: float, min_free_mb: float) -> list[str]:
    """Days of the pictures that must go."""
    return [one.recorded_utc[-1] for one in plan(FIVE, oldest, free_mb, min_free_mb)]


def test_pictures_before_the_limit_go() -> None:
    """The one at the limit stays."""
    assert chosen("2026-12-03", 100, 10) == ["1", "2"]


def test_as_many_of_the_oldest_go_as_the_free_space_needs() -> None:
    """Two and a half MiB are three pictures."""
    assert chosen("2026-12-01", 7.5, 10) == ["1", "2", "3"]


def test_old_ones_count_for_the_free_space() -> None:
    """What is deleted for its age need not be deleted again for the room."""
    assert chosen("2026-12-03", 8, 10) == ["1", "2"]


@given(
    st.lists(st.integers(0, 5 * MIB), max_size=20),
    st.integers(0, 20),
    st.floats(0, 50),
    st.floats(0, 50),
)
def test_the_plan_takes_a_run_of_the_oldest_and_no_more_than_needed(
    sizes: list[int], age: int, free_mb: float, wanted_mb: float
) -> None:
    """For any sizes: the last one taken was too old, or still in the way."""
    pictures = [Kept(str(i), f"{i:03}", size) for i, size in enumerate(sizes)]
    taken = plan(pictures, f"{age:03}", free_mb, wanted_mb)
    assert taken == pictures[: len(taken)]
    if taken:
        freed_before = sum(one.size_bytes for one in taken[:-1])
        is_short = (wanted_mb - free_mb) * MIB - freed_before > 0
        assert taken[-1].recorded_utc < f"{age:03}" or is_short


def _filled(desk: Any, database: Database, count: int) -> list[str]:
    """Write `count` parts with pictures, a day apart."""
    archive = Archive(desk.folder)
    paths = []
    for i in range(count):
        ticket = desk.ticket(i)
        path = archive.free_path(ticket, "cam-1", desk.utc(), ())
        archive.write(path, np.zeros(1000, np.uint8), b"{}")
        database.write([event_of(ticket, desk.line(), "run-1", desk.utc(), path)])
        paths.append(path)
        desk.utc.move(days=1)
    return paths


def _limits(desk: Any, **keys: Any) -> Record:
    record: Record = desk.line(**keys).record
    return record


def test_only_what_the_index_names_is_deleted(desk: Any) -> None:
    """A peer's empty database made it delete every recording as unknown."""
    archive = Archive(desk.folder)
    archive.write("archive/2020-01-01/00/old.jpg", np.zeros(10, np.uint8), b"{}")
    with closing(Database(desk.folder, desk.utc, desk.log)) as database:
        retention = Retention(_limits(desk, min_free_mb=10**9), archive)
        assert retention.bite(database, desk.utc()) == ([], False)
    assert archive.size_bytes("archive/2020-01-01/00/old.jpg") > 0


def test_a_bite_deletes_the_old_pictures_with_their_folders(desk: Any) -> None:
    """Four days were kept, two are asked for."""
    archive = Archive(desk.folder)
    with closing(Database(desk.folder, desk.utc, desk.log)) as database:
        paths = _filled(desk, database, 4)
        retention = Retention(_limits(desk, keep_days=2.5), archive)
        gone, has_more = retention.bite(database, desk.utc())
        assert (gone, has_more) == (paths[:2], True)
        database.write([], gone)
        assert retention.bite(database, desk.utc()) == ([], False)
    days = sorted(path.name for path in (desk.folder / "archive").iterdir())
    assert days == ["2026-12-03", "2026-12-04"]


def test_room_is_made_although_the_index_cannot_be_told(desk: Any) -> None:
    """On a full disk the paths are still in the database: others are deleted, not those again."""
    archive = Archive(desk.folder)
    with closing(Database(desk.folder, desk.utc, desk.log)) as database:
        paths = _filled(desk, database, 40)
        retention = Retention(_limits(desk, min_free_mb=10**9), archive)
        first, _ = retention.bite(database, desk.utc())
        second, _ = retention.bite(database, desk.utc(), frozenset(first))
        assert first + second == paths
