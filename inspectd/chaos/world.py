"""Everything a campaign has built up: folder, disk, PLCs, wires, page, line; and its end."""

import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from inspectd.chaos.disk import SmallDisk, mount
from inspectd.chaos.house import House
from inspectd.chaos.page import Page
from inspectd.chaos.plcs import PlayedPlc
from inspectd.chaos.proxy import Proxy
from inspectd.chaos.station import places_of, trial_text
from inspectd.config.load import load
from inspectd.config.schema import Line
from inspectd.record.database import FILE_NAME

__all__ = ["Settings", "World"]

_TURN_S = 0.02
_MIN_FREE_MB = 24
"""Of the small disk: what is over is pictures, and makes room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a trial is set up."""

    rate_hz: float = 0.0
    """Parts a second; 0: what the station file says of its simulator."""
    has_small_disk: bool = True
    folder: Path | None = None
    """Where everything is kept; None: in a temporary folder that goes at the end."""


class World:
    """A line under trial, with its PLCs around it."""

    def __init__(self, line: Line, settings: Settings, rest: ExitStack) -> None:
        """Build up everything; the line is started last, and is not waited for.

        Args:
            line: The station file, loaded.
            settings: How.
            rest: Ends everything; nothing is left then but what was asked to be kept.

        Raises:
            UsageFault: A station of the line cannot be tried.
            PlcFault: A simulated PLC did not start.
        """
        self.places = places_of(line)
        self._given, self._settings, self._rest = line, settings, rest
        self.disk: SmallDisk | None = None
        self.no_disk = "not asked for"
        """Why there is no small disk."""
        if self._settings.folder is None:
            made = rest.enter_context(tempfile.TemporaryDirectory(prefix="inspectd-chaos-"))
            self.folder = Path(made)
        else:
            self.folder = self._settings.folder.absolute()
            self.folder.mkdir(parents=True, exist_ok=True)
        record = self.folder / "record"
        self._make_disk(record)
        self.page = Page(self.folder / "page")
        rest.callback(self.page.close)
        self.plcs: list[PlayedPlc] = []
        self.wires: list[Proxy] = []
        for place in self.places:
            self._add_plc(place.index)
        ports = {index: wire.port for index, wire in enumerate(self.wires)}
        file = self.folder / "trial.yaml"
        file.write_text(trial_text(Path(line.file), record, ports, _MIN_FREE_MB), encoding="utf-8")
        self.line = load(file)
        self.database = record / FILE_NAME
        self.house = House(file, self.page.path, self.folder)
        rest.callback(self.house.kill)
        self.house.start()

    def _make_disk(self, record: Path) -> None:
        if not self._settings.has_small_disk:
            record.mkdir(exist_ok=True)
            return
        made = mount(record)
        if isinstance(made, str):
            self.no_disk = made
            return
        self.disk = made
        self._rest.callback(made.close)
        if self._settings.folder is not None:
            self._rest.callback(made.keep, self.folder / "record-kept")

    def _add_plc(self, index: int) -> None:
        place = self.places[index]
        plc = PlayedPlc(
            place,
            self.folder,
            window_ms=2 * self._given.stations[index].deadline_ms + 500,
            rate_hz=self._settings.rate_hz or place.rate_hz,
        )
        self._rest.callback(plc.stop)
        self.plcs.append(plc)
        wire = Proxy(plc.port)
        wire.start()
        self._rest.callback(wire.close)
        self.wires.append(wire)

    # ------------------------------------------------------------ time goes by

    def turn(self) -> None:
        """A moment of waiting: the line is looked after, the books are read."""
        time.sleep(_TURN_S)
        self.house.tend()
        for plc in self.plcs:
            plc.read()

    def wait(self, seconds: float) -> None:
        """Let so much time go by."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.turn()

    def wait_for(self, what: Callable[[], bool], seconds: float) -> bool:
        """Wait until something is so, at most so long; whether it is."""
        until = time.monotonic() + seconds
        while not what():
            if time.monotonic() > until:
                return False
            self.turn()
        return True
