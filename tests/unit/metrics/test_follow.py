"""The record is followed: each event once, whatever happens to the file."""

from contextlib import closing
from pathlib import Path

from inspectd.metrics import follow
from inspectd.metrics.follow import Follower
from inspectd.metrics.machine import Walk, disk_of, usage_of
from inspectd.metrics.reviewed import ReviewFollower
from inspectd.metrics.tally import Tally
from inspectd.record.database import FILE_NAME
from inspectd.record.history import History
from inspectd.review.judgement import Judgement
from inspectd.review.store import Reviews
from tests.receivers.records import event, opened, recorded
from tests.unit.record.conftest import Desk


def tally_of(folder: Path) -> Tally:
    """Of a line whose one station is the record's."""
    desk = Desk(folder)
    desk.arena.close()
    return Tally(desk.line().stations)


def counted(tally: Tally) -> int:
    """Parts that were counted."""
    return sum(sum(one.parts.values()) for one in tally.stations.values())


def test_each_event_is_counted_once(tmp_path: Path) -> None:
    """A look finds what is new, of this run only."""
    tally = tally_of(tmp_path)
    with closing(Follower(tmp_path, "run-1", tally, skips_past=False)) as follower:
        follower.look()
        assert (follower.is_readable, follower.trouble) == (False, "")
        recorded(tmp_path, range(5))
        recorded(tmp_path, range(3), "run-2")
        follower.look()
        follower.look()
        assert (counted(tally), follower.is_readable, follower.behind) == (5, True, 0)
        with closing(opened(tmp_path)) as writer:
            writer.write([event(9)])
            follower.look()
        assert counted(tally) == 6


def test_a_restarted_exporter_begins_with_the_next_event(tmp_path: Path) -> None:
    """What is there was counted before: again it would look like a burst."""
    recorded(tmp_path, range(5))
    tally = tally_of(tmp_path)
    with closing(Follower(tmp_path, "run-1", tally, skips_past=True)) as follower:
        follower.look()
        assert counted(tally) == 0
        recorded(tmp_path, [7])
        follower.look()
        assert counted(tally) == 1


def test_a_database_that_is_begun_anew_is_followed(tmp_path: Path) -> None:
    """Its numbers begin again, and a restarted exporter counts all of it."""
    recorded(tmp_path, range(5))
    tally = tally_of(tmp_path)
    with closing(Follower(tmp_path, "run-1", tally, skips_past=False)) as follower:
        follower.look()
        for one in tmp_path.glob(f"{FILE_NAME}*"):
            one.rename(one.with_name(one.name.replace("events", "aside")))
        follower.look()
        assert not follower.is_readable
        assert "events.sqlite" in follower.trouble
        recorded(tmp_path, [11, 12])
        follower.look()
        assert (counted(tally), follower.trouble) == (7, "")


def test_a_look_is_bounded_and_says_what_is_left(tmp_path: Path) -> None:
    """A long record is read in bites."""
    recorded(tmp_path, range(follow.EVENTS_PER_LOOK + 5))
    tally = tally_of(tmp_path)
    with closing(Follower(tmp_path, "run-1", tally, skips_past=False)) as follower:
        follower.look()
        assert (counted(tally), follower.behind) == (follow.EVENTS_PER_LOOK, 5)
        follower.look()
        assert (counted(tally), follower.behind) == (follow.EVENTS_PER_LOOK + 5, 0)


def test_a_file_that_is_no_record_is_trouble_and_no_crash(tmp_path: Path) -> None:
    """Nothing of it is counted."""
    recorded(tmp_path, range(2))
    tally = tally_of(tmp_path)
    with closing(Follower(tmp_path, "run-1", tally, skips_past=False)) as follower:
        follower.look()
        for one in tmp_path.glob(f"{FILE_NAME}*"):
            one.unlink()
        (tmp_path / FILE_NAME).write_bytes(b"no database, but long enough to be looked at" * 99)
        follower.look()
        assert not follower.is_readable
        assert follower.trouble


def test_what_people_say_is_counted_from_now_on(tmp_path: Path) -> None:
    """Sayings of earlier runs are not; a second opinion is a second saying."""
    recorded(tmp_path, range(3))
    reviews = Reviews(tmp_path)
    tally = tally_of(tmp_path)

    def say(judgement: Judgement) -> None:
        with closing(History(tmp_path / FILE_NAME)) as history:
            found = history.event(1)
            assert found is not None
            reviews.add(found, history.database_id, judgement, reviewer="ann")

    say(Judgement.CONFIRMED)
    follower = ReviewFollower(tmp_path, tally)
    follower.look()
    say(Judgement.FALSE_CALL)
    say(Judgement.CONFIRMED)
    for _ in range(2):
        follower.look()
    counts = tally.stations["cam-1"].reviews
    assert dict(counts) == {"confirmed": 1, "false_call": 1, "escape": 0}
    assert follower.trouble == ""


def test_reviews_that_cannot_be_read_are_trouble(tmp_path: Path) -> None:
    """A line that nobody reviews is none."""
    follower = ReviewFollower(tmp_path / "none", tally_of(tmp_path))
    follower.look()
    assert follower.trouble == ""
    (tmp_path / "reviews.sqlite").write_bytes(b"no database, but long enough to be one" * 99)
    follower = ReviewFollower(tmp_path, tally_of(tmp_path))
    follower.look()
    assert "cannot keep reviews" in follower.trouble


def test_the_archive_is_added_up_in_bites(tmp_path: Path) -> None:
    """Files of all folders; the sum comes when all were seen, and again from the start."""
    for hour in ("13", "14"):
        folder = tmp_path / "archive" / "2026-12-01" / hour
        folder.mkdir(parents=True)
        for number in range(3):
            (folder / f"{number}.jpg").write_bytes(b"x" * 100)
    walk = Walk(tmp_path)
    assert walk.go_on(4) is None
    for _ in range(2):
        found = walk.go_on(10)
        assert found is not None
        assert (found.size, found.files) == (600, 6)


def test_a_folder_that_is_not_there_yet_has_no_size(tmp_path: Path) -> None:
    """And an empty archive has the size 0."""
    assert disk_of(tmp_path / "none") is None
    found = Walk(tmp_path).go_on(1)
    assert found is not None
    assert (found.size, found.files) == (0, 0)
    recorded(tmp_path, [1])
    disk = disk_of(tmp_path)
    assert disk is not None
    assert 0 < disk.database < disk.size


def test_a_process_that_is_gone_has_no_usage() -> None:
    """Its number may be another's: 2^22 is above the kernel's largest."""
    assert usage_of(2**22 + 1) is None
