"""Real receivers on this machine, mosquitto and PostgreSQL: started, frozen, killed by tests."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion

__all__ = ["Broker", "Listener", "Server", "free_port", "until"]

_MOSQUITTO = shutil.which("mosquitto", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
_POSTGRES = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))

_OPEN = "allow_anonymous true\nmax_inflight_messages 1000\nmax_queued_messages 0"
"""Whoever listens is sent everything at once, so that a kill takes nothing of it."""


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until(what: Callable[[], object], seconds: float = 30) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.02)


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.5):
        return True
    return False


class Broker:
    """A mosquitto of our own."""

    def __init__(self, folder: Path, settings: str = _OPEN) -> None:
        if _MOSQUITTO is None:
            pytest.skip("there is no mosquitto here: apt-get install mosquitto")
        self.port = free_port()
        self._config = folder / "mosquitto.conf"
        self._log = folder / "mosquitto.log"
        me = psutil.Process().username()
        self._config.write_text(
            f"user {me}\nlistener {self.port} 127.0.0.1\n"
            f"persistence true\npersistence_location {folder}/\n{settings}\n",
            encoding="utf-8",
        )
        self.start()

    def start(self) -> None:
        """Start, and wait until it listens."""
        with self._log.open("ab") as log:
            command = [str(_MOSQUITTO), "-c", str(self._config)]
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        until(lambda: _answers(self.port) or self.process.poll() is not None)
        assert self.process.poll() is None, self._log.read_text(encoding="utf-8")

    def save(self) -> None:
        """Have it write its sessions to disk, so that they are there after a kill."""
        self.process.send_signal(signal.SIGUSR1)
        time.sleep(0.3)

    def kill(self) -> None:
        """Kill -9."""
        self.process.kill()
        self.process.wait()

    def freeze(self) -> None:
        """It is there, and does nothing."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """It goes on."""
        self.process.send_signal(signal.SIGCONT)


class Listener:
    """Somebody who reads everything of a broker, with a session that outlives the connection."""

    def __init__(self, port: int, **login: str) -> None:
        self.messages: list[tuple[str, bytes, bool]] = []
        self._client = Client(
            CallbackAPIVersion.VERSION2, client_id=f"listener-{port}", clean_session=False
        )
        if login:
            self._client.username_pw_set(**login)
        self._client.reconnect_delay_set(1, 1)
        self._client.on_message = self._take
        self._client.connect("127.0.0.1", port)
        self._client.subscribe("#", 1)
        self._client.loop_start()
        until(self._client.is_connected)
        time.sleep(0.2)

    def on(self, ending: str) -> list[bytes]:
        """What came on topics with an ending."""
        return [payload for topic, payload, _ in self.messages if topic.endswith(ending)]

    def close(self) -> None:
        """Go away."""
        self._client.loop_stop()
        self._client.disconnect()

    def _take(self, _client: object, _userdata: object, message: Any) -> None:
        self.messages.append((message.topic, message.payload, message.retain))


class Server:
    """A PostgreSQL of our own, without a disk's slowness."""

    def __init__(self) -> None:
        if not _POSTGRES:
            pytest.skip("there is no PostgreSQL server here: apt-get install postgresql")
        self._bin = _POSTGRES[-1].parent
        self.port = free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="inspectd-pg-"))
        self._as: list[str] = []
        if os.geteuid() == 0:  # the server refuses to run as root
            shutil.chown(self.folder, "postgres", "postgres")
            self._as = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        secret = self.folder / "secret"
        secret.write_text("sesame\n", encoding="utf-8")
        secret.chmod(0o644)
        subprocess.run(
            [
                *self._as,
                *(
                    str(self._bin / "initdb"),
                    "--no-sync",
                    "--username=boss",
                    "--auth=scram-sha-256",
                ),
                *(
                    "--encoding=UTF8",
                    "--no-locale",
                    f"--pwfile={secret}",
                    str(self.folder / "data"),
                ),
            ],
            check=True,
            capture_output=True,
        )
        self.start()
        with self.open() as connection:
            connection.execute("CREATE ROLE writer LOGIN PASSWORD 'write'")

    @property
    def dsn(self) -> str:
        """For the role `writer`, without its password."""
        return f"host=127.0.0.1 port={self.port} dbname=postgres user=writer"

    def open(self) -> "psycopg.Connection[Any]":
        """As the administrator."""
        return psycopg.connect(
            f"host=127.0.0.1 port={self.port} dbname=postgres user=boss password=sesame",
            autocommit=True,
        )

    def start(self) -> None:
        """Start, and wait until it answers."""
        settings = [
            "fsync=off",
            "listen_addresses=127.0.0.1",
            f"unix_socket_directories={self.folder}",
        ]
        options = [word for setting in settings for word in ("-c", setting)]
        with (self.folder / "log").open("ab") as log:
            where = ("-D", str(self.folder / "data"), "-p", str(self.port))
            command = [*self._as, str(self._bin / "postgres"), *where, *options]
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        until(self._is_up)

    def kill(self) -> None:
        """Kill -9, every process of it."""
        for process in self._all():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self.process.wait()
        (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)

    def freeze(self) -> None:
        """It is there, and does nothing."""
        for process in self._all():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.suspend()

    def thaw(self) -> None:
        """It goes on."""
        for process in self._all():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.resume()

    def close(self) -> None:
        """End it, leave nothing."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _all(self) -> Iterator[psutil.Process]:
        parent = psutil.Process(self.process.pid)
        yield from (parent, *parent.children(recursive=True))

    def _is_up(self) -> bool:
        with contextlib.suppress(psycopg.OperationalError), self.open():
            return True
        return False
