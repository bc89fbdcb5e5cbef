"""What a running line shows in the terminal: verdicts as they come, against their deadline.

It follows the record's database, read-only, five times a second: the pipeline is not touched and
cannot be slowed down by it. In a terminal it is a picture that changes (rich); anywhere else it is
one plain line for each verdict.
"""

import json
import sys
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TextIO

from rich.console import Console, Group
from rich.live import Live as Screen
from rich.table import Table
from rich.text import Text

from inspectd.config.schema import Line
from inspectd.errors import UsageFault
from inspectd.frame import Role
from inspectd.ports import Status
from inspectd.record.archive import FOLDER_NAME
from inspectd.record.reading import STAGE_NAMES, Part, Reading
from inspectd.record.summary import summary_lines
from inspectd.record.timing import budgets_ms, percentile

__all__ = ["PERIOD_NS", "Live", "LiveRow"]

PERIOD_NS = 200_000_000
"""Between two looks into the database."""
SHOWN = 14
"""Latest verdicts on the screen."""
RECENT = 200
"""Parts that the bars of the stages speak of."""
BAR_CELLS = 24
_COLOURS = {"OK": "green", "NG": "red", "UNFIT": "yellow", "LATE": "magenta", "FAULT": "bold red"}


class LiveRow(Protocol):
    """One process of the line, as the board shows it."""

    @property
    def role(self) -> Role:
        """What it does."""

    @property
    def station(self) -> int:
        """Index of its station; -1 for those of the whole line."""

    @property
    def status(self) -> Status:
        """What it says of itself."""

    @property
    def trouble(self) -> str:
        """What is wrong, in one sentence."""


class Live:
    """The terminal view of one run. The loop of the supervisor calls `update`."""

    def __init__(
        self,
        line: Line,
        run_id: str,
        database_path: Path,
        out: TextIO | None = None,
    ) -> None:
        """Show nothing yet.

        Args:
            line: The station file of the run.
            run_id: Of the run.
            database_path: The record's `events.sqlite`; it need not be there yet.
            out: Where to; standard output when not given.
        """
        self._line = line
        self._run_id = run_id
        self._path = database_path
        self._rows: Sequence[LiveRow] = ()
        self._console = Console(file=out or sys.stdout, highlight=False)
        self._screen: Screen | None = None
        self._reading: Reading | None = None
        self._sequence = 0
        self._next_ns = 0
        self._deadlines = {one.name: one.deadline_ms for one in line.stations}
        self._counts: dict[str, Counter[str]] = {one.name: Counter() for one in line.stations}
        self._recent = {one.name: deque[Part](maxlen=RECENT) for one in line.stations}
        self._latest: deque[Part] = deque(maxlen=SHOWN)

    def start(self) -> None:
        """Take the screen, if there is one."""
        if self._console.is_terminal:
            self._screen = Screen(console=self._console, auto_refresh=False, transient=True)
            self._screen.start()

    def update(self, now_ns: int, rows: Sequence[LiveRow] = ()) -> None:
        """Show what is new; does nothing before the next look is due.

        Args:
            now_ns: Monotonic.
            rows: All processes; without them nothing is said of processes and PLC.
        """
        if now_ns < self._next_ns:
            return
        self._next_ns = now_ns + PERIOD_NS
        self._rows = rows
        for part in self._fresh():
            self._take(part)
        if self._screen is not None:
            self._screen.update(self._picture(), refresh=True)

    def stop(self, report: Mapping[str, Any] | None = None) -> None:
        """Give the screen back, and sum up.

        Args:
            report: Of the run; without it nothing is summed up.
        """
        for part in self._fresh():
            self._take(part)
        if self._screen is not None:
            self._screen.stop()
            self._screen = None
        if self._reading is not None:
            self._reading.close()
            self._reading = None
        if report is not None:
            folder = self._path.parent / FOLDER_NAME
            for text in summary_lines(report, str(folder)):
                self._console.print(text, markup=False, soft_wrap=True)

    # ---------------------------------------------------------------- reading

    def _fresh(self) -> list[Part]:
        """Parts recorded since the last look; none while the record is away."""
        try:
            if self._reading is None:
                self._reading = Reading(self._path)
            parts = self._reading.parts(self._run_id, after=self._sequence, with_detail=True)
            return list(parts)
        except UsageFault:
            if self._reading is not None:
                self._reading.close()
            self._reading = None
            return []

    def _take(self, part: Part) -> None:
        self._sequence = part.sequence
        self._counts.setdefault(part.station, Counter())[part.verdict] += 1
        self._recent.setdefault(part.station, deque(maxlen=RECENT)).append(part)
        self._latest.append(part)
        if self._screen is None:
            self._console.print(self._plain(part), markup=False, soft_wrap=True)

    # ---------------------------------------------------------------- plain

    def _plain(self, part: Part) -> str:
        """One verdict as one line."""
        reason = "" if part.reason == "NONE" else f" {part.reason}"
        words = _words(part)
        return (
            f"{part.station} {part.trigger_id:>6} {part.verdict:<5}{reason}"
            f" {self._age(part)}{f'  {words}' if words else ''}"
        )

    def _age(self, part: Part) -> str:
        """Milliseconds from the trigger to the PLC, and what was allowed."""
        allowed = self._deadlines.get(part.station)
        limit = "" if allowed is None else f" of {allowed:g} ms"
        return f"{'-' if part.total_ms is None else format(part.total_ms, '.1f')}{limit}"

    # ---------------------------------------------------------------- picture

    def _picture(self) -> Group:
        title = Text(f"line {self._line.line}   run {self._run_id}   Ctrl-C stops", style="bold")
        return Group(title, *self._processes(), self._totals(), self._stages(), self._verdicts())

    def _processes(self) -> list[Text]:
        """One line for the processes, one for each trouble; the sink's is the PLC's."""
        rows = self._rows
        if not rows:
            return []
        ready = sum(row.status is Status.READY for row in rows)
        lines = [Text(f"{ready} of {len(rows)} processes ready")]
        for row in rows:
            if row.trouble:
                where = "line" if row.station < 0 else self._line.stations[row.station].name
                text = f"{where} {row.role.name.lower()}: {row.trouble}"
                lines.append(Text(text, style="yellow"))
        return lines

    def _totals(self) -> Table:
        table = Table(box=None, pad_edge=False, title_justify="left")
        table.add_column("station")
        for kind, colour in _COLOURS.items():
            table.add_column(kind, justify="right", style=colour)
        table.add_column("PLC")
        for name, counts in self._counts.items():
            recent = self._recent[name]
            sent = sum(part.sent_ns > 0 for part in recent)
            plc = f"{sent} of the last {len(recent)} confirmed" if recent else "-"
            table.add_row(name, *(str(counts[kind]) for kind in _COLOURS), plc)
        return table

    def _stages(self) -> Table:
        """The p50 and p99 of each stage as a bar against its budget."""
        table = Table(box=None, pad_edge=False)
        for heading in ("station", "stage"):
            table.add_column(heading)
        for heading in ("p50", "p99", "budget"):
            table.add_column(f"{heading} ms", justify="right")
        table.add_column("p99 of the budget")
        for station in self._line.stations:
            budgets = budgets_ms(station)
            for place, stage in enumerate(STAGE_NAMES):
                values = [part.times_ms[place] for part in self._recent[station.name]]
                row = _stage_row([value for value in values if value is not None], budgets[stage])
                table.add_row(station.name if place == 0 else "", stage, *row)
        return table

    def _verdicts(self) -> Table:
        table = Table(box=None, pad_edge=False)
        table.add_column("station")
        table.add_column("trigger", justify="right")
        for heading in ("verdict", "reason", "time", "why"):
            table.add_column(heading, no_wrap=True)
        for part in self._latest:
            verdict = Text(part.verdict, style=_COLOURS.get(part.verdict, ""))
            reason = "" if part.reason == "NONE" else part.reason
            table.add_row(
                part.station,
                str(part.trigger_id),
                verdict,
                reason,
                self._age(part),
                Text(_words(part)),
            )
        return table


def _stage_row(values: Sequence[float], budget: float | None) -> tuple[str, str, str, Text]:
    if not values or budget is None:
        return "-", "-", "-" if budget is None else f"{budget:g}", Text()
    ordered = sorted(values)
    p99 = percentile(ordered, 0.99)
    filled = min(BAR_CELLS, round(BAR_CELLS * p99 / budget))
    style = "red" if p99 > budget else "green"
    bar = Text("█" * filled, style=style).append("·" * (BAR_CELLS - filled), style="dim")
    return f"{percentile(ordered, 0.5):.1f}", f"{p99:.1f}", f"{budget:g}", bar


_MEASURES = {
    "DARK": "exposure",
    "BRIGHT": "exposure",
    "BLURRED": "sharpness",
    "SATURATED": "saturation",
    "GLARE": "glare",
    "OCCLUDED": "presence",
    "PART_MISSING": "presence",
    "FROZEN": "frozen",
}
"""The gate's measure behind each reason of UNFIT."""


def _words(part: Part) -> str:
    """Why a part is what it is: its broken rules, its broken measure, or the error."""
    detail = json.loads(part.detail)
    broken = [str(one[1]) for one in detail.get("broken", [])]
    if broken:
        return "; ".join(broken)
    for one in detail.get("measures", []):
        if one.get("name") == _MEASURES.get(part.reason):
            return f"{one['name']} {one['value']:g}, limit {one['limit']:g}"
    return str(detail.get("error", "") or detail.get("image", ""))
