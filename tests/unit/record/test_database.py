"""The record's database: nothing twice, nothing lost, nothing deleted that is not understood."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from inspectd.errors import UsageFault
from inspectd.frame import Stamp, Ticket, Verdict
from inspectd.record.database import FILE_NAME, Database, Run, Written
from inspectd.record.event import Event, event_of
from inspectd.record.reading import Reading


def opened(desk: Any) -> Database:
    """The database of the desk's folder."""
    return Database(desk.folder, desk.utc, desk.log)


def event(desk: Any, ticket: Ticket, archive: str | None = None) -> Event:
    """The event of a ticket, now."""
    return event_of(ticket, desk.line(), "run-1", desk.utc(), archive)


def asked(desk: Any, query: str) -> list[tuple[Any, ...]]:
    """What a stranger reads in the file."""
    with closing(sqlite3.connect(desk.folder / FILE_NAME)) as connection:
        return connection.execute(query).fetchall()


def test_an_event_says_everything_about_a_part(desk: Any) -> None:
    """Names rather than numbers, and the wall clock of the record."""
    with closing(opened(desk)) as database:
        assert database.write([event(desk, desk.ticket(7), "archive/a.jpg")]) is Written.DONE
    rows = asked(
        desk,
        "SELECT run_id, line, station, trigger_id, part_id, recorded_utc, verdict, reason, judged,"
        " batch, model, model_digest, recipe_digest, archive FROM events",
    )
    assert rows == [
        (
            *("run-1", "line-1", "cam-1", 7, "part 7", "2026-12-01T14:03:22.123456Z"),
            *("NG", "DEFECT", "", 1, "bottles", "d1", "0123456789ab", "archive/a.jpg"),
        )
    ]


def test_times_of_the_stages_follow_from_the_stamps(desk: Any) -> None:
    """Milliseconds from stage to stage; empty where the part never came."""
    unfit = list(desk.ticket(2).stamps)
    for stamp in range(Stamp.PREPARED, Stamp.DECIDED):
        unfit[stamp] = 0
    parts = [desk.ticket(1), desk.ticket(2, stamps=tuple(unfit))]
    with closing(opened(desk)) as database:
        database.write([event(desk, part) for part in parts])
    query = (
        "SELECT camera_ms, gate_ms, infer_ms, judge_ms, sink_ms, total_ms"
        " FROM events ORDER BY sequence"
    )
    assert asked(desk, query) == [
        (2.0, 3.0, 3.0, 2.0, 2.0, 12.0),
        (2.0, 2.0, None, None, 2.0, 12.0),
    ]


def test_writing_a_part_again_changes_nothing(desk: Any) -> None:
    """A record process that was killed after its commit may see the event again."""
    with closing(opened(desk)) as database:
        one = event(desk, desk.ticket(1))
        database.write([one])
        before = asked(desk, "SELECT * FROM events")
        database.write([one, one])
    assert asked(desk, "SELECT * FROM events") == before


def test_the_same_trigger_id_later_in_a_run_is_another_part(desk: Any) -> None:
    """Counters of a PLC wrap, and begin again when it restarts."""
    with closing(opened(desk)) as database:
        database.write(
            [
                event(desk, desk.ticket(1)),
                event(desk, desk.ticket(1, fired_ns=99_000_000_000)),
            ]
        )
    assert asked(desk, "SELECT count(*) FROM events") == [(2,)]


def test_a_verdict_after_the_deadline_is_added_to_the_part(desk: Any) -> None:
    """What the PLC was told stays; what the stages found is filled in."""
    late = desk.ticket(1, verdict=Verdict.LATE, detail=b"{}", batch=0)
    blank = list(late.stamps)
    for stamp in range(Stamp.INFER_START, Stamp.DECIDED):
        blank[stamp] = 0
    first = event(desk, replace(late, stamps=tuple(blank)))
    after = replace(event(desk, desk.ticket(1, batch=4)), judged="OK")
    with closing(opened(desk)) as database:
        database.write([first])
        database.write([after])
    found = asked(desk, "SELECT verdict, judged, batch, infer_ms, model_digest FROM events")
    assert found == [("LATE", "OK", 4, 3.0, "d1")]


def test_a_missed_trigger_is_known_by_the_moment_of_its_decision(desk: Any) -> None:
    """Nobody saw it fire, and its id may be missed again after the PLC has restarted."""
    unseen = [
        desk.ticket(5, fired_ns=moment, verdict=Verdict.FAULT).stamped(Stamp.FIRED, 0)
        for moment in (10**9, 2 * 10**9, 10**9)
    ]
    with closing(opened(desk)) as database:
        database.write([event(desk, ticket) for ticket in unseen])
    assert asked(desk, "SELECT count(*) FROM events") == [(2,)]


def test_a_stray_becomes_the_part_when_the_sink_tells_of_it(desk: Any) -> None:
    """Events may be told again, and in another order, to a record that was restarted."""
    stray = replace(event(desk, desk.ticket(1, verdict=Verdict.NONE)), reason="NONE", judged="NG")
    with closing(opened(desk)) as database:
        database.write([stray])
        database.write([event(desk, desk.ticket(1, verdict=Verdict.LATE))])
        database.write([stray])
    found = asked(desk, "SELECT verdict, reason, judged FROM events")
    assert found == [("LATE", "DEFECT", "NG")]


def test_a_damaged_file_is_moved_aside_and_a_new_one_begun(desk: Any) -> None:
    """Never deleted: a person may still want what is in it."""
    desk.folder.mkdir()
    (desk.folder / FILE_NAME).write_bytes(b"this is no database" * 100)
    with closing(opened(desk)) as database:
        assert database.write([event(desk, desk.ticket(1))]) is Written.DONE
    aside = [path for path in desk.folder.iterdir() if ".aside-" in path.name]
    assert [path.read_bytes()[:7] for path in aside] == [b"this is"]
    assert ("error", "record_database_moved_aside") in desk.said
    assert asked(desk, "SELECT count(*) FROM events") == [(1,)]


def test_pages_damaged_inside_are_found_at_start(desk: Any) -> None:
    """A whole header is no proof: files of moderate size are read through."""
    with closing(opened(desk)) as database:
        database.write([event(desk, desk.ticket(i)) for i in range(200)])
    path = desk.folder / FILE_NAME
    content = bytearray(path.read_bytes())
    content[8192:40960] = b"\xaa" * (40960 - 8192)
    path.write_bytes(content)
    with closing(opened(desk)) as database:
        assert database.write([event(desk, desk.ticket(1))]) is Written.DONE
    assert ("error", "record_database_moved_aside") in desk.said


def test_a_file_of_a_later_version_is_moved_aside(desk: Any) -> None:
    """A step back to an older inspectd must not stop the line, nor write into what it mistakes."""
    with closing(opened(desk)):
        pass
    with closing(sqlite3.connect(desk.folder / FILE_NAME)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with closing(opened(desk)):
        pass
    assert asked(desk, "PRAGMA user_version") == [(1,)]
    assert ("error", "record_database_moved_aside") in desk.said


def test_a_full_disk_is_an_answer_and_loses_nothing(desk: Any) -> None:
    """The whole batch is refused and may be tried again; a limit of pages stands for the disk."""
    with closing(opened(desk)) as database:
        pages = database._connection.execute("PRAGMA page_count").fetchone()[0]
        database._connection.execute(f"PRAGMA max_page_count = {pages}")
        batch = [event(desk, desk.ticket(i)) for i in range(200)]
        assert database.write(batch) is Written.RETRY
        assert asked(desk, "SELECT count(*) FROM events") == [(0,)]
        database._connection.execute("PRAGMA max_page_count = 1000000")
        assert database.write(batch) is Written.DONE
    assert asked(desk, "SELECT count(*) FROM events") == [(200,)]


@pytest.mark.slow
def test_another_writer_makes_it_try_again(desk: Any) -> None:
    """Somebody's open transaction delays events, it does not lose them."""
    with closing(opened(desk)) as database:
        with closing(sqlite3.connect(desk.folder / FILE_NAME)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert database.write([event(desk, desk.ticket(1))]) is Written.RETRY
        assert database.write([event(desk, desk.ticket(1))]) is Written.DONE


def test_a_folder_that_cannot_be_written_is_one_clear_error(desk: Any, tmp_path: Path) -> None:
    """Names the file and the key to change."""
    (tmp_path / "record").write_text("a file where the folder should be")
    with pytest.raises(UsageFault, match=r"events\.sqlite.*record\.folder"):
        opened(desk)


def test_pictures_that_are_gone_are_forgotten(desk: Any) -> None:
    """The event stays, its path does not."""
    with closing(opened(desk)) as database:
        database.write([event(desk, desk.ticket(1), "archive/a.jpg")], ["archive/a.jpg"])
        assert database.oldest_archived(10) == []
    assert asked(desk, "SELECT archive FROM events") == [(None,)]


def test_old_events_go_unless_their_picture_is_still_there(desk: Any) -> None:
    """The index never loses sight of a picture."""
    with closing(opened(desk)) as database:
        database.write(
            [
                event(desk, desk.ticket(1)),
                event(desk, desk.ticket(2), "archive/a.jpg"),
            ]
        )
        desk.utc.move(days=10)
        database.write([event(desk, desk.ticket(3))])
        assert database.delete_events(desk.utc() - timedelta(days=5), 100) == [1]
    assert asked(desk, "SELECT trigger_id FROM events ORDER BY 1") == [(2,), (3,)]


def test_a_run_is_noted_once(desk: Any) -> None:
    """A record process that was restarted belongs to the same run."""
    run = Run("run-1", "line-1", "line.yaml", "0123", "2026-12-01T00:00:00.000000Z")
    with closing(opened(desk)) as database:
        database.begin_run(run)
        database.begin_run(run._replace(started_utc="2026-12-02T00:00:00.000000Z"))
    assert asked(desk, "SELECT * FROM runs") == [tuple(run)]


@pytest.mark.slow
def test_a_run_that_could_not_be_noted_is_noted_with_the_next_events(desk: Any) -> None:
    """A disk that is full at the start must not leave events without their run."""
    with closing(opened(desk)) as database:
        with closing(sqlite3.connect(desk.folder / FILE_NAME)) as other:
            other.execute("BEGIN IMMEDIATE")
            database.begin_run(Run("run-1", "line-1", "line.yaml", "d", "2026"))
        assert asked(desk, "SELECT count(*) FROM runs") == [(0,)]
        database.write([event(desk, desk.ticket(1))])
    assert asked(desk, "SELECT run_id FROM runs") == [("run-1",)]


def test_the_latest_run_is_the_one_noted_last(desk: Any) -> None:
    """Also when the clock was set back in between."""
    with closing(opened(desk)) as database:
        for run_id, started in (("first", "2027-01-01T00:00"), ("second", "2026-01-01T00:00")):
            database.begin_run(Run(run_id, "line-1", "line.yaml", "d", started))
    with closing(Reading(desk.folder / FILE_NAME)) as reading:
        assert reading.run().run_id == "second"
