"""A sink at work in made-up time: scripted PLC, scripted stages, no sockets, no waiting."""

import heapq
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from inspectd.frame import Kind, Reason, Role, Stamp, Ticket, Verdict
from inspectd.plc.program import Program
from inspectd.ports import Context, Counter, Out
from inspectd.stages.sink.conversation import Conversation
from inspectd.stages.sink.ids import WIDE, Ids
from inspectd.stages.sink.manner import Manner
from inspectd.stages.sink.paper import PaperJournal
from inspectd.stages.sink.scripted import ScriptedPlc
from inspectd.stages.sink.step import SinkStep
from inspectd.stages.sink.tally import USUAL, Limits
from inspectd.stages.sink.timing import Timing

MS = 1_000_000


@dataclass
class Bench:
    """A sink, its PLC, and the stages before it, which answer each FIRE after a delay."""

    program: Program = field(default_factory=lambda: Program(rate_hz=50.0, window_ms=10_000.0))
    timing: Timing = field(
        default_factory=lambda: Timing(
            deadline_ns=100 * MS,
            margin_ns=10 * MS,
            poll_ns=2 * MS,
            ack_poll_ns=2 * MS,
            heartbeat_ns=200 * MS,
            reconnect_ns=50 * MS,
            ack_timeout_ns=60 * MS,
            tell_late_ns=2_000 * MS,
            plc_watchdog_ns=1_000 * MS,
            command_ns=1_000 * MS,
        )
    )
    is_plc_triggered: bool = True
    ids: Ids = WIDE
    limits: Limits = USUAL
    recipes: frozenset[int] = frozenset({0})
    part_limit: int = 0
    answer: Callable[[Ticket], tuple[int, Verdict] | None] = lambda _ticket: (20 * MS, Verdict.OK)
    """Delay and verdict of the stages for a part; None: they never answer."""
    now_ns: int = 1_000 * MS
    is_running: bool = True
    """Whether the PLC's program scans; requests are answered all the same."""
    is_healthy: bool = True
    restarts: int = 0
    counted: dict[Counter, int] = field(default_factory=dict)
    logged: list[str] = field(default_factory=list)
    events: list[Ticket] = field(default_factory=list)
    fired: list[Ticket] = field(default_factory=list)
    outs: list[Out] = field(default_factory=list)
    """Messages to others than record and camera's FIRE."""
    standing: list[int] = field(default_factory=list)
    """Ids in the verdict block when the sink was killed."""
    ejector_doubt_ns: int | None = None
    """See `Manner`; what the ejector's process is told comes to `outs`."""
    journal: PaperJournal = field(default_factory=PaperJournal)
    """Survives the sink, as the shared one does."""
    _order: Iterator[int] = field(default_factory=itertools.count)
    _due: list[tuple[int, int, Kind, Ticket]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Build PLC and sink."""
        self.plc = ScriptedPlc(self.program, lambda: self.now_ns)
        self.step = self.new_step()

    def new_step(self) -> SinkStep:
        """A sink in its first life, or in a later one."""
        context = Context(
            arenas={},
            clock=lambda: self.now_ns,
            count=self._count,
            log=lambda _level, event, **_fields: self.logged.append(event),
            is_ready=lambda _role, _station: True,
            is_line_healthy=lambda _station: self.is_healthy,
            part_limit=self.part_limit,
            restarts=self.restarts,
            journals={0: self.journal},
        )
        conversation = Conversation(
            self.plc,
            reconnect_ns=self.timing.reconnect_ns,
            ack_timeout_ns=self.timing.ack_timeout_ns,
            ids=self.ids,
            clock=context.clock,
            count=context.count,
            log=context.log,
        )
        manner = Manner(
            timing=self.timing,
            is_plc_triggered=self.is_plc_triggered,
            ids=self.ids,
            limits=self.limits,
            recipe_digest=0xABCD,
            recipes=self.recipes,
            ejector_doubt_ns=self.ejector_doubt_ns,
        )
        return SinkStep(0, manner, conversation, context)

    def restart(self) -> None:
        """Kill the sink and start another: its journal survives, and the PLC's registers."""
        self.standing.append(self.plc.block.trigger_id)
        self.plc.close()
        self.restarts += 1
        self.step = self.new_step()

    def send(self, kind: Kind, ticket: Ticket, delay_ns: int = 0) -> None:
        """Have a message arrive at the sink later."""
        heapq.heappush(self._due, (self.now_ns + delay_ns, next(self._order), kind, ticket))

    def run(self, duration_ms: float, scan_ms: int = 5) -> None:
        """Let time pass; PLC scans, messages and the sink's own moments happen in order."""
        end_ns = self.now_ns + int(duration_ms * MS)
        next_scan_ns = self.now_ns
        spins = 0
        while self.now_ns < end_ns:
            if self.now_ns >= next_scan_ns:
                if self.is_running:
                    self.plc.scan()
                next_scan_ns = self.now_ns + scan_ms * MS
            self._deliver()
            wake_at_ns = self.step.wake_at_ns()
            if wake_at_ns is not None and wake_at_ns <= self.now_ns:
                self._take(self.step.wake(self.now_ns))
                spins += 1
                assert spins < 100_000, "the step spins"
            wake_at_ns = self.step.wake_at_ns()
            next_ns = min(
                next_scan_ns,
                end_ns,
                self._due[0][0] if self._due else end_ns,
                end_ns if wake_at_ns is None else max(wake_at_ns, self.now_ns + 10_000),
            )
            self.now_ns = max(next_ns, self.now_ns)

    def stall(self, duration_ms: int, scan_ms: int = 5) -> None:
        """Let the PLC go on while this machine does nothing."""
        for _ in range(duration_ms // scan_ms):
            self.now_ns += scan_ms * MS
            self.plc.scan()

    def report(self, key: str) -> list[object]:
        """A list of the PLC's report."""
        value = self.plc.report()[key]
        assert isinstance(value, list)
        return value

    def _deliver(self) -> None:
        while self._due and self._due[0][0] <= self.now_ns:
            _, _, kind, ticket = heapq.heappop(self._due)
            if kind is Kind.VERDICT:
                ticket = ticket.stamped(Stamp.DECIDED, self.now_ns)
            self._take(self.step.feed(kind, ticket, self.now_ns))

    def _take(self, outs: Sequence[Out]) -> None:
        for out in outs:
            if out.kind is Kind.EVENT:
                assert out.to is Role.RECORD
                self.journal.confirm([self.journal.find(out.ticket) or 0])
                self.events.append(out.ticket)
            elif out.kind is Kind.FIRE:
                self.fired.append(out.ticket)
                self.ask_stages(out.ticket)
            else:
                self.outs.append(out)

    def ask_stages(self, ticket: Ticket) -> None:
        """Have the stages judge a part."""
        answer = self.answer(ticket)
        if answer is not None:
            delay_ns, verdict = answer
            reason = Reason.NONE if verdict is Verdict.OK else Reason.DEFECT
            self.send(Kind.VERDICT, ticket.decided(verdict, reason, self.now_ns), delay_ns)

    def _count(self, counter: Counter, amount: int) -> None:
        self.counted[counter] = self.counted.get(counter, 0) + amount


@pytest.fixture
def make_bench() -> type[Bench]:
    """The class, so that a test can say what differs from the usual."""
    return Bench
