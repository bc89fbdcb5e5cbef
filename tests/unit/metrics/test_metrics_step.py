"""The exporter's process: looks once a second, serves, and says what is in the way."""

import http.client
import socket
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspectd.config.schema import Metrics
from inspectd.frame import Role
from inspectd.metrics import checks
from inspectd.metrics.step import BIND_NS, LOOK_NS, MetricsStep, build
from inspectd.ports import Counter
from tests.receivers.peers import free_port
from tests.receivers.records import recorded
from tests.unit.record.conftest import Desk

pytestmark = pytest.mark.slow


class _Line:
    """A line with an exporter, and the time."""

    def __init__(self, folder: Path) -> None:
        desk = Desk(folder)
        self.desk = desk
        self.now_ns = 10**9
        self.port = free_port()
        self.logged: list[str] = []
        metrics = Metrics(listen=f"127.0.0.1:{self.port}")
        self.line = replace(desk.line(), metrics=metrics)
        state = SimpleNamespace(
            role=Role.SINK, station=0, pid=0, restarts=2, counters=(3,) * len(Counter)
        )
        self.context = replace(
            desk.context,
            clock=lambda: self.now_ns,
            log=lambda _level, event, **_fields: self.logged.append(event),
            run_id="run-1",
            arenas={0: desk.arena},
            is_line_healthy=lambda _station: True,
            is_ready=lambda _role, _station: True,
            extra={"processes": lambda: (state,), "model_digests": {"bottles": "d1"}},
        )

    def step(self) -> MetricsStep:
        """As the host makes it."""
        made = build(self.line, -1, self.context)
        assert isinstance(made, MetricsStep)
        return made

    def scrape(self) -> str:
        """What Prometheus gets."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)) as connection:
            connection.request("GET", "/metrics")
            return connection.getresponse().read().decode()


@pytest.fixture
def line(tmp_path: Path) -> Any:
    """With three events in its record."""
    recorded(tmp_path, range(3))
    made = _Line(tmp_path)
    yield made
    made.desk.arena.close()


def test_a_look_is_served(line: _Line) -> None:
    """Board, slots, record, disk: all on one page."""
    loan = line.desk.arena.loan(1)
    assert loan is not None
    with closing(line.step()) as step:
        step.wake(line.now_ns)
        assert step.wake_at_ns() == line.now_ns + LOOK_NS
        text = line.scrape()
        assert (step.trouble(), line.logged) == ("", ["metrics_serving"])
    name, station = line.line.line, line.line.stations[0].name
    at = f'line="{name}",'
    assert f'inspectd_slots_in_use{{{at}role="camera",station="{station}"}} 1.0' in text
    assert f'inspectd_station_ready{{{at}station="{station}"}} 1.0' in text
    assert f'inspectd_process_restarts_total{{{at}role="sink",station="{station}"}} 2.0' in text
    assert f'inspectd_parts_late_total{{{at}role="sink",station="{station}"}} 3.0' in text
    assert 'verdict="NG"} 3.0' in text
    assert f'inspectd_exporter_record_readable{{line="{name}"}} 1.0' in text
    assert "inspectd_record_disk_free_bytes{" in text
    assert 'inspectd_process_cpu_seconds_total{line="' in text


def test_an_address_that_is_taken_is_trouble_until_it_is_free(line: _Line) -> None:
    """The process lives on, says so, and tries again."""
    with closing(line.step()) as step:
        with socket.create_server(("127.0.0.1", line.port)):
            step.wake(line.now_ns)
            assert "in use; end its owner, or change metrics.listen" in step.trouble()
        line.now_ns += BIND_NS
        step.wake(line.now_ns)
        assert step.trouble() == ""
        assert "inspectd_build_info" in line.scrape()


def test_without_its_library_it_says_what_to_install(
    line: _Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line runs; `inspectd check` would have said it before."""
    for name in [name for name in sys.modules if name.startswith("prometheus_client")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("inspectd.metrics.text", "inspectd.metrics.server"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with closing(line.step()) as step:
        step.wake(line.now_ns)
        assert "pip install 'inspectd[metrics]'" in step.trouble()
    monkeypatch.setattr(checks, "find_spec", lambda _name: None)
    ((key, what),) = checks.check(line.line)
    assert key == "metrics"
    assert what.endswith("pip install 'inspectd[metrics]'")


def test_it_holds_nothing_and_is_told_nothing(line: _Line) -> None:
    """It ends when it is asked to."""
    with closing(line.step()) as step:
        assert step.stop(line.now_ns) == ()
        assert step.is_drained()
