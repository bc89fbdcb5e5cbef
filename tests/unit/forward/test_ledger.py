"""A receiver's place in the record."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from inspectd.cursor import cursor_path, read
from inspectd.errors import ForwardFault
from inspectd.forward.ledger import Ledger
from inspectd.forward.outbox import FILE_NAME, Outbox, Pending
from inspectd.record import database
from tests.receivers.records import event, opened, recorded


class _Desk:
    """Ledgers over one record."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said: list[str] = []
        self.made: list[Ledger] = []

    def ledger(self, **options: Any) -> Ledger:
        """As a process makes it that has just been started."""
        made = Ledger(self.folder, "broker", self.log, **options)
        self.made.append(made)
        return made

    def log(self, _level: str, what: str, **_: object) -> None:
        """Keep what is logged."""
        self.said.append(what)

    def sent(self, ledger: Ledger) -> list[int]:
        """Take everything that there is, as a receiver that confirms all."""
        taken: list[int] = []
        while pending := ledger.bite(3):
            taken += triggers(pending)
            ledger.move(pending[-1].cursor)
        return taken


def triggers(pending: list[Pending]) -> list[int]:
    """Which parts."""
    return [one.event.values["trigger_id"] for one in pending]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[_Desk]:
    """An empty record folder."""
    made = _Desk(tmp_path / "record")
    yield made
    for ledger in made.made:
        ledger.close()


def test_both_sides_name_the_same_file() -> None:
    """The forwarder may not import the record; the name is part of the contract."""
    assert FILE_NAME == database.FILE_NAME


def test_without_a_record_there_is_nothing_to_send(desk: _Desk) -> None:
    """The first start of a line: the record comes later."""
    ledger = desk.ledger()
    assert ledger.bite(10) == []
    recorded(desk.folder, range(2))
    assert desk.sent(ledger) == [0, 1]


def test_events_come_once_in_their_order(desk: _Desk) -> None:
    """In bites; then only what is new."""
    recorded(desk.folder, range(8))
    ledger = desk.ledger()
    assert triggers(ledger.bite(5)) == [0, 1, 2, 3, 4]
    assert desk.sent(ledger) == list(range(8))
    recorded(desk.folder, [8])
    assert desk.sent(ledger) == [8]


def test_a_restart_goes_on_behind_what_was_confirmed(desk: _Desk) -> None:
    """What was handed over and not confirmed comes again."""
    recorded(desk.folder, range(8))
    ledger = desk.ledger()
    ledger.move(ledger.bite(3)[-1].cursor)
    ledger.bite(3)
    ledger.close()
    assert desk.sent(desk.ledger()) == [3, 4, 5, 6, 7]


def test_an_amended_event_comes_again_with_a_higher_revision(desk: _Desk) -> None:
    """A verdict that came too late; what a receiver has not had yet comes once, as it is now."""
    recorded(desk.folder, range(3))
    ledger = desk.ledger()
    first = ledger.bite(1)
    ledger.move(first[-1].cursor)
    with closing(opened(desk.folder)) as record:
        record.write([event(number, judged="OK") for number in (0, 2)])
    again = ledger.bite(5)
    assert triggers(again) == [0]
    assert again[0].event.values["judged"] == "OK"
    assert again[0].event.values["revision"] > first[0].event.values["revision"]
    assert again[0].event.mark == first[0].event.mark
    ledger.move(again[-1].cursor)
    assert desk.sent(ledger) == [1, 2]


def test_an_event_told_twice_alike_comes_once(desk: _Desk) -> None:
    """The sinks tell a restarted record the last minute again: that amends nothing."""
    recorded(desk.folder, range(3))
    ledger = desk.ledger()
    desk.sent(ledger)
    recorded(desk.folder, range(3))
    assert desk.sent(ledger) == []


def test_a_new_receiver_may_leave_the_past_alone(desk: _Desk) -> None:
    """`send_backlog: false` counts for a name that was never here, and only then."""
    recorded(desk.folder, range(3))
    ledger = desk.ledger(send_backlog=False)
    assert desk.sent(ledger) == []
    ledger.close()
    recorded(desk.folder, [3, 4])
    assert desk.sent(desk.ledger(send_backlog=False)) == [3, 4]


def test_a_database_moved_aside_is_finished_and_the_new_one_begun(desk: _Desk) -> None:
    """Numbers begin again, and nothing of the new file is taken for sent."""
    recorded(desk.folder, range(5))
    ledger = desk.ledger(send_backlog=False)
    ledger.bite(1)
    recorded(desk.folder, range(5, 9))
    for part in ("", "-wal", "-shm"):
        file = desk.folder / (FILE_NAME + part)
        if file.exists():
            file.rename(desk.folder / f"{FILE_NAME}.aside{part}")
    recorded(desk.folder, range(20, 23))
    assert desk.sent(ledger) == [5, 6, 7, 8, 20, 21, 22]
    assert desk.said == ["forward_begins_anew"]
    ledger.close()
    assert desk.sent(desk.ledger(send_backlog=False)) == []


def test_a_file_that_lost_its_last_commits_loses_no_event_outside(desk: _Desk) -> None:
    """A power cut takes commits that were sent; their numbers then belong to other events."""
    recorded(desk.folder, range(5))
    ledger = desk.ledger()
    desk.sent(ledger)
    ledger.close()
    with closing(sqlite3.connect(desk.folder / FILE_NAME)) as file, file:
        file.execute("DELETE FROM events WHERE sequence > 3")
        file.execute("UPDATE sqlite_sequence SET seq = 3 WHERE name = 'events'")
    recorded(desk.folder, range(100, 104), run_id="run-2")
    assert desk.sent(desk.ledger()) == [100, 101, 102, 103]
    assert desk.said == ["forward_set_back"]


def test_lost_commits_are_noticed_before_new_events_come(desk: _Desk) -> None:
    """The kept place is behind the end of the file."""
    recorded(desk.folder, range(5))
    ledger = desk.ledger()
    desk.sent(ledger)
    ledger.close()
    with closing(sqlite3.connect(desk.folder / FILE_NAME)) as file, file:
        file.execute("DELETE FROM events")
        file.execute("UPDATE sqlite_sequence SET seq = 0 WHERE name = 'events'")
    again = desk.ledger()
    assert desk.sent(again) == []
    recorded(desk.folder, range(100, 103), run_id="run-2")
    assert desk.sent(again) == [100, 101, 102]


def test_retention_behind_the_place_sets_nothing_back(desk: _Desk) -> None:
    """That the last event sent was deleted since is ordinary."""
    recorded(desk.folder, range(5))
    ledger = desk.ledger()
    desk.sent(ledger)
    ledger.close()
    with closing(sqlite3.connect(desk.folder / FILE_NAME)) as file, file:
        file.execute("DELETE FROM events")
    recorded(desk.folder, [7])
    assert desk.sent(desk.ledger()) == [7]
    assert desk.said == []


def test_a_place_that_cannot_be_kept_stops_nothing(desk: _Desk) -> None:
    """A full disk: sending goes on, a person is told; when there is room, the place is kept."""
    recorded(desk.folder, range(6))
    (desk.folder / "forward").write_text("no folder")
    ledger = desk.ledger()
    assert desk.sent(ledger) == list(range(6))
    assert "cannot be kept" in ledger.trouble
    (desk.folder / "forward").unlink()
    recorded(desk.folder, [6])
    assert desk.sent(ledger) == [6]
    assert ledger.trouble == ""
    with closing(Outbox(desk.folder / FILE_NAME)) as outbox:
        kept = read(cursor_path(desk.folder, "broker", outbox.database_id))
    assert kept is not None
    assert kept.sequence == 7


def test_scribbles_in_the_place_mean_from_the_beginning(desk: _Desk) -> None:
    """Duplicates, never a gap; also for a receiver that leaves the past alone."""
    recorded(desk.folder, range(3))
    ledger = desk.ledger(send_backlog=False)
    ledger.bite(1)
    ledger.close()
    (path,) = (desk.folder / "forward").iterdir()
    path.write_bytes(b"\0" * 100)
    assert desk.sent(desk.ledger(send_backlog=False)) == [0, 1, 2]


@pytest.mark.parametrize("content", [b"", b"no database at all " * 100])
def test_a_record_that_cannot_be_read_is_one_sentence(desk: _Desk, content: bytes) -> None:
    """With the file and a remedy; it may be well again later."""
    desk.folder.mkdir()
    (desk.folder / FILE_NAME).write_bytes(content)
    ledger = desk.ledger()
    with pytest.raises(ForwardFault, match=r"events\.sqlite cannot be read .*; see"):
        ledger.bite(1)
    (desk.folder / FILE_NAME).unlink()
    recorded(desk.folder, [1])
    assert desk.sent(ledger) == [1]


def test_a_record_that_is_just_being_made_is_no_fault(desk: _Desk) -> None:
    """For some looks; then it is one."""
    desk.folder.mkdir()
    (desk.folder / FILE_NAME).touch()
    ledger = desk.ledger(patience=3)
    assert [ledger.bite(1) for _ in range(3)] == [[], [], []]
    with pytest.raises(ForwardFault, match="it has no name yet"):
        ledger.bite(1)
