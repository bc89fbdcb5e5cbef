"""Starts the processes of a line, watches that they move, ends them in order.

    start:  simulators, memory, then the ejectors, sink, record, infer, judge, gate; the camera when
            all are ready; forwarders too, but nobody waits for them
    watch:  who died, who is stuck? (`inspectd.host.crew` frees, tells and restarts)
    stop:   camera, gate, infer, judge, sink, ejectors, simulators, record, forwarders: the
            journey, each with its bound

It never touches a part itself. When it is killed, the kernel kills its children with it.
"""

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from inspectd.config.schema import Line
from inspectd.errors import Exit
from inspectd.frame import Role
from inspectd.host.board import State
from inspectd.host.crew import Crew
from inspectd.host.former import Former, are_recorded, name_of
from inspectd.host.manifest import Manifest
from inspectd.host.notify import Notifier
from inspectd.host.patience import PATIENCE
from inspectd.host.signals import Signals, listening
from inspectd.host.simulators import Simulator, start_simulators
from inspectd.host.sizes import geometries, read_models
from inspectd.host.trial import Trial
from inspectd.ports import Status

__all__ = ["Outcome", "Plan", "Supervisor", "new_run_id"]

_FIRST = (
    Role.OPCUA,
    Role.REJECT,
    Role.SINK,
    Role.RECORD,
    Role.INFER,
    Role.JUDGE,
    Role.GATE,
    Role.FORWARD,
    Role.METRICS,
    Role.WEB,
)
"""Started together, in this order; the camera follows when all are ready, so that no part is
triggered that nobody would judge. Nobody waits for the forwarders."""
_STOP_ORDER = (
    Role.CAMERA,
    Role.GATE,
    Role.INFER,
    Role.JUDGE,
    Role.SINK,
    Role.REJECT,
    Role.OPCUA,
)
"""Then the simulators, then the record, then the forwarders."""
_TURN_S = 0.1
_EXTENSION_USEC = 60_000_000
"""So long systemd waits on, told anew every turn while an engine is built."""
_CLEAN_END_S = 2.0
"""For a drained process to close its devices and leave."""

_AT_ONCE = 2
"""So many signals mean: end now, whatever is held."""
_HAVE_OUTPUTS = frozenset({Role.SINK, Role.REJECT})
"""Who has outputs that must be left in the reject state, also in a hurry."""
_SAFE_S = 1.0
"""For that; a request to a PLC takes far less."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended."""

    run_id: str
    code: Exit
    why: str
    states: tuple[State, ...]
    """The board at the end; `counters` cover the whole run."""
    simulators: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Reports of the PLC simulators, by name of their station."""
    was_ready: bool = False
    """Whether every process had become ready."""
    is_reload: bool = False
    """Whether it ended because a changed station file, or model, is to be run instead."""


def new_run_id() -> str:
    """Name a run: when it began (UTC), and six random hex digits."""
    return f"{datetime.now(timezone.utc):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run is to be."""

    run_id: str = field(default_factory=new_run_id)
    part_limit: int = 0
    """End after so many parts per station; 0: when told."""
    log_level: str = "info"
    """Of the children."""
    steps: Mapping[str, str] = field(default_factory=dict)
    """By role name, `MODULE:FUNCTION` instead of the table in `inspectd.host.build` (trials)."""


class Supervisor:
    """One run of a line."""

    def __init__(
        self,
        line: Line,
        plan: Plan,
        log: Callable[..., None],
        *,
        notifier: Notifier | None = None,
        on_turn: Callable[[tuple[State, ...]], None] | None = None,
    ) -> None:
        """Plan a run; nothing is started.

        Args:
            line: the station file, loaded.
            plan: how long, with what.
            log: `log(level, event, **fields)`.
            notifier: tells systemd; by default as the environment says.
            on_turn: is shown the board about ten times a second.
        """
        self._line, self._plan, self._log = line, plan, log
        self._notifier = notifier or Notifier()
        self._on_turn = on_turn
        self._end: tuple[Exit, str] | None = None
        self._watchdog_ns = 0
        self._trial: Trial | None = None
        self._was_ready = False
        self._is_reload = False

    def run(self) -> Outcome:
        """Run the line until its end; answer how it went. Main thread only (signals).

        Raises:
            ModelFault, ArenaFault, PlcFault: the line cannot be started.
        """
        self._log("info", "line_starting", line=self._line.line, recipe=self._line.digest)
        models = read_models(self._line)
        sizes = geometries(self._line, models)
        digests = {name: spec.digest for name, spec in models.items()}
        with ExitStack() as rest, listening() as signals:
            simulators = start_simulators(self._line, self._plan.part_limit)
            for simulator in simulators:
                rest.callback(simulator.kill)
            manifest = Manifest(
                line=self._line,
                geometries=sizes,
                run_id=self._plan.run_id,
                token=secrets.randbits(64),
                part_limit=self._plan.part_limit,
                model_digests=digests,
                plc_ports={simulator.station: simulator.port for simulator in simulators},
                io_ports={one.station: one.io_port for one in simulators if one.io_port},
                log_level=self._plan.log_level,
                steps=self._plan.steps,
            )
            former = Former(self._notifier, self._log)
            rest.callback(former.close)
            crew = Crew(manifest, self._log, rest, former.fds)
            self._notifier.keep(name_of(self._plan.run_id), [one.fd for one in crew.journals])
            try:
                self._start(crew, signals)
                while self._end is None:
                    self._turn(crew, signals)
                    self._look_at_run(crew, simulators)
                    self._look_at_file(signals)
                    former.let_go()
            finally:
                if self._trial is not None:
                    self._trial.close()
                reports = self._stop(crew, signals, simulators)
                former.let_go()
            if are_recorded(crew.journals):
                self._notifier.forget(name_of(self._plan.run_id))
            return self._outcome(crew, reports)

    def _outcome(self, crew: Crew, reports: Mapping[str, Mapping[str, Any]]) -> Outcome:
        code, why = self._end or (Exit.OK, "")
        self._log("info", "line_stopped", code=int(code), why=why)
        return Outcome(
            self._plan.run_id,
            code,
            why,
            crew.states(),
            reports,
            was_ready=self._was_ready,
            is_reload=self._is_reload,
        )

    def _start(self, crew: Crew, signals: Signals) -> None:
        """Start everybody; the camera when the others are ready."""
        for roles in (_FIRST, (Role.CAMERA,)):
            for role in roles:
                crew.start(role, time.monotonic_ns())
            while self._end is None and (waiting := crew.unready()):
                self._tell_of_waiting(crew.states(), waiting)
                self._turn(crew, signals)
            if self._end is not None:
                return
        self._was_ready = True
        self._log("info", "line_ready", line=self._line.line)
        self._notifier.send(READY=1, STATUS="all processes are ready")

    def _tell_of_waiting(self, states: Sequence[State], waiting: Sequence[str]) -> None:
        """Say whom the start waits for; while an engine is built, ask systemd for more time."""
        building = next((one.trouble for one in states if one.status is Status.BUILDING), "")
        if building:
            self._notifier.send(STATUS=f"building: {building}", EXTEND_TIMEOUT_USEC=_EXTENSION_USEC)
        else:
            self._notifier.send(STATUS=f"waiting for {', '.join(waiting)}")

    def _turn(self, crew: Crew, signals: Signals, *, is_stopping: bool = False) -> None:
        """Look after everybody once; wait up to 0.1 s for something to happen."""
        signals.wait(_TURN_S)
        now_ns = time.monotonic_ns()
        if signals.endings and not is_stopping:
            self._finish(Exit.OK, "asked to stop")
        fate = crew.look_after(now_ns, is_stopping=is_stopping)
        if fate is not None:
            self._finish(fate.code, fate.why)
        elif not is_stopping:
            crew.restart_due(now_ns)
        self._pat_watchdog(now_ns)
        if self._on_turn is not None:
            self._on_turn(crew.states())

    def _look_at_run(self, crew: Crew, simulators: list[Simulator]) -> None:
        """End the run when every sink has had its parts, or a simulator is gone."""
        if crew.are_done():
            self._finish(Exit.OK, "all parts are done")
        for simulator in simulators:
            if simulator.has_died():
                self._log("error", "simulator_died", station=simulator.station)
                self._finish(Exit.FAULT, "a PLC simulator died")

    def _look_at_file(self, signals: Signals) -> None:
        """Asked to read the station file again: try it beside the line, then end for it or not."""
        if signals.reloads and self._trial is None:
            signals.reloads = 0
            self._log("info", "reload_checking", file=self._line.file)
            self._trial = Trial(self._line.file)
        found = None if self._trial is None else self._trial.look()
        if found is None:
            return
        self._trial = None
        if not found.is_fit:
            self._log("error", "reload_refused", error=found.text)
        elif self._end is None:
            self._is_reload = True
            self._finish(Exit.OK, "the station file or a model was changed")

    def _finish(self, code: Exit, why: str) -> None:
        """Decide that the run ends; the first cause counts."""
        if self._end is None:
            self._end = (code, why)

    def _pat_watchdog(self, now_ns: int) -> None:
        """Tell systemd that all move; whoever does not has just been killed."""
        limit_ns = self._notifier.watchdog_ns
        if limit_ns and now_ns - self._watchdog_ns > limit_ns // 3:
            self._watchdog_ns = now_ns
            self._notifier.send(WATCHDOG=1)

    # ------------------------------------------------------------ stop

    def _stop(
        self, crew: Crew, signals: Signals, simulators: list[Simulator]
    ) -> dict[str, dict[str, Any]]:
        """End everybody in the order of the journey; whoever is too slow is killed."""
        self._log("info", "line_stopping", why=self._end[1] if self._end else "an error")
        self._notifier.send(STOPPING=1, STATUS="stopping")
        crew.forget_restarts()
        for role in _STOP_ORDER:
            self._end_role(role, crew, signals)
        names = [station.name for station in self._line.stations]
        reports = {names[simulator.station]: simulator.stop() for simulator in simulators}
        self._end_role(Role.RECORD, crew, signals)
        self._end_role(Role.FORWARD, crew, signals)
        self._end_role(Role.METRICS, crew, signals)
        self._end_role(Role.WEB, crew, signals)
        return reports

    def _end_role(self, role: Role, crew: Crew, signals: Signals) -> None:
        """Ask the processes of a role to stop and wait for them, unless told a second time."""
        crew.ask_to_stop(role)
        bound_s = PATIENCE[role].drain_s + _CLEAN_END_S
        by_ns = time.monotonic_ns() + int(bound_s * 1e9)
        is_hurried = False
        while crew.of(role):
            if signals.endings >= _AT_ONCE and not is_hurried:
                is_hurried = True
                by_ns = self._hurry(role, crew, by_ns)
            if time.monotonic_ns() > by_ns:
                crew.kill(role)
            self._turn(crew, signals, is_stopping=True)

    def _hurry(self, role: Role, crew: Crew, by_ns: int) -> int:
        """End the processes of a role now; answer when they are killed, whatever they do."""
        now_ns = time.monotonic_ns()
        if role not in _HAVE_OUTPUTS:
            return now_ns - 1
        crew.hurry(role)
        return min(by_ns, now_ns + int(_SAFE_S * 1e9))
