"""What is PostgreSQL's own: the table, its rights, passwords, an event that no table takes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inspectd.config.schema import PostgresqlForward
from inspectd.errors import ForwardFault
from inspectd.forward.event import FIELDS, Outgoing
from inspectd.forward.postgresql import PostgresqlReceiver, complaints
from inspectd.forward.receiver import Delivered
from inspectd.forward.table import ddl
from tests.contract.test_receiver import connected, outgoing, run
from tests.receivers.peers import Server, free_port

pytestmark = [pytest.mark.long, pytest.mark.slow, pytest.mark.timeout(60)]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """One for all tests here."""
    made = Server()
    with made.open() as connection:
        connection.execute("CREATE SCHEMA quality; GRANT USAGE ON SCHEMA quality TO writer")
        connection.execute(ddl("quality.parts", made.dsn).encode())
    yield made
    made.close()


@pytest.fixture
def secret(tmp_path: Path) -> str:
    """A file with the writer's password."""
    file = tmp_path / "secret"
    file.write_text("write\r\nnot this line\n", encoding="utf-8")
    return str(file)


def receiver(server: Server, secret: str, **keys: Any) -> PostgresqlReceiver:
    """A receiver at the server of this machine."""
    values: dict[str, Any] = {"name": "db", "dsn": server.dsn, "table": "quality.parts", **keys}
    return PostgresqlReceiver(PostgresqlForward(kind="postgresql", password_file=secret, **values))


def refusal(server: Server, secret: str, *events: Outgoing, **keys: Any) -> str:
    """What a person reads when a receiver does not get events through."""
    said: list[str] = []

    async def work() -> None:
        made = receiver(server, secret, **keys)
        try:
            await made.open()
            await made.deliver(events)
        except ForwardFault as fault:
            said.append(str(fault))
        finally:
            await made.close()

    run(work())
    return said[0]


def delivered(server: Server, secret: str, *events: Outgoing) -> Delivered:
    """Deliver over a connection of its own."""
    answers: list[Delivered] = []

    async def work() -> None:
        async with connected(receiver(server, secret)) as made:
            answers.append(await made.deliver(events))

    run(work())
    return answers[0]


def test_a_row_has_every_field_as_sent(server: Server, secret: str) -> None:
    """The printed table takes the events; `detail` can be asked with JSON operators."""
    assert delivered(server, secret, outgoing(1)) == Delivered(1)
    names = ", ".join(FIELDS)
    with server.open() as connection:
        query = f"SELECT {names}, detail->>'image' FROM quality.parts WHERE trigger_id = 1"  # noqa: S608
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    got = dict(zip(FIELDS, row, strict=False))
    sent = outgoing(1).values
    assert {name: got[name] for name in ("line", "verdict", "total_ms", "archive", "batch")} == {
        name: sent[name] for name in ("line", "verdict", "total_ms", "archive", "batch")
    }
    assert got["recorded_utc"].isoformat() == "2026-12-01T14:03:22.123456+00:00"
    assert got["detail"] == json.loads(sent["detail"])
    assert row[-1] == "a.png"


def test_an_event_that_no_table_takes_does_not_block_those_behind(
    server: Server, secret: str
) -> None:
    """Without its detail first; if that does not help it is refused by name, the others arrive."""
    nan = outgoing(11, detail='{"score":NaN}')
    huge = outgoing(12, batch=2**40)
    answer = delivered(server, secret, outgoing(10), nan, huge, outgoing(13))
    assert answer.done == 4
    assert [one.mark for one in answer.refused] == [huge.mark]
    with server.open() as connection:
        query = "SELECT trigger_id, detail IS NULL FROM quality.parts WHERE trigger_id >= 10"
        rows = connection.execute(query).fetchall()
    assert sorted(rows) == [(10, False), (11, True), (13, False)]


def test_each_mistake_has_its_remedy(server: Server, secret: str, tmp_path: Path) -> None:
    """Password, table, rights, version, read-only, service, port."""
    (tmp_path / "wrong").write_text("barley\n", encoding="utf-8")
    said = refusal(server, str(tmp_path / "wrong"))
    assert "correct `user` in `dsn` and the password" in said
    assert "barley" not in said
    assert "there is no table nowhere; make it: `inspectd forward" in refusal(
        server, secret, table="nowhere"
    )
    with server.open() as connection:
        connection.execute("CREATE TABLE locked (LIKE quality.parts INCLUDING ALL)")
        connection.execute("COMMENT ON TABLE locked IS 'inspectd events 1'")
        connection.execute("CREATE TABLE older AS TABLE quality.parts WITH NO DATA")
        connection.execute("COMMENT ON TABLE older IS 'inspectd events 0'")
        connection.execute("GRANT SELECT, INSERT, UPDATE ON older TO writer")
    assert "give the rights" in refusal(server, secret, outgoing(1), table="locked")
    assert "is of another version or not ours" in refusal(server, secret, table="older")
    with server.open() as connection:
        connection.execute("GRANT SELECT, INSERT, UPDATE ON locked TO writer")
        connection.execute("ALTER TABLE locked DROP CONSTRAINT locked_pkey")
    assert "lacks its primary key" in refusal(server, secret, outgoing(1), table="locked")
    reading = f"{server.dsn} options='-c default_transaction_read_only=on'"
    assert "name its primary" in refusal(server, secret, outgoing(1), dsn=reading)
    assert "add the service to the service file" in refusal(server, secret, dsn="service=nowhere")
    nobody = server.dsn.replace(str(server.port), str(free_port()))
    assert "see whether the server runs" in refusal(server, secret, dsn=nobody)


def test_a_locked_table_is_a_slow_one(server: Server, secret: str) -> None:
    """The server gives the statement up; nothing of the delivery is there."""
    with server.open() as connection, connection.transaction():
        connection.execute("LOCK TABLE quality.parts")
        assert "locks on the table" in refusal(server, secret, outgoing(30))


def test_a_dsn_that_is_none_is_told_by_check() -> None:
    """Before anything runs."""
    entry = PostgresqlForward(kind="postgresql", name="db", dsn="host=a nonsense=1 b")
    ((key, what),) = complaints(entry)
    assert key == "dsn"
    assert "write it like host=NAME" in what
