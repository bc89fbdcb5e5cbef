"""The simulated PLCs of a campaign: processes that see the line die and come back."""

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from inspectd.chaos.books import PlcBook
from inspectd.chaos.station import Place
from inspectd.errors import PlcFault
from inspectd.plc.book import Entry, read_line

__all__ = ["PlayedPlc"]

_START_S = 60
_STOP_S = 10


class PlayedPlc:
    """One PLC; its book is read as it is written."""

    def __init__(self, place: Place, folder: Path, window_ms: float, rate_hz: float) -> None:
        """Start it, and wait until it listens.

        Raises:
            PlcFault: It does not.
        """
        self.place, self.rate_hz = place, rate_hz
        self.book = PlcBook()
        self._book_path = folder / f"plc-{place.name}.jsonl"
        self._report_path = folder / f"plc-{place.name}.json"
        self._read_bytes = 0
        self._is_frozen = False
        plc = place.plc
        ready, said = os.pipe()
        rates, self._rate_fd = os.pipe()
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "inspectd.host.tether", str(os.getpid())),
                *(f"plc-sim-{place.index}", "inspectd.plc.simulator"),
                *("--port", "0", "--device-id", str(plc.device_id)),
                *("--base-register", str(plc.base_register), "--word-order", plc.word_order),
                *("--rate-hz", str(rate_hz), "--scan-ms", str(place.scan_ms)),
                *("--window-ms", str(window_ms), "--stale-ms", str(5 * plc.heartbeat_ms)),
                *("--report", str(self._report_path), "--book", str(self._book_path)),
                *("--ready-fd", str(said), "--rate-fd", str(rates)),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=(said, rates),
            start_new_session=True,  # Ctrl-C is not for it: it ends after the line
        )
        os.close(said)
        os.close(rates)
        self.port = self._await_port(ready)

    def set_rate(self, rate_hz: float) -> None:
        """Change the parts a second; 0: none."""
        os.write(self._rate_fd, f"{rate_hz}\n".encode())

    def freeze(self) -> None:
        """Stop the whole process: connections stay, nothing is answered or scanned."""
        self._is_frozen = True
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        if self._is_frozen:
            self._is_frozen = False
            self.process.send_signal(signal.SIGCONT)

    def read(self) -> PlcBook:
        """Take up what has been written since; a line that is not whole yet waits."""
        with self._book_path.open("rb") as stream:
            stream.seek(self._read_bytes)
            new = stream.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._read_bytes += len(whole)
        self.book.add(_entries(whole))
        return self.book

    def stop(self) -> dict[str, Any]:
        """End it; answer its own report, {} when it has none."""
        self.thaw()
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                self.kill()
        if self._rate_fd >= 0:
            os.close(self._rate_fd)
            self._rate_fd = -1
        if not self._report_path.exists():
            return {}
        report: dict[str, Any] = json.loads(self._report_path.read_text(encoding="utf-8"))
        return report

    def kill(self) -> None:
        """End it at once."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def _await_port(self, ready: int) -> int:
        with os.fdopen(ready, "rb") as line:
            is_there = bool(select.select((line,), (), (), _START_S)[0])
            port = line.readline().strip() if is_there else b""
        if not port.isdigit():
            self.kill()
            raise PlcFault(
                f"of station {self.place.name}", "it did not start", "see its message above"
            )
        return int(port)


def _entries(lines: bytes) -> list[Entry]:
    return [read_line(line) for line in lines.decode().splitlines()]
