"""What receivers outside the line have not got is not deleted, until its time is over."""

from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from inspectd.config.schema import MqttForward, PostgresqlForward
from inspectd.cursor import Cursor, CursorFile, cursor_path
from inspectd.ports import Counter
from inspectd.record.archive import Archive
from inspectd.record.database import Database
from inspectd.record.event import event_of
from inspectd.record.retention import Retention
from inspectd.record.unsent import Unsent

_BROKER = MqttForward(kind="mqtt", name="broker", host="nowhere", keep_unsent_days=20)
_TABLE = PostgresqlForward(kind="postgresql", name="table", dsn="dbname=x", keep_unsent_days=40)


class _Shelf:
    """A record with ten events of day one, and receivers."""

    def __init__(self, desk: Any, database: Database, *receivers: Any) -> None:
        self.desk, self.database = desk, database
        line = replace(desk.line(keep_events_days=10), forward=receivers)
        self.lost = 0
        unsent = Unsent(line, desk.log, self._count)
        self.retention = Retention(line.record, Archive(desk.folder), unsent)
        database.write([event_of(desk.ticket(i), line, "run-1", desk.utc()) for i in range(10)])

    def _count(self, number: int) -> None:
        self.lost += number

    def sent(self, name: str, sequence: int) -> None:
        """A receiver has so many."""
        database_id = self.database.database_id
        with closing(CursorFile(cursor_path(self.desk.folder, name, database_id))) as file:
            file.write(Cursor(database_id, sequence))

    def left(self, days: float) -> int:
        """How many events are there so many days later, after the retention."""
        before = self.desk.utc.now
        self.desk.utc.move(days=days)
        self.retention.bite(self.database, self.desk.utc())
        self.desk.utc.now = before
        (count,) = self.database._connection.execute("SELECT count(*) FROM events").fetchone()
        return int(count)


@pytest.fixture
def database(desk: Any) -> Any:
    """The record's."""
    with closing(Database(desk.folder, desk.utc, desk.log)) as opened:
        yield opened


def test_what_nobody_wants_goes_by_age_alone(desk: Any, database: Database) -> None:
    """A line without receivers."""
    shelf = _Shelf(desk, database)
    assert [shelf.left(9), shelf.left(11)] == [10, 0]
    assert shelf.lost == 0


def test_what_a_receiver_has_goes_and_the_rest_waits(desk: Any, database: Database) -> None:
    """Past `keep_events_days`."""
    shelf = _Shelf(desk, database, _BROKER)
    shelf.sent("broker", 4)
    assert shelf.left(11) == 6
    shelf.sent("broker", 10)
    assert shelf.left(11) == 0
    assert shelf.lost == 0


def test_a_receiver_that_was_never_reached_wants_everything(desk: Any, database: Database) -> None:
    """It has no place yet."""
    assert _Shelf(desk, database, _BROKER).left(19) == 10


def test_every_receiver_counts(desk: Any, database: Database) -> None:
    """The slowest of them."""
    shelf = _Shelf(desk, database, _BROKER, _TABLE)
    shelf.sent("broker", 10)
    shelf.sent("table", 3)
    assert shelf.left(39) == 7


def test_what_is_given_up_is_counted_and_logged(desk: Any, database: Database) -> None:
    """After `keep_unsent_days`, once per event and receiver."""
    shelf = _Shelf(desk, database, _BROKER, _TABLE)
    shelf.sent("broker", 4)
    shelf.sent("table", 10)
    assert shelf.left(21) == 0
    assert shelf.lost == 6
    assert ("error", "events_expired_unsent") in desk.said


def test_a_place_in_another_file_means_nothing_here(desk: Any, database: Database) -> None:
    """Numbers of a file that was moved aside."""
    shelf = _Shelf(desk, database, _BROKER)
    other = "f" * 32
    path = cursor_path(desk.folder, "broker", database.database_id)
    with closing(CursorFile(path)) as file:
        file.write(Cursor(other, 10))
    assert shelf.left(11) == 10


def test_a_clock_set_back_in_between_deletes_nothing_unsent(desk: Any, database: Database) -> None:
    """An event with an older time and a higher number is held by its number."""
    shelf = _Shelf(desk, database, _BROKER)
    shelf.sent("broker", 5)
    desk.utc.move(days=-5)
    line = desk.line()
    database.write([event_of(desk.ticket(50), line, "run-1", desk.utc())])
    desk.utc.move(days=5)
    assert shelf.left(11) == 6


def test_the_record_step_counts_what_receivers_lose(desk: Any) -> None:
    """Wired up: the counter is the process's own."""
    assert Counter.FORWARD_LOST.name.lower() == "forward_lost"
    unsent = Unsent(replace(desk.line(), forward=(_BROKER,)), desk.log, lambda n: None)
    holds = unsent.holds("a" * 32, desk.utc() + timedelta(days=1))
    assert [(hold.receiver, hold.sequence) for hold in holds] == [("broker", 0)]


def test_a_database_has_one_name_for_ever(desk: Any) -> None:
    """32 digits, made once; another file has another."""
    with closing(Database(desk.folder, desk.utc, desk.log)) as first:
        name = first.database_id
    with closing(Database(desk.folder, desk.utc, desk.log)) as again:
        assert again.database_id == name
    with closing(Database(desk.folder / "other", desk.utc, desk.log)) as other:
        assert other.database_id != name
    assert len(name) == 32


def test_a_file_of_an_older_version_gets_its_name_when_it_is_opened(desk: Any) -> None:
    """It is not moved aside for that, and keeps its events."""
    desk.recorded(desk.ticket(1))
    with closing(Database(desk.folder, desk.utc, desk.log)) as database:
        for statement in (
            "DROP TRIGGER events_amended",
            "DROP TRIGGER events_forgotten",
            "DROP TABLE amended",
            "DROP TABLE identity",
        ):
            database._connection.execute(statement)
        assert database.database_id == ""
    with closing(Database(desk.folder, desk.utc, desk.log)) as database:
        assert len(database.database_id) == 32
        assert database._connection.execute("SELECT count(*) FROM events").fetchone() == (1,)
    assert desk.said == []


def test_amendments_are_forgotten_with_their_event(desk: Any, database: Database) -> None:
    """The list does not grow for ever; a path that is taken back is no amendment."""
    line = desk.line(keep_events_days=10)
    told = event_of(desk.ticket(1), line, "run-1", desk.utc(), "archive/a.jpg")
    database.write([told])
    database.write([replace(told, judged="OK")], ["archive/a.jpg"])
    rows = database._connection.execute("SELECT number, sequence FROM amended").fetchall()
    assert rows == [(1, 1)]
    assert database.delete_events(desk.utc() + timedelta(days=1), 10) == [1]
    assert database._connection.execute("SELECT count(*) FROM amended").fetchone() == (0,)
