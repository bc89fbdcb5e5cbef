"""The view of a recorded line, served for real: a record on disk, the step in its thread."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from inspectd.config.schema import Line, Web
from inspectd.frame import Role
from inspectd.ports import Context, Status
from inspectd.record.archive import FOLDER_NAME
from inspectd.record.database import Run
from inspectd.record.event import utc_text
from inspectd.web.step import WebStep
from tests.process.forward_run import line_of
from tests.receivers.records import NOW, event, opened

__all__ = ["JPEG", "Served", "kept", "served"]

JPEG = b"\xff\xd8\xff\xe0 not much of a picture \xff\xd9"


class Row:
    """A process on the board."""

    role, station, status = Role.GATE, 0, Status.READY
    pid, restarts, trouble = 0, 0, ""


class Served:
    """A running view."""

    def __init__(self, folder: Path, web: Web) -> None:
        self.line: Line = replace(line_of(str(folder), []), web=web)
        self.logged: list[tuple[str, Mapping[str, Any]]] = []
        self.step = WebStep(
            self.line,
            Context(
                arenas={},
                clock=time.monotonic_ns,
                count=lambda counter, number: None,
                log=lambda level, name, **fields: self.logged.append((name, fields)),
                is_ready=lambda role, station: True,
                is_line_healthy=lambda station: True,
                run_id="run-1",
                extra={"processes": lambda: (Row(),), "model_digests": {"bottles": "d1"}},
            ),
        )
        self.url = ""
        self._clients: list[httpx.Client] = []

    def turn(self, condition: Callable[[], Any], limit_s: float = 20.0) -> None:
        """Turn the host's loop until something is so."""
        by = time.monotonic() + limit_s
        while not condition():
            assert time.monotonic() < by, (self.step.trouble(), self.logged)
            self.step.wake(time.monotonic_ns())
            time.sleep(0.02)

    def begun(self) -> None:
        """Wait until it listens."""
        self.turn(lambda: any(name == "web_listening" for name, _ in self.logged))
        self.url = next(str(f["url"]) for name, f in self.logged if name == "web_listening")

    def client(self) -> httpx.Client:
        """A browser without a cookie."""
        client = httpx.Client(base_url=self.url, verify=False, timeout=10)  # noqa: S501 - our own
        self._clients.append(client)
        return client

    def close(self) -> None:
        """End the browsers, then the view."""
        for client in self._clients:
            client.close()
        self.step.close()

    def entered(self) -> tuple[httpx.Client, dict[str, str]]:
        """A browser that has opened the page, and the headers of its changes."""
        client = self.client()
        assert client.get("/").status_code == 200
        me = client.get("/api/me").json()
        return client, {"x-csrf-token": me["csrf"]}


@contextmanager
def served(folder: Path, web: Web | None = None) -> Iterator[Served]:
    """Serve until the end of the block."""
    one = Served(folder, web or Web(listen="127.0.0.1:0"))
    with closing(one):
        one.begun()
        yield one


def kept(folder: Path, verdicts: Sequence[str]) -> None:
    """Record parts with these verdicts; every NG has its picture in the archive."""
    with closing(opened(folder)) as database:
        database.begin_run(Run("run-1", "line-1", "", "0123456789ab", utc_text(NOW)))
        for number, verdict in enumerate(verdicts, 1):
            path = f"{FOLDER_NAME}/2026-12-01/14/cam-1-{number}-{verdict}.jpg"
            if verdict == "NG":
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(JPEG)
            reason = "NONE" if verdict == "OK" else "DEFECT"
            archive = path if verdict == "NG" else None
            database.write([event(number, verdict=verdict, reason=reason, archive=archive)])
