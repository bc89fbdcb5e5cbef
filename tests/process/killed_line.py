"""A line whose PLC is a process of its own, kills at random moments, and the books held together.

The simulated PLC outlives every kill, so its account is the truth: each verdict that it took must
be in the record, once, the same, and in the same order.
"""

import itertools
import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import cv2
import numpy as np
import psutil

__all__ = ["Audit", "KilledLine", "audited", "command_of", "gaps", "pictures_in"]

_ROOT = Path(__file__).parents[2]
_FILE = """
line: trial
engine: {{kind: scripted, base_ms: 4, per_frame_ms: 2}}
models:
  - {{name: none, path: {model}}}
record: {{folder: {folder}/record, min_free_mb: 0}}
stations:
  - name: one
    cycle_ms: 50
    slots: 40
    deadline_ms: 1500
    budget: {{camera_ms: 300, gate_ms: 300, infer_ms: 300, judge_ms: 300, sink_ms: 300}}
    trigger: {trigger}
    camera: {{kind: replay, path: {folder}/pictures, width_px: 64, height_px: 64}}
    model: none
    rules:
      - {{kind: forbid, name: none_there, labels: [Cap], min_score: 0.5}}
    plc: {plc}
"""


class Event(NamedTuple):
    """One row of the record."""

    run_id: str
    trigger_id: int
    verdict: str
    sent_ns: int
    detail: str


def command_of(process: psutil.Process) -> str:
    """Its command line; empty when it has just died."""
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return ""


def pictures_in(folder: Path) -> None:
    """A few pictures to replay."""
    pictures = folder / "pictures"
    pictures.mkdir()
    noise = np.random.default_rng(3)
    for i in range(7):
        cv2.imwrite(str(pictures / f"{i}.png"), noise.integers(0, 256, (64, 64, 3), np.uint8))


@dataclass
class KilledLine:
    """`inspectd run`, started as often as it takes, in one folder."""

    folder: Path
    port: int
    """Of the PLC; 0: the station triggers itself, and has none."""
    process: "subprocess.Popen[bytes] | None" = None
    starts: int = 0
    manager: socket.socket | None = None
    """A service manager that keeps descriptors; None: there is none."""
    kept: dict[str, list[int]] = field(default_factory=dict)
    """What it keeps, by name."""

    def start(self) -> None:
        """Start it, and wait until parts are recorded."""
        seen = len(self.events())
        self.starts += 1
        with (self.folder / f"log-{self.starts}.jsonl").open("wb") as log:
            self.process = self._started(log)
        self.wait_for(lambda: len(self.events()) > seen + 3)

    def _started(self, log: BinaryIO) -> "subprocess.Popen[bytes]":
        """As systemd starts a service: kept descriptors from 3 on, and variables that name them."""
        command = [sys.executable, "-m", "inspectd", "run", str(self._file()), "--quiet"]
        kept = [(name, fd) for name, fds in self.kept.items() for fd in fds]
        environment = dict(os.environ)
        if self.manager is not None:
            environment["NOTIFY_SOCKET"] = self.manager.getsockname()
        if kept:
            moves = " ".join(f"{3 + i}<&{fd}" for i, (_, fd) in enumerate(kept))
            environment["LISTEN_FDS"] = str(len(kept))
            environment["LISTEN_FDNAMES"] = ":".join(name for name, _ in kept)
            shell = f'exec {moves}; export LISTEN_PID=$$; exec "$@"'
            command = ["bash", "-c", shell, "line", *command]
        return subprocess.Popen(
            command,
            cwd=_ROOT,
            stdout=subprocess.DEVNULL,
            stderr=log,
            env=environment,
            pass_fds=[fd for _, fd in kept],
        )

    @contextmanager
    def managed(self) -> Iterator[None]:
        """Under a service manager that keeps descriptors, and does what it is asked for."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as self.manager:
            self.manager.bind(str(self.folder / "notify"))
            self.manager.settimeout(0.1)
            is_over = threading.Event()
            thread = threading.Thread(target=self._manage, args=(self.manager, is_over.is_set))
            thread.start()
            try:
                yield
            finally:
                is_over.set()
                thread.join()

    def _manage(self, manager: socket.socket, is_over: Callable[[], bool]) -> None:
        while not is_over():
            with suppress(TimeoutError):
                text, fds, _, _ = socket.recv_fds(manager, 4096, 16)
                said = dict(line.split("=", 1) for line in text.decode().splitlines())
                if "FDSTORE" in said:
                    self.kept.setdefault(said["FDNAME"], []).extend(fds)
                elif "FDSTOREREMOVE" in said:
                    for fd in self.kept.pop(said["FDNAME"], []):
                        os.close(fd)

    def kill_all(self, luck: random.Random) -> None:
        """Kill all processes of the line at one moment, the record as well."""
        assert self.process is not None
        children = psutil.Process(self.process.pid).children(recursive=True)
        time.sleep(luck.uniform(0.0, 0.3))
        record = next(child for child in children if "--role record " in command_of(child))
        for victim in (record, *children):
            victim.kill()
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """Ask it to stop, and wait for a clean end."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0, self.said()

    def kill(self, role: str, luck: random.Random) -> None:
        """Kill a process of the line at a random moment; return when parts are recorded again."""
        victim = self.child(role)
        time.sleep(luck.uniform(0.0, 0.3))
        victim.kill()
        self.child(role, but=victim.pid)
        seen = len(self.events())
        self.wait_for(lambda: len(self.events()) > seen + 3)

    def kill_supervisor(self, luck: random.Random) -> float:
        """Kill the supervisor at a random moment; answer how long the last process lived on."""
        assert self.process is not None
        children = psutil.Process(self.process.pid).children(recursive=True)
        time.sleep(luck.uniform(0.0, 0.3))
        self.process.kill()
        begin = time.monotonic()
        self.process.wait()
        while any(_is_alive(child) for child in children):
            assert time.monotonic() < begin + 5
            time.sleep(0.005)
        return time.monotonic() - begin

    def child(self, role: str, but: int = 0) -> psutil.Process:
        """The living process of a role, other than the one that was killed."""
        found: list[psutil.Process] = []

        def look() -> bool:
            found[:] = [one for one in self._children(role) if one.pid != but]
            return bool(found)

        self.wait_for(look)
        return found[0]

    def events(self) -> list[Event]:
        """What the record knows, in its order."""
        database = self.folder / "record" / "events.sqlite"
        if not database.exists():
            return []
        query = "SELECT run_id, trigger_id, verdict, sent_ns, detail FROM events ORDER BY sequence"
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            try:
                return [Event(*row) for row in connection.execute(query)]
            except sqlite3.OperationalError:
                return []

    def wait_for(self, what: Callable[[], bool], seconds: float = 60) -> None:
        """Wait until it is so, while the line lives."""
        until = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < until, self.said()
            assert self.process is None or self.process.poll() is None, self.said()
            time.sleep(0.02)

    def said(self) -> str:
        """The end of the log of the last start."""
        file = self.folder / f"log-{self.starts}.jsonl"
        return file.read_text(encoding="utf-8")[-4000:] if file.exists() else ""

    def _children(self, role: str) -> list[psutil.Process]:
        assert self.process is not None
        children = psutil.Process(self.process.pid).children(recursive=True)
        return [child for child in children if f"--role {role} " in command_of(child)]

    def _file(self) -> Path:
        file = self.folder / "line.yaml"
        plc = f"{{kind: modbus, port: {self.port}}}" if self.port else "{kind: none}"
        trigger = "{kind: plc, poll_ms: 2}" if self.port else "{kind: timer, rate_hz: 20}"
        model = _ROOT / "inspectd" / "models" / "bottle_cap"
        text = _FILE.format(folder=self.folder, model=model, plc=plc, trigger=trigger)
        file.write_text(text, encoding="utf-8")
        return file


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@contextmanager
def audited(
    folder: Path, rate_hz: float = 20
) -> Iterator[tuple[KilledLine, Callable[[], "Audit"]]]:
    """A PLC, a line for it, and the audit to call when the line has ended."""
    pictures_in(folder)
    report = folder / "plc.json"
    ready, said = os.pipe()
    plc = subprocess.Popen(
        [
            *(sys.executable, "-m", "inspectd.plc.simulator", "--port", "0", "--die-with-parent"),
            *("--rate-hz", str(rate_hz), "--ready-fd", str(said), "--report", str(report)),
            *("--window-ms", "20000"),
        ],
        cwd=_ROOT,
        pass_fds=(said,),
        stdout=subprocess.DEVNULL,
    )
    os.close(said)
    with os.fdopen(ready) as line:
        port = int(line.readline())
    made = KilledLine(folder, port)

    def audit() -> Audit:
        plc.send_signal(signal.SIGTERM)
        plc.wait(30)
        return Audit(json.loads(report.read_text(encoding="utf-8")), made.events())

    try:
        yield made, audit
    finally:
        for process in (made.process, plc):
            if process is not None:
                process.kill()
                process.wait()


class Audit:
    """The PLC's account and the record, side by side."""

    def __init__(self, report: dict[str, Any], events: list[Event]) -> None:
        self.report = report
        self.taken = [(one["trigger_id"], one["verdict"]) for one in report["verdicts"]]
        self.events = events
        self.sent = [(event.trigger_id, event.verdict) for event in events if event.sent_ns]
        self.doubtful = [
            (event.trigger_id, event.verdict) for event in events if '"doubt"' in event.detail
        ]

    def differences(self) -> list[str]:
        """Everything in which the two disagree; a verdict in doubt may be missing at the PLC."""
        told = [one for one in self.sent if one not in self.doubtful or one in self.taken]
        faults = [
            f"{kind}: {self.report[kind]}"
            for kind in ("duplicates", "out_of_order", "unknown")
            if self.report[kind]
        ]
        if told != self.taken:
            faults.append(f"PLC only: {_without(self.taken, told)}")
            faults.append(f"record only: {_without(told, self.taken)}")
            if sorted(told) == sorted(self.taken):
                at = next(
                    i for i, (a, b) in enumerate(zip(told, self.taken, strict=True)) if a != b
                )
                faults.append(f"order from {at}: {told[at : at + 5]}, {self.taken[at : at + 5]}")
        ids = [event.trigger_id for event in self.events]
        twice = sorted({key for key in ids if ids.count(key) > 1})
        if twice:
            faults.append(f"more than one row: {twice}")
        return faults

    def gaps(self) -> list[tuple[int, int]]:
        """See `gaps`: triggers fired while no line was there are nobody's."""
        return gaps(self.events)

    def unrecorded(self) -> list[int]:
        """Triggers that the PLC fired and the record knows nothing of."""
        known = {event.trigger_id for event in self.events}
        return [key for key in range(1, self.report["fired"] + 1) if key not in known]


def gaps(events: list[Event]) -> list[tuple[int, int]]:
    """Where, within a run, a part is not followed by the next one: each with what came instead."""
    steps = itertools.pairwise(events)
    pairs = [(a.trigger_id, b.trigger_id) for a, b in steps if a.run_id == b.run_id]
    return [(first, then) for first, then in pairs if then != first + 1]


def _without(some: list[tuple[int, str]], others: list[tuple[int, str]]) -> list[tuple[int, str]]:
    rest = list(others)
    answer = []
    for one in some:
        if one in rest:
            rest.remove(one)
        else:
            answer.append(one)
    return answer
