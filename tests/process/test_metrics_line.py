"""A whole line with its exporter: scraped, stalled by slow scrapers, killed."""

import http.client
import json
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import psutil
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from inspectd.metrics.shipped import SHIPPED
from tests.receivers.peers import free_port, until

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(180)]

_ROOT = Path(__file__).parents[2]
_FILE = """
line: trial
engine: {{kind: scripted, base_ms: 4, per_frame_ms: 2}}
models: [{{name: none, path: {model}}}]
record: {{folder: {folder}/record, min_free_mb: 0}}
metrics: {{listen: "127.0.0.1:{port}"}}
stations:
  - name: one
    cycle_ms: 50
    slots: 24
    deadline_ms: 1000
    budget: {{camera_ms: 200, gate_ms: 200, infer_ms: 200, judge_ms: 200, sink_ms: 200}}
    trigger: {{kind: timer, rate_hz: 20}}
    camera: {{kind: replay, path: {folder}/pictures, width_px: 64, height_px: 64}}
    model: none
    rules: [{{kind: forbid, name: none_there, labels: [Cap], min_score: 0.5}}]
    plc: {plc}
"""


class _Run:
    """`inspectd run`, seen from outside."""

    def __init__(self, folder: Path, plc: str, *options: str) -> None:
        (folder / "pictures").mkdir()
        noise = np.random.default_rng(3).integers(0, 256, (64, 64, 3), np.uint8)
        cv2.imwrite(str(folder / "pictures" / "0.png"), noise)
        self.port = free_port()
        self.file = folder / "line.yaml"
        model = _ROOT / "inspectd" / "models" / "bottle_cap"
        text = _FILE.format(folder=folder, model=model, port=self.port, plc=plc)
        self.file.write_text(text, encoding="utf-8")
        self._log = folder / "log.jsonl"
        self._database = folder / "record" / "events.sqlite"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "inspectd", "run", str(self.file), *options],
                cwd=_ROOT,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )

    def log(self, event: str) -> list[dict[str, Any]]:
        """What was logged of an event."""
        lines = self._log.read_text(encoding="utf-8").splitlines()
        entries = [json.loads(line) for line in lines if line.startswith("{")]
        return [entry for entry in entries if entry["event"] == event]

    def member(self, role: str) -> psutil.Process | None:
        """A process, when it lives."""
        with suppress(psutil.Error):
            for child in psutil.Process(self.process.pid).children(recursive=True):
                if f"--role {role} " in " ".join(child.cmdline()):
                    return child
        return None

    def recorded(self) -> int:
        """Events in the record."""
        with closing(sqlite3.connect(self._database)) as database:
            return int(database.execute("SELECT count(*) FROM events").fetchone()[0])

    def total_ms(self) -> list[float]:
        """Trigger to verdict of all parts."""
        with closing(sqlite3.connect(self._database)) as database:
            rows = database.execute("SELECT total_ms FROM events ORDER BY sequence").fetchall()
        return [row[0] for row in rows]

    def values(self, name: str) -> dict[tuple[str, ...], float]:
        """The series of a metric by the values of their labels; empty: it does not answer."""
        with suppress(OSError, http.client.HTTPException):
            with closing(
                http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            ) as connection:
                connection.request("GET", "/metrics")
                answer = connection.getresponse()
                text = answer.read().decode() if answer.status == http.client.OK else ""
            return {
                tuple(sample.labels.values()): sample.value
                for family in text_string_to_metric_families(text)
                for sample in family.samples
                if sample.name == name
            }
        return {}

    def parts(self) -> float:
        """Parts that the exporter has counted."""
        return sum(self.values("inspectd_parts_total").values())


@contextmanager
def running(folder: Path, plc: str = "{kind: none}", *options: str) -> Iterator[_Run]:
    """A line that is gone at the end."""
    run = _Run(folder, plc, *options)
    try:
        yield run
    finally:
        run.process.kill()
        run.process.wait()


def test_the_figures_are_those_of_the_record(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Every part once, also while slow scrapers hold all doors; a kill costs the line nothing."""
    with running(tmp_path) as run:
        until(lambda: run.parts() > 20, 60)
        command = [sys.executable, "-m", "inspectd", "metrics", str(run.file)]
        subprocess.run(command, cwd=_ROOT, check=True)
        assert "# TYPE inspectd_parts_total counter" in capfd.readouterr().out
        with ExitStack() as rest:
            for _ in range(30):
                peer = socket.create_connection(("127.0.0.1", run.port))
                rest.enter_context(peer)
                with suppress(OSError):
                    peer.sendall(b"GET /metrics HTTP/1.1\r\nX: ")
            before = run.recorded()
            until(lambda: run.recorded() > before + 40)
            until(lambda: run.parts() > 0)  # the slow ones were cut
        assert max(run.total_ms()) < 1000
        counted = run.values("inspectd_stage_duration_seconds_count")
        assert counted[("trial", "total", "one")] > before
        victim = run.member("metrics")
        assert victim is not None
        victim.kill()
        victim.wait()
        until(lambda: run.values("inspectd_process_restarts_total").get(("trial", "metrics", "")))
        until(lambda: 0 < run.parts() < before)  # a counter that began with 0 again
        run.process.send_signal(signal.SIGTERM)
        assert run.process.wait(60) == 0
    assert [entry["role"] for entry in run.log("process_ended")][-2:] == ["record", "metrics"]
    assert not run.log("process_late")
    command = [sys.executable, "-m", "inspectd", "metrics", str(run.file)]
    assert subprocess.run(command, cwd=_ROOT, check=False).returncode == 2
    assert "does not answer" in capfd.readouterr().err


_PROMETHEUS = """
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{rules}]
scrape_configs:
  - {{job_name: inspectd, static_configs: [{{targets: ["127.0.0.1:{line}"]}}]}}
alerting:
  alertmanagers: [{{static_configs: [{{targets: ["127.0.0.1:{manager}"]}}]}}]
"""


def _fetched(port: int, path: str) -> Any:
    """JSON of an answer; None: there is none yet."""
    with (
        suppress(OSError, http.client.HTTPException, ValueError),
        closing(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) as connection,
    ):
        connection.request("GET", path)
        return json.loads(connection.getresponse().read())
    return None


@contextmanager
def _program(folder: Path, name: str, *options: str) -> Iterator[None]:
    """A real Prometheus or Alertmanager."""
    path = shutil.which(name)
    assert path is not None
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen([path, *options], cwd=folder, stdout=log, stderr=log)
    try:
        yield
    finally:
        process.kill()
        process.wait()


@contextmanager
def _monitoring(folder: Path, line_port: int) -> Iterator[Callable[[], dict[str, str]]]:
    """Both of them with the shipped rules; answers the alerts that reached the manager."""
    port, manager = free_port(), free_port()
    # only the patience is shortened: the rules' expressions are those that are shipped
    rules = yaml.safe_load(SHIPPED[0].read_text(encoding="utf-8"))
    for rule in rules["groups"][0]["rules"]:
        rule["for"] = "2s"
    (folder / "rules.yaml").write_text(yaml.safe_dump(rules), encoding="utf-8")
    text = _PROMETHEUS.format(rules=folder / "rules.yaml", line=line_port, manager=manager)
    (folder / "prometheus.yml").write_text(text, encoding="utf-8")
    settings = {"route": {"receiver": "nobody"}, "receivers": [{"name": "nobody"}]}
    (folder / "alertmanager.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")

    def firing() -> dict[str, str]:
        found = _fetched(manager, "/api/v2/alerts") or []
        return {one["labels"]["alertname"]: one["annotations"]["summary"] for one in found}

    with (
        _program(
            folder,
            "prometheus-alertmanager",
            f"--config.file={folder}/alertmanager.yml",
            f"--storage.path={folder}/manager",
            f"--web.listen-address=127.0.0.1:{manager}",
            "--cluster.listen-address=",
        ),
        _program(
            folder,
            "prometheus",
            f"--config.file={folder}/prometheus.yml",
            f"--storage.tsdb.path={folder}/tsdb",
            f"--web.listen-address=127.0.0.1:{port}",
            "--rules.alert.resend-delay=1s",
        ),
    ):
        until(lambda: (_fetched(port, "/api/v1/targets") or {}).get("data"), 60)
        until(lambda: _fetched(manager, "/api/v2/status"), 60)
        yield firing


@pytest.mark.long
@pytest.mark.timeout(300)
def test_alerts_fire_and_resolve_through_real_prometheus_and_alertmanager(tmp_path: Path) -> None:
    """The PLC goes and comes back, a process dies, the line ends: each alert, with its words."""
    for name in ("prometheus", "prometheus-alertmanager"):
        if shutil.which(name) is None:
            pytest.skip(f"there is no {name} here: apt-get install {name}")
    plc_port = free_port()
    plc = f"{{kind: modbus, host: 127.0.0.1, port: {plc_port}}}"
    with ExitStack() as rest:
        simulator = rest.enter_context(_simulated(plc_port))
        run = rest.enter_context(running(tmp_path, plc))
        until(lambda: run.parts() > 20, 90)
        firing = rest.enter_context(_monitoring(tmp_path, run.port))
        time.sleep(10)
        assert firing() == {}

        simulator.kill()
        simulator.wait()
        until(lambda: {"InspectdPlcLost", "InspectdStationNotReady"} <= set(firing()), 60)
        assert firing()["InspectdPlcLost"].startswith("trial/one: the PLC does not answer")
        rest.enter_context(_simulated(plc_port))
        until(lambda: not {"InspectdPlcLost", "InspectdStationNotReady"} & set(firing()), 90)

        victim = run.member("gate")
        assert victim is not None
        victim.kill()
        until(lambda: "InspectdProcessRestarted" in firing(), 60)
        assert firing()["InspectdProcessRestarted"].startswith("trial: process gate one died")

        run.process.send_signal(signal.SIGTERM)
        assert run.process.wait(60) == 0
        until(lambda: "InspectdExporterDown" in firing(), 60)


@contextmanager
def _simulated(port: int) -> Iterator["subprocess.Popen[bytes]"]:
    """A PLC that only listens: the camera triggers by itself."""
    command = [sys.executable, "-m", "inspectd", "plc-sim", "--port", str(port)]
    process = subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
