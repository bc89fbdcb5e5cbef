"""Nothing is lost on the way out: forwarders, brokers and databases are killed and frozen here.

The audit is by key: every event of the record is with the receiver, whatever came twice.
"""

import json
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from inspectd.forward.table import ddl
from tests.receivers.peers import Broker, Listener, Server, free_port, until
from tests.receivers.records import event, opened, recorded

pytestmark = [pytest.mark.long, pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(180)]

_ROOT = Path(__file__).parents[2]


class _Forwarder:
    """The process."""

    def __init__(self, folder: Path, *entries: dict[str, Any]) -> None:
        self.folder, self.entries = folder, entries
        self.said_path = folder.parent / "said.jsonl"
        self.start()

    def start(self) -> None:
        """Start it."""
        command = [sys.executable, "-m", "tests.process.forward_run", str(self.folder)]
        with self.said_path.open("ab") as said:
            self.process = subprocess.Popen(
                [*command, json.dumps(self.entries)], cwd=_ROOT, stdout=said
            )

    def kill(self) -> None:
        """Kill -9."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> float:
        """SIGTERM; answers how long it took."""
        begin = time.monotonic()
        self.process.terminate()
        assert self.process.wait(30) == 0
        return time.monotonic() - begin

    def said(self, what: str) -> list[dict[str, Any]]:
        """Everything of a kind that it said, over all its lives."""
        lines = self.said_path.read_text(encoding="utf-8").splitlines()
        found = [json.loads(line) for line in lines if line.startswith("{") and line[-1] == "}"]
        return [one for one in found if one["what"] == what]

    def trouble(self) -> str:
        """The last sentence."""
        return str(self.said("trouble")[-1]["sentence"]) if self.said("trouble") else ""


@contextmanager
def forwarding(folder: Path, *entries: dict[str, Any]) -> Iterator[_Forwarder]:
    """A forwarder that is gone at the end."""
    made = _Forwarder(folder, *entries)
    try:
        yield made
    finally:
        made.kill()


@contextmanager
def flowing(folder: Path, count: int, seconds: float) -> Iterator[None]:
    """Write events as a line does, a few at a time, in the background; done at the end."""

    def work() -> None:
        with closing(opened(folder)) as record:
            for at in range(0, count, 5):
                record.write([event(number) for number in range(at, min(at + 5, count))])
                time.sleep(seconds * 5 / count)

    writer = threading.Thread(target=work)
    writer.start()
    try:
        yield
    finally:
        writer.join()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A record without events."""
    recorded(tmp_path / "record", [])
    return tmp_path / "record"


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    """A mosquitto."""
    made = Broker(tmp_path)
    yield made
    made.kill()


@pytest.fixture
def listener(broker: Broker) -> Iterator[Listener]:
    """Somebody who reads, and whose session the broker keeps over a kill."""
    made = Listener(broker.port)
    broker.save()
    yield made
    made.close()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A PostgreSQL."""
    made = Server()
    yield made
    made.close()


def mqtt(broker: Broker) -> dict[str, Any]:
    """An entry of the station file."""
    return {"kind": "mqtt", "name": "broker", "host": "127.0.0.1", "port": broker.port}


def postgresql(server: Server, table: str) -> dict[str, Any]:
    """An entry of the station file, and its table."""
    with server.open() as connection:
        connection.execute(ddl(table, server.dsn).encode())
    secret = server.folder / "writer"
    secret.write_text("write\n", encoding="utf-8")
    entry = {"kind": "postgresql", "name": "db", "dsn": server.dsn, "table": table}
    return {**entry, "password_file": str(secret)}


def arrived(listener: Listener) -> set[int]:
    """Parts that a reader of the broker has."""
    return {json.loads(payload)["trigger_id"] for payload in listener.on("/event")}


def rows(server: Server, table: str) -> list[int]:
    """Parts in the table, a row each."""
    with server.open() as connection:
        query = f"SELECT trigger_id FROM {table} ORDER BY 1"  # noqa: S608 - our name
        return [row[0] for row in connection.execute(query.encode()).fetchall()]


def test_twenty_kills_of_the_forwarder_lose_nothing(
    folder: Path, broker: Broker, listener: Listener, server: Server
) -> None:
    """500 events flow to both kinds while the process is killed at random moments."""
    chance = random.Random(7)  # noqa: S311 - moments, no secrets
    with forwarding(folder, mqtt(broker), postgresql(server, "kills")) as forwarder:
        with flowing(folder, 500, 25):
            for _ in range(20):
                time.sleep(chance.uniform(0.6, 1.6))
                forwarder.kill()
                forwarder.start()
        until(lambda: len(arrived(listener)) == 500, 60)
        until(lambda: len(rows(server, "kills")) == 500, 60)
        assert forwarder.stop() < 10
    assert arrived(listener) == set(range(500))
    assert rows(server, "kills") == list(range(500))


def test_a_broker_killed_and_restarted_gets_everything(
    folder: Path, broker: Broker, listener: Listener
) -> None:
    """Kill -9 in mid-stream, away for some seconds; the sentence comes and goes."""
    with forwarding(folder, mqtt(broker)) as forwarder:
        with flowing(folder, 300, 6):
            until(lambda: len(arrived(listener)) > 30)
            broker.kill()
            until(lambda: "see whether the broker runs" in forwarder.trouble())
            broker.start()
        until(lambda: len(arrived(listener)) == 300, 60)
        until(lambda: forwarder.trouble() == "")
    assert arrived(listener) == set(range(300))


def test_a_frozen_broker_delays_and_loses_nothing(
    folder: Path, broker: Broker, listener: Listener
) -> None:
    """SIGSTOP: connections are taken by the kernel, nothing is answered."""
    with forwarding(folder, mqtt(broker)) as forwarder:
        with flowing(folder, 100, 4):
            until(lambda: len(arrived(listener)) > 10)
            broker.freeze()
            until(lambda: forwarder.trouble() != "")
            broker.thaw()
        until(lambda: len(arrived(listener)) == 100, 90)
    assert arrived(listener) == set(range(100))


def test_a_database_killed_and_frozen_gets_everything(folder: Path, server: Server) -> None:
    """First one, then the other, while events flow; each event is one row."""
    with forwarding(folder, postgresql(server, "moods")) as forwarder:
        with flowing(folder, 300, 10):
            until(lambda: len(rows(server, "moods")) > 20)
            server.kill()
            until(lambda: "the database does not take events" in forwarder.trouble())
            server.start()
            until(lambda: len(rows(server, "moods")) > 60)
            server.freeze()
            try:
                until(lambda: forwarder.trouble() != "", 60)
            finally:
                server.thaw()
        until(lambda: len(rows(server, "moods")) == 300, 90)
    assert rows(server, "moods") == list(range(300))


def test_one_receiver_away_does_not_hold_another_up(
    folder: Path, broker: Broker, listener: Listener
) -> None:
    """Each has its own place and its own patience; what is away later gets all."""
    away = {**mqtt(broker), "name": "away", "port": free_port()}
    with forwarding(folder, away, mqtt(broker)) as forwarder:
        with flowing(folder, 100, 2):
            pass
        until(lambda: len(arrived(listener)) == 100)
        assert "receiver away (127.0.0.1:" in forwarder.trouble()
        assert forwarder.stop() < 8
        assert forwarder.said("end")[-1]["is_drained"]


def test_a_receiver_that_is_away_costs_next_to_nothing(folder: Path) -> None:
    """No busy loop, no growing memory, no growing number of descriptors."""
    recorded(folder, range(2000))
    entry = {"kind": "mqtt", "name": "away", "host": "127.0.0.1", "port": free_port()}
    with forwarding(folder, entry) as forwarder:
        until(lambda: forwarder.trouble() != "")
        process = psutil.Process(forwarder.process.pid)
        before, descriptors = process.cpu_times(), process.num_fds()
        time.sleep(6)
        after = process.cpu_times()
        assert after.user + after.system - before.user - before.system < 2
        assert process.num_fds() <= descriptors + 3
        assert len(forwarder.said("trouble")) == 1


@pytest.fixture
def small_disk(folder: Path) -> Iterator[Path]:
    """The folder of places is a disk of one page, and full."""
    disk = folder / "forward"
    disk.mkdir()
    mount, umount = shutil.which("mount"), shutil.which("umount")
    mounting = [str(mount), "-t", "tmpfs", "-o", "size=4k", "tmpfs", str(disk)]
    is_there = mount and umount and subprocess.run(mounting, check=False).returncode == 0
    if not is_there:
        pytest.skip("a small disk cannot be mounted here: that needs root")
    (disk / "full").write_bytes(b"x" * 4096)
    yield disk
    subprocess.run([str(umount), "--lazy", str(disk)], check=True)


def test_a_full_disk_for_the_place_stops_nothing(
    folder: Path, small_disk: Path, broker: Broker, listener: Listener
) -> None:
    """A person is told, events arrive; when there is room the place is kept."""
    recorded(folder, range(50))
    with forwarding(folder, mqtt(broker)) as forwarder:
        until(lambda: len(arrived(listener)) == 50)
        until(lambda: "make room on the disk" in forwarder.trouble())
        (small_disk / "full").unlink()
        recorded(folder, [50])
        until(lambda: len(arrived(listener)) == 51)
        until(lambda: forwarder.trouble() == "")
        forwarder.kill()
        sent = len(listener.on("/event"))
        forwarder.start()
        recorded(folder, [51])
        until(lambda: len(arrived(listener)) == 52)
    assert len(listener.on("/event")) == sent + 1


def test_hours_of_events_are_caught_up_in_bites(folder: Path, server: Server) -> None:
    """20 000 events wait: all arrive, and the record can be written meanwhile."""
    recorded(folder, range(20_000))
    with forwarding(folder, postgresql(server, "backlog")):
        with closing(opened(folder)) as record:
            slowest = 0.0
            for number in range(20_000, 20_050):
                begin = time.monotonic()
                record.write([event(number)])
                slowest = max(slowest, time.monotonic() - begin)
                time.sleep(0.02)
        until(lambda: len(rows(server, "backlog")) == 20_050, 120)
    assert slowest < 0.5
