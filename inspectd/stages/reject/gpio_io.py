"""EDGE gpiod: lines of a GPIO chip of this computer (libgpiod 2, Linux character device).

A chip's line keeps its value when its program dies, so a watchdog relay in series with the valve is
part of the wiring (`watchdog_line`). Edges of the encoder are counted by the kernel's own sequence
number: events that overflowed its buffer are counted all the same.
"""

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from inspectd.config.schema import GpioEncoder, GpioIo
from inspectd.errors import IoFault
from inspectd.stages.reject.port import Sample

__all__ = ["GpioModule"]

_LINES = "see `gpioinfo` for the chip's lines, who holds them, and who may open it"


class GpioModule:
    """An `Io` on this computer."""

    def __init__(
        self,
        io: GpioIo,
        encoder: GpioEncoder | None,
        inputs: Sequence[int],
        clock: Callable[[], int],
    ) -> None:
        """Keep the numbers; nothing is opened before `connect`.

        Raises:
            IoFault: The package `gpiod` is not installed.
        """
        self._io, self._encoder, self._inputs, self._clock = io, encoder, tuple(inputs), clock
        try:
            self._gpiod: Any = importlib.import_module("gpiod")
        except ImportError as error:
            remedy = "pip install 'inspectd[gpio]'"
            raise IoFault(io.chip, "the package gpiod is not installed", remedy) from error
        self._lines: Any = None
        self._edges = 0
        self._is_alive = False

    @property
    def is_connected(self) -> bool:
        """See `Io.is_connected`."""
        return self._lines is not None

    def connect(self) -> None:
        """See `Io.connect`: the lines are taken over with the output released."""
        self._edges = 0
        try:
            self._lines = self._gpiod.request_lines(
                self._io.chip, consumer="inspectd", config=self._config()
            )
        except (OSError, ValueError) as error:
            raise IoFault(self._io.chip, f"its lines cannot be had ({error})", _LINES) from error

    def sample(self) -> Sample:
        """See `Io.sample`."""
        before_ns = self._clock()
        count = self._count()
        after_ns = self._clock()
        active = frozenset(number for number in self._inputs if self._read(number))
        return Sample(
            count,
            counted_ns=(before_ns + after_ns) // 2,
            spread_ns=after_ns - before_ns,
            active=active,
            active_ns=after_ns,
        )

    def switch(self, *, is_passing: bool) -> None:
        """See `Io.switch`."""
        self._write(self._io.line, is_active=is_passing)

    def show_life(self) -> None:
        """See `Io.show_life`: the watchdog's line toggles."""
        self._is_alive = not self._is_alive
        self._write(self._io.watchdog_line, is_active=self._is_alive)

    def close(self) -> None:
        """See `Io.close`."""
        if self._lines is None:
            return
        try:
            self.switch(is_passing=False)
        except IoFault:
            return
        self._let_go()

    def _config(self) -> dict[Any, Any]:
        """What each line is for; libgpiod's own words."""
        line, settings = self._gpiod.line, self._gpiod.LineSettings
        released = settings(direction=line.Direction.OUTPUT, output_value=line.Value.INACTIVE)
        config: dict[Any, Any] = {(self._io.line, self._io.watchdog_line): released}
        if self._inputs:
            config[self._inputs] = settings(direction=line.Direction.INPUT)
        if self._encoder is not None:
            config[self._encoder.line] = settings(
                direction=line.Direction.INPUT,
                edge_detection=line.Edge.RISING,
                event_clock=line.Clock.MONOTONIC,
            )
        return config

    def _count(self) -> int | None:
        if self._encoder is None:
            return None
        while self._asked(lambda: self._lines.wait_edge_events(0)):
            events = self._asked(self._lines.read_edge_events)
            self._edges = int(events[-1].line_seqno)
        return self._edges

    def _read(self, number: int) -> bool:
        return bool(self._asked(lambda: self._lines.get_value(number)))

    def _write(self, number: int, *, is_active: bool) -> None:
        value = self._gpiod.line.Value
        wanted = value.ACTIVE if is_active else value.INACTIVE
        self._asked(lambda: self._lines.set_value(number, wanted))

    def _asked(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except (OSError, ValueError) as error:
            self._let_go()
            raise IoFault(self._io.chip, f"a line does not answer ({error})", _LINES) from error

    def _let_go(self) -> None:
        lines, self._lines = self._lines, None
        lines.release()
