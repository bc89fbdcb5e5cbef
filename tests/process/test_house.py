"""The real house on this machine, with steps of the tests: kills, stops, limits."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(120)]

_ROOT = Path(__file__).parents[2]


class _House:
    """A running line, seen from outside."""

    def __init__(self, folder: Path, parts: int) -> None:
        self.folder = folder
        self.log_path = folder / "log.jsonl"
        with self.log_path.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.process.scripted_run", str(folder), str(parts)],
                cwd=_ROOT,
                stderr=log,
            )

    def log(self) -> list[dict[str, Any]]:
        lines = self.log_path.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def verdicts(self) -> list[dict[str, Any]]:
        path = self.folder / "verdicts-0.jsonl"
        if not path.exists():
            return []
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def child(self, role: str) -> psutil.Process:
        return next(child for child in self.children() if f"--role {role} " in _command(child))

    def wait_for(self, what: Callable[[], bool], seconds: float = 60) -> None:
        until = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < until, "\n".join(map(str, self.log()))
            assert self.process.poll() is None, "\n".join(map(str, self.log()))
            time.sleep(0.05)

    def wait_until_it_runs(self) -> None:
        self.wait_for(lambda: len(self.verdicts()) > 5)

    def run_id(self) -> str:
        return str(self.log()[0]["run"])

    def is_ready_again(self, role: str) -> bool:
        ready = [e for e in self.log() if e["event"] == "process_ready" and e.get("role") == role]
        return len(ready) > 1


def _command(process: psutil.Process) -> str:
    """Its command line; empty when it has just died."""
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return ""


def _living(processes: Sequence[psutil.Process]) -> list[psutil.Process]:
    """Those that neither are gone nor only wait for somebody to collect their exit code."""
    return [process for process in processes if not _is_dead(process)]


def _is_dead(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _has_sockets(run_id: str) -> bool:
    """A dead process's threads may let go of its sockets a moment after it counts as dead."""
    return run_id in Path("/proc/net/unix").read_text(encoding="utf-8")


@pytest.fixture
def house(tmp_path: Path) -> Iterator[_House]:
    """A line without an end."""
    made = _House(tmp_path, 0)
    yield made
    made.process.kill()
    made.process.wait()


def test_a_run_of_so_many_parts_ends_by_itself(tmp_path: Path) -> None:
    """Exit 0, one verdict per part, in order."""
    made = _House(tmp_path, 50)
    assert made.process.wait(90) == 0
    assert [verdict["trigger"] for verdict in made.verdicts()] == list(range(50))


@pytest.mark.parametrize("role", ["camera", "gate", "infer", "judge", "sink", "record"])
def test_a_killed_process_comes_back_and_the_line_goes_on(house: _House, role: str) -> None:
    """Whoever is killed: OK parts leave again, no trigger has two verdicts, no slot is lost."""
    house.wait_until_it_runs()
    house.child(role).kill()
    house.wait_for(lambda: house.is_ready_again(role))
    seen = len(house.verdicts())
    house.wait_for(lambda: [v["verdict"] for v in house.verdicts()[seen:]][-20:] == ["OK"] * 20)
    triggers = Counter(verdict["trigger"] for verdict in house.verdicts())
    assert set(triggers.values()) == {1}


def test_parts_inside_a_killed_process_are_rejected(house: _House) -> None:
    """While nobody infers, parts are LATE or FAULT, and never OK."""
    house.wait_until_it_runs()
    house.child("infer").suspend()
    house.wait_for(lambda: any(v["verdict"] != "OK" for v in house.verdicts()))
    house.child("infer").kill()
    house.wait_for(lambda: house.is_ready_again("infer"))
    assert {v["verdict"] for v in house.verdicts()} <= {"OK", "LATE", "FAULT"}
    assert any(v["reason"] in {"PROCESS_LOST", "DEADLINE_PASSED"} for v in house.verdicts())


def test_nothing_is_left_after_the_supervisor_is_killed(house: _House) -> None:
    """Kill -9 at the worst moment: no process and no socket a second later; memory has no name."""
    house.wait_until_it_runs()
    children = house.children()
    run_id = house.run_id()
    assert len(children) == 6
    assert _has_sockets(run_id)
    house.process.kill()
    house.process.wait()
    until = time.monotonic() + 1
    while time.monotonic() < until and (_living(children) or _has_sockets(run_id)):
        time.sleep(0.01)
    assert _living(children) == []
    assert not _has_sockets(run_id)
    assert not [name for name in os.listdir("/dev/shm") if "inspectd" in name]  # noqa: PTH208


def test_sigterm_drains_in_the_order_of_the_journey(house: _House) -> None:
    """The camera first, the record last; every part that was triggered has its verdict."""
    house.wait_until_it_runs()
    house.process.send_signal(signal.SIGTERM)
    assert house.process.wait(60) == 0
    ended = [e["role"] for e in house.log() if e["event"] == "process_ended"]
    assert ended == ["camera", "gate", "infer", "judge", "sink", "record"]
    triggers = [verdict["trigger"] for verdict in house.verdicts()]
    assert triggers == list(range(len(triggers)))
    assert {verdict["verdict"] for verdict in house.verdicts()[5:]} == {"OK"}


def test_a_second_signal_ends_at_once(house: _House) -> None:
    """Also when a process hangs and would use its whole time to finish."""
    house.wait_until_it_runs()
    house.child("judge").suspend()
    house.process.send_signal(signal.SIGINT)
    house.wait_for(lambda: any(e["event"] == "line_stopping" for e in house.log()))
    begin = time.monotonic()
    house.process.send_signal(signal.SIGINT)
    house.process.wait(60)
    assert time.monotonic() - begin < 4


def test_a_process_that_stands_still_is_killed_and_restarted(house: _House) -> None:
    """It lives, but does not move: that is no life."""
    house.wait_until_it_runs()
    house.child("gate").suspend()
    house.wait_for(lambda: any(e["event"] == "process_stalled" for e in house.log()))
    house.wait_for(lambda: house.is_ready_again("gate"))


def test_a_process_that_dies_again_and_again_stops_the_line(house: _House) -> None:
    """Loudly, with exit 1: the budget of restarts has an end."""
    house.wait_until_it_runs()
    until = time.monotonic() + 90
    while house.process.poll() is None and time.monotonic() < until:
        for child in house.children():
            if "--role judge " in _command(child):
                child.kill()
        time.sleep(0.05)
    assert house.process.wait(10) == 1
    assert house.log()[-1]["why"] == "judge died too often"
