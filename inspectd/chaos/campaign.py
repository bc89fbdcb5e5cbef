"""A campaign: fault after fault on a running line, with an audit after each and one at the end."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic_ns
from typing import Any

from inspectd.chaos.audit import Breach, Limits, Span, audit
from inspectd.chaos.leaks import Holding, compare, left_behind, look
from inspectd.chaos.plan import Fault
from inspectd.chaos.recovery import Done
from inspectd.chaos.rows import Recorded
from inspectd.chaos.trouble import Struck, strike
from inspectd.chaos.world import World
from inspectd.errors import Exit, UsageFault
from inspectd.frame import Role

__all__ = ["START_S", "Campaign", "Outcome"]

START_S = 180.0
"""Longest wait for the first verdict: models are loaded on a machine that may be busy."""
_SETTLED_NS = 3_000_000_000
"""Beyond the deadline: the record commits, tells again after a restart, and pictures are written.
"""
_FALL_WITHIN_NS = 6_000_000_000
"""READY or the heartbeat must have fallen so soon after the beginning of a fault."""
_FREE_WITHIN_S = 40.0
"""Slots that were handed to a process that never heard of them are freed after 20 s and the
deadline (`inspectd.host.life`)."""
_GATE_S = 1.0
_SHOWN = 5


@dataclass(slots=True)
class Outcome:
    """What a campaign found."""

    done: list[Done] = field(default_factory=list)
    missed: list[tuple[int, str, str]] = field(default_factory=list)
    """Faults that could not be done: number, kind, why."""
    breaches: list[Breach] = field(default_factory=list)
    exceptions: dict[str, int] = field(default_factory=dict)
    parts: int = 0
    told: int = 0
    unasked: int = 0
    """Parts that passed while vision was not ready: rejected by the PLC alone."""
    began_ns: int = 0
    starts: int = 0
    """Of the line, the first included."""
    holdings: Mapping[str, tuple[Holding, Holding]] = field(default_factory=dict)
    """Of each process: at the beginning and at the end."""
    simulators: dict[str, Any] = field(default_factory=dict)


class Campaign:
    """Carries a plan out."""

    def __init__(self, world: World, say: Callable[[str], None]) -> None:
        """Work on `world`; `say` shows a line of text to a person."""
        self._world, self._say = world, say
        self._recorded = Recorded(world.line, world.database)
        self._spans: list[Span] = []
        self._found: list[Breach] = []
        self._under_way: Fault | None = None
        self._under_way_ns = 0
        self._run_ids: set[str] = set()
        self._pids: set[int] = set()
        self._audited_ns = 0
        self._before: dict[str, Holding] = {}
        self.outcome = Outcome()

    def begin(self) -> None:
        """Wait until the line judges.

        Raises:
            UsageFault: It does not, for minutes.
        """
        world = self._world
        begin_ns = monotonic_ns()
        if not world.wait_for(lambda: self._recovered_ns(begin_ns) > 0, START_S):
            raise UsageFault(
                f"no part was OK within {START_S:.0f} s",
                world.line.file,
                "try it with `inspectd run`; the log of the line is in the folder of --keep",
            )
        self.outcome.began_ns = monotonic_ns()
        self._audited_ns = self._recovered_ns(begin_ns)
        self._before = self.look()

    def strike(self, fault: Fault) -> None:
        """Do one fault, wait for the next good part, audit."""
        world = self._world
        world.wait(fault.pause_s)
        self._note_who_is_there()
        self._under_way, self._under_way_ns = fault, monotonic_ns()
        ends = len(world.house.ends)
        struck = strike(world, fault)
        if struck.missed:
            self.outcome.missed.append((fault.number, fault.kind.name, struck.missed))
            self._under_way = None
            return
        recovered_ns = self._await(fault, struck)
        self._book(fault, struck, recovered_ns)
        self._under_way = None
        self._audit()
        self._note_ends(fault, ends, struck)

    def end(self) -> Outcome:
        """Let the line run empty, end it, audit everything."""
        world, outcome = self._world, self.outcome
        self._break_off()
        for plc in world.plcs:
            plc.set_rate(0)
        self._empty()
        after = self.look()
        self._leaks(compare(self._before, after))
        outcome.holdings = {
            name: (then, after[name]) for name, then in self._before.items() if name in after
        }
        self._note_who_is_there()
        code = world.house.stop()
        if code != Exit.OK:
            self._breach("line_ended", f"asked to stop, the line ended with code {code}")
        world.wait(_GATE_S)
        self._leaks(left_behind(self._pids, self._run_ids))
        outcome.starts = len(world.house.ends) + 1
        for plc in world.plcs:
            outcome.simulators[plc.place.name] = _without_verdicts(plc.stop())
            plc.read()
        self._audit_all()
        return outcome

    # ------------------------------------------------------------ one fault

    def _break_off(self) -> None:
        """After an interruption: let the line recover, and allow what the fault allows."""
        if self._under_way is None:
            return
        fault, now_ns = self._under_way, monotonic_ns()
        self._world.wait_for(lambda: self._recovered_ns(now_ns) > 0, fault.kind.recovers_within_s)
        span = Span(fault.number, self._under_way_ns, monotonic_ns(), fault.kind.allows)
        self._spans.append(span)
        self._under_way = None

    def _await(self, fault: Fault, struck: Struck) -> int:
        """Wait for the next OK of every station; 0: it did not come in time."""
        limit_s = fault.kind.recovers_within_s
        after_ns = struck.fired_after_ns
        self._world.wait_for(lambda: self._recovered_ns(after_ns) > 0, limit_s)
        return self._recovered_ns(after_ns)

    def _recovered_ns(self, after_ns: int) -> int:
        """When the last of the stations had told an OK again; 0: not all of them have."""
        times = [plc.book.first_ok_after(after_ns) for plc in self._world.plcs]
        known = [time for time in times if time is not None]
        return max(known) if len(known) == len(times) else 0

    def _book(self, fault: Fault, struck: Struck, recovered_ns: int) -> None:
        kind = fault.kind
        end_ns = recovered_ns or monotonic_ns()
        self._spans.append(Span(fault.number, struck.begin_ns, end_ns, kind.allows))
        self.outcome.done.append(
            Done(
                fault.number,
                kind.name,
                struck.begin_ns,
                end_ns,
                recovered_ns,
                struck.starts_ns,
            )
        )
        if not recovered_ns:
            words = f"no OK within {kind.recovers_within_s:.0f} s"
            self._breach("no_recovery", words, struck.begin_ns)
        limit_ns = max(struck.starts_ns, struck.begin_ns + _FALL_WITHIN_NS)
        book = self._world.plcs[fault.station].book
        if kind.must_fall and not book.fell_between(struck.begin_ns, limit_ns):
            self._breach("ready_stayed", "vision stayed ready all the time", struck.begin_ns)

    def _note_ends(self, fault: Fault, before: int, struck: Struck) -> None:
        """A line that ended without being told to is a breach."""
        ends = self._world.house.ends[before:]
        for at_ns, code in ends[int(struck.ends_line) :]:
            self._breach("line_ended", f"with code {code}, during #{fault.number}", at_ns)

    # ------------------------------------------------------------ audits

    def _audit(self) -> None:
        """Look at the parts since the last audit that must be settled by now; show breaches."""
        self._recorded.read()
        until_ns = monotonic_ns()
        reach_ns = until_ns - 300_000_000_000
        spans = [span for span in self._spans if span.end_ns > reach_ns]
        for index, plc in enumerate(self._world.plcs):
            limits = self._limits(index)
            found = audit(
                plc.book,
                self._recorded.rows[plc.place.name][-_RECENT:],
                spans,
                limits,
                until_ns=until_ns,
                from_ns=self._audited_ns,
            )
            self._show(found.breaches)
        self._audited_ns = max(self._audited_ns, until_ns - self._limits(0).settled_ns)

    def _audit_all(self) -> None:
        """Everything again, now that all is at rest."""
        self._recorded.read()
        outcome = self.outcome
        exceptions: Counter[str] = Counter()
        for index, plc in enumerate(self._world.plcs):
            rows = self._recorded.rows[plc.place.name]
            until_ns = monotonic_ns() + 10 * self._limits(index).settled_ns
            found = audit(plc.book, rows, self._spans, self._limits(index), until_ns=until_ns)
            outcome.breaches.extend(found.breaches)
            exceptions.update(found.exceptions)
            outcome.parts += found.parts
            outcome.told += found.told
            outcome.unasked += len(plc.book.unasked_ns)
        outcome.exceptions = dict(exceptions)
        outcome.breaches.extend(self._found)
        outcome.breaches.sort(key=lambda breach: breach.at_ns)

    def _limits(self, index: int) -> Limits:
        deadline_ns = int(self._world.line.stations[index].deadline_ms * 1e6)
        return Limits(deadline_ns, deadline_ns + _SETTLED_NS)

    def _show(self, breaches: Sequence[Breach]) -> None:
        for breach in breaches[:_SHOWN]:
            self._say(f"    BREACH {breach.rule}: {breach.what} (fault #{breach.fault})")
        if len(breaches) > _SHOWN:
            self._say(f"    ... and {len(breaches) - _SHOWN} more")

    def _breach(self, rule: str, what: str, at_ns: int = 0) -> None:
        """Note what no book shows."""
        number = self.outcome.done[-1].number if self.outcome.done and at_ns else 0
        breach = Breach(rule, at_ns or monotonic_ns(), what, number)
        self._found.append(breach)
        self._show([breach])

    # ------------------------------------------------------------ what is held

    def _empty(self) -> None:
        """Wait until every part is through the gate and every slot is free."""
        world = self._world
        window_s = max(2 * one.deadline_ms + 500 for one in world.line.stations) / 1000
        world.wait(window_s + _GATE_S)
        inside = world.house.inside()
        if inside is None:
            return
        if not world.wait_for(lambda: inside.slots_in_use() == 0, _FREE_WITHIN_S):
            self._breach("leak", f"{inside.slots_in_use()} slots are still in use")

    def _leaks(self, words: Iterator[str]) -> None:
        for word in words:
            self._breach("leak", word)

    def look(self) -> dict[str, Holding]:
        """What everybody holds now."""
        return look(self._who())

    def _who(self) -> dict[str, int]:
        inside = self._world.house.inside()
        who = {f"plc-sim {plc.place.name}": plc.process.pid for plc in self._world.plcs}
        if inside is None:
            return who
        for state in inside.states():
            if state.pid:
                place = "" if state.station < 0 else f" {state.station}"
                who[f"{state.role.name.lower()}{place}"] = state.pid
        return {**who, Role.SUPERVISOR.name.lower(): inside.pid}

    def _note_who_is_there(self) -> None:
        """Remember names, so that what is left of them can be looked for at the end."""
        with suppress(ValueError):
            inside = self._world.house.inside()
            if inside is not None:
                self._run_ids.add(inside.manifest.run_id)
                ours = {plc.process.pid for plc in self._world.plcs}
                self._pids |= set(self._who().values()) - ours


_RECENT = 5000
"""Rows that an audit between faults looks at; the last audit looks at all."""


def _without_verdicts(report: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in report.items() if key != "verdicts"}
