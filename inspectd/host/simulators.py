"""The PLC simulators of a trial: started before the line, ended after its sinks.

One for each station whose `plc.simulator` is given. Its own account of the run is written beside
the record, as `plc-sim-STATION.json`.
"""

import json
import os
import select
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspectd.config.schema import (
    Line,
    ModbusIo,
    ModbusPlc,
    OutputReject,
    PlcSimulator,
    Station,
)
from inspectd.errors import PlcFault

__all__ = ["Simulator", "start_simulators"]

_START_S = 60
_STOP_S = 5
_BEAT_MS = 200.0


@dataclass(slots=True)
class Simulator:
    """One simulator at work."""

    station: int
    port: int
    """The port it listens at."""
    io_port: int | None
    """The one at which it plays the I/O module of the ejector; None: it plays none."""
    process: "subprocess.Popen[bytes]"
    report: Path

    def has_died(self) -> bool:
        """Whether it ended; it never does so by itself before it is told."""
        return self.process.poll() is not None

    def stop(self) -> dict[str, Any]:
        """End it; answer its report (what it fired and what it was told), {} when it has none."""
        self.process.terminate()
        try:
            self.process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()
        if not self.report.exists():
            return {}
        report: dict[str, Any] = json.loads(self.report.read_text(encoding="utf-8"))
        return report

    def kill(self) -> None:
        """End it at once; nothing happens when it has ended."""
        if not self.has_died():
            self.process.kill()
            self.process.wait()


def start_simulators(line: Line, part_limit: int) -> list[Simulator]:
    """Start what the station file asks for, and wait until each listens.

    Raises:
        PlcFault: one of them ended or did not listen in time.
    """
    started: list[Simulator] = []
    try:
        for index, station in enumerate(line.stations):
            if isinstance(station.plc, ModbusPlc) and station.plc.simulator is not None:
                report = Path(line.record.folder) / f"plc-sim-{station.name}.json"
                options = [
                    *_arguments(station.plc, station.plc.simulator, part_limit),
                    *_commands(station, station.plc.simulator),
                    *_belt_arguments(line, station),
                ]
                started.append(_start(index, station.plc, options, report))
    except PlcFault:
        for simulator in started:
            simulator.kill()
        raise
    return started


def _start(index: int, plc: ModbusPlc, options: Sequence[str], report: Path) -> Simulator:
    """Start one and wait for its port; an account of an earlier run is removed first."""
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    ready, said = os.pipe()
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "inspectd.host.tether", str(os.getpid()), f"plc-sim-{index}"),
            *("inspectd.plc.simulator", *options),
            *("--report", str(report), "--ready-fd", str(said)),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=(said,),
        start_new_session=True,  # Ctrl-C is not for it: it ends after the sinks
    )
    os.close(said)
    with os.fdopen(ready, "rb") as line:
        is_there = bool(select.select((line,), (), (), _START_S)[0])
        ports = line.readline().split() if is_there else []
    if not ports:
        process.kill()
        process.wait()
        raise PlcFault(
            f"{plc.host}:{plc.port}",
            "the simulator did not start",
            "see its message above; is the port in use?",
        )
    io_port = int(ports[1]) if len(ports) > 1 else None
    return Simulator(index, int(ports[0]), io_port, process, report)


def _belt_arguments(line: Line, station: Station) -> Sequence[str]:
    """Have the simulator play the belt and the I/O module, if the station wants them played."""
    reject = station.reject
    io = reject.io if isinstance(reject, OutputReject) else None
    if isinstance(io, ModbusIo) and io.simulated:
        return ("--belt", line.file, "--belt-station", station.name)
    return ()


def _commands(station: Station, simulator: PlcSimulator) -> Sequence[str]:
    """What the PLC commands; a station with recipes is not ready until one is asked for."""
    commands = simulator.commands
    if not commands and station.recipes:
        commands = (f"recipe:{station.recipes[0].number}",)
    return [f"--command={command}" for command in commands]


def _arguments(plc: ModbusPlc, simulator: PlcSimulator, part_limit: int) -> Sequence[str]:
    return (
        *("--host", plc.host, "--port", str(plc.port), "--device-id", str(plc.device_id)),
        *("--base-register", str(plc.base_register), "--word-order", plc.word_order),
        *("--rate-hz", str(simulator.rate_hz), "--scan-ms", str(simulator.scan_ms)),
        *("--byte-order", plc.byte_order, "--trigger-bits", str(plc.trigger_bits)),
        *(("--skip-zero",) if plc.trigger_skips_zero else ()),
        *("--heartbeat-ms", str(_beat_ms(plc)), "--parts", str(part_limit)),
    )


def _beat_ms(plc: ModbusPlc) -> float:
    """A PLC must beat four times within vision's watchdog, at least."""
    return max(1.0, min(_BEAT_MS, plc.plc_watchdog_ms / 5)) if plc.plc_watchdog_ms else _BEAT_MS
