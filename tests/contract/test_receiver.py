"""What every receiver of events keeps to, run over real brokers and databases and the fake."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest

from inspectd.config.schema import MqttForward, PostgresqlForward
from inspectd.errors import ForwardFault
from inspectd.forward.event import FIELDS, KEY, Outgoing
from inspectd.forward.mqtt import MqttReceiver
from inspectd.forward.postgresql import PostgresqlReceiver
from inspectd.forward.receiver import Delivered, Receiver
from inspectd.forward.table import ddl
from tests.receivers.fake import FakeReceiver
from tests.receivers.peers import Broker, Listener, Server, free_port, until

pytestmark = [pytest.mark.long, pytest.mark.slow, pytest.mark.timeout(120)]


def outgoing(number: int, **values: Any) -> Outgoing:
    """An event as the outbox reads it."""
    plain: dict[str, Any] = {name: f"{name} {number}" for name in FIELDS}
    plain |= dict.fromkeys((name for name in FIELDS if name.endswith("_ms")), 1.5)
    plain |= {"line": "line-1", "run_id": "run-1", "station": "cam-1", "trigger_id": number}
    plain |= {"epoch_ns": 10**15 + number, "database_id": "a" * 32, "sequence": number}
    plain |= {"revision": 0, "batch": 1, "archive": None, "detail": '{"image":"a.png"}'}
    plain |= {"recorded_utc": "2026-12-01T14:03:22.123456Z"}
    return Outgoing({**plain, **values})


class Peer(Protocol):
    """The other side, as a test sees it."""

    def receiver(self, *, is_right: bool = True) -> Receiver:
        """Make a receiver for it; not right: one that it refuses."""

    def has(self) -> list[int]:
        """Trigger ids that arrived, each once, sorted."""

    def judged(self, number: int) -> str:
        """The newest `judged` of an event."""

    def kill(self) -> None:
        """Kill it."""

    def start(self) -> None:
        """Start it again."""

    def freeze(self) -> None:
        """Let it hang."""

    def thaw(self) -> None:
        """Let it go on."""


class BrokerPeer:
    """mosquitto, and somebody who reads it."""

    def __init__(self, folder: Path) -> None:
        self.broker = Broker(folder)
        self.listener = Listener(self.broker.port)
        self.broker.save()
        self.kill, self.freeze, self.thaw = self.broker.kill, self.broker.freeze, self.broker.thaw

    def receiver(self, *, is_right: bool = True) -> Receiver:
        """A wrong one knocks at a port where nobody is."""
        port = self.broker.port if is_right else free_port()
        entry = MqttForward(kind="mqtt", name="broker", host="127.0.0.1", port=port)
        return MqttReceiver(entry, "line-1")

    def _newest(self) -> dict[int, dict[str, Any]]:
        """As a receiver should do it: by key, the highest revision counts."""
        newest: dict[tuple[Any, ...], dict[str, Any]] = {}
        for payload in self.listener.on("/event"):
            event = json.loads(payload)
            key = tuple(event[name] for name in KEY)
            if key not in newest or newest[key]["revision"] < event["revision"]:
                newest[key] = event
        return {event["trigger_id"]: event for event in newest.values()}

    def has(self) -> list[int]:
        """See `Peer.has`."""
        return sorted(self._newest())

    def judged(self, number: int) -> str:
        """See `Peer.judged`."""
        return str(self._newest()[number]["judged"])

    def start(self) -> None:
        """See `Peer.start`."""
        self.broker.start()

    def close(self) -> None:
        """End both."""
        self.listener.close()
        self.broker.kill()


class TablePeer:
    """A table in PostgreSQL."""

    def __init__(self, server: Server, table: str) -> None:
        self.server, self.table = server, table
        self.kill, self.start = server.kill, server.start
        self.freeze, self.thaw = server.freeze, server.thaw
        with server.open() as connection:
            connection.execute(ddl(table, server.dsn).encode())

    def receiver(self, *, is_right: bool = True) -> Receiver:
        """A wrong one asks for a table that is not there."""
        os.environ["INSPECTD_TEST_PASSWORD"] = "write"  # noqa: S105 - of the test's own server
        return PostgresqlReceiver(
            PostgresqlForward(
                kind="postgresql",
                name="table",
                dsn=self.server.dsn,
                password_env="INSPECTD_TEST_PASSWORD",  # noqa: S106 - a name
                table=self.table if is_right else "nowhere",
            )
        )

    def has(self) -> list[int]:
        """See `Peer.has`; a row for each, or the answer shows it."""
        return [row[0] for row in self.ask("trigger_id FROM {} ORDER BY 1")]

    def judged(self, number: int) -> str:
        """See `Peer.judged`."""
        return str(self.ask(f"judged FROM {{}} WHERE trigger_id = {number}")[0][0])

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """Select something of the table."""
        with self.server.open() as connection:
            return connection.execute(f"SELECT {query.format(self.table)}".encode()).fetchall()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """One for all tests here."""
    made = Server()
    yield made
    made.close()


@pytest.fixture(params=["mqtt", "postgresql", "fake"])
def peer(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Peer]:
    """The other side of each kind."""
    if request.param == "fake":
        yield FakeReceiver()
    elif request.param == "mqtt":
        broker = BrokerPeer(tmp_path)
        yield broker
        broker.close()
    else:
        server: Server = request.getfixturevalue("server")
        yield TablePeer(server, f"t{abs(hash(tmp_path)) % 10**9}")


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run a test's coroutine; nothing may take a minute."""
    asyncio.run(asyncio.wait_for(work, 60))


@asynccontextmanager
async def connected(receiver: Receiver) -> AsyncIterator[Receiver]:
    """An open receiver, closed whatever happens."""
    try:
        await receiver.open()
        yield receiver
    finally:
        await receiver.close()


def test_what_counts_as_done_is_there(peer: Peer) -> None:
    """More than a window of MQTT, in one delivery."""

    async def work() -> None:
        async with connected(peer.receiver()) as receiver:
            assert await receiver.deliver([outgoing(i) for i in range(50)]) == Delivered(50)

    run(work())
    until(lambda: peer.has() == list(range(50)))


def test_what_is_sent_twice_is_one_event(peer: Peer) -> None:
    """By its key, whatever its number in the record is now; also within a delivery."""

    async def work() -> None:
        async with connected(peer.receiver()) as receiver:
            await receiver.deliver([outgoing(1), outgoing(2), outgoing(2)])
        async with connected(peer.receiver()) as receiver:
            await receiver.deliver([outgoing(2, sequence=77, database_id="b" * 32), outgoing(3)])

    run(work())
    until(lambda: peer.has() == [1, 2, 3])


def test_the_higher_revision_counts_in_any_order(peer: Peer) -> None:
    """An old one that comes again late changes nothing."""

    async def work() -> None:
        async with connected(peer.receiver()) as receiver:
            await receiver.deliver([outgoing(1, judged="", revision=0)])
            await receiver.deliver([outgoing(1, judged="OK", revision=4)])
            await receiver.deliver([outgoing(1, judged="", revision=0)])

    run(work())
    until(lambda: peer.has() == [1] and peer.judged(1) == "OK")


def test_a_receiver_that_is_not_right_is_one_sentence_with_a_remedy(peer: Peer) -> None:
    """It can be closed and tried again."""

    async def work() -> None:
        receiver = peer.receiver(is_right=False)
        for _ in range(2):
            with pytest.raises(ForwardFault, match=r"^receiver .+: .+; .+") as refused:
                await receiver.open()
            assert "\n" not in str(refused.value)
            await receiver.close()

    run(work())


def test_after_a_kill_events_fail_and_a_new_connection_takes_them(peer: Peer) -> None:
    """Killed between two deliveries: the fault is told, close is quiet, open works again."""

    async def work() -> None:
        receiver = peer.receiver()
        await receiver.open()
        await receiver.deliver([outgoing(1)])
        await asyncio.to_thread(until, lambda: peer.has() == [1])
        peer.kill()
        with pytest.raises(ForwardFault):
            await receiver.deliver([outgoing(2)])
        await receiver.close()
        with pytest.raises(ForwardFault):
            await receiver.open()
        await receiver.close()
        await asyncio.to_thread(peer.start)
        async with connected(receiver):
            await receiver.deliver([outgoing(2)])

    run(work())
    until(lambda: peer.has() == [1, 2])


def test_a_frozen_receiver_is_given_up_within_seconds(peer: Peer) -> None:
    """It accepts connections (the kernel does) and never answers; thawed, all goes on."""

    async def work() -> None:
        receiver = peer.receiver()
        await receiver.open()
        peer.freeze()
        with pytest.raises((ForwardFault, asyncio.TimeoutError)):
            await asyncio.wait_for(receiver.deliver([outgoing(1)]), 12)
        await asyncio.wait_for(receiver.close(), 6)
        with pytest.raises((ForwardFault, asyncio.TimeoutError)):
            await asyncio.wait_for(receiver.open(), 12)
        await asyncio.wait_for(receiver.close(), 6)
        peer.thaw()
        async with connected(receiver):
            await receiver.deliver([outgoing(1), outgoing(2)])

    run(work())
    until(lambda: peer.has() == [1, 2])


def test_closing_is_quiet_in_every_state(peer: Peer) -> None:
    """Never opened, open, closed twice; delivering without a connection is a fault, no crash."""

    async def work() -> None:
        receiver = peer.receiver()
        await receiver.close()
        with pytest.raises(ForwardFault):
            await receiver.deliver([outgoing(1)])
        await receiver.open()
        await receiver.tell({"cam-1": "Operational"})
        await receiver.close()
        await receiver.close()

    run(work())
