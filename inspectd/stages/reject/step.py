"""The door of the ejector: triggers enter the shift register, verdicts settle it, the output acts.

    TRIGGER --> place on the belt at the moment of the trigger --> tracker --+--> output
    VERDICT ------------------------------------------------------> tracker -'
    encoder, eye, bin sensor: looked at every `sample_ms`

The output is energised only while the tracker says so. Whenever the module does not answer, the
belt is not known, or this process begins or ends, the output is released and everything that lies
on the belt counts as rejected. While anything is wrong the step says so, and the station is not
ready.
"""

from collections import deque
from collections.abc import Iterable, Sequence

from inspectd.config.schema import Line, OutputReject
from inspectd.errors import IoFault, UsageFault
from inspectd.frame import Kind, Stamp, Ticket, Verdict
from inspectd.ports import Context, Counter, Out, Step
from inspectd.stages.reject.inputs import Inputs, inputs_of
from inspectd.stages.reject.motion import ClockMotion, CounterMotion, Reading
from inspectd.stages.reject.port import Io, Sample
from inspectd.stages.reject.tracker import Cause, Outcome, Sighting, Tracker
from inspectd.stages.reject.wiring import Times, io_of, layout_of, motion_of, times_of

__all__ = ["RejectStep", "build"]

_NS_PER_S = 1_000_000_000
_SPREADS = 64
"""Answers by which is known how quick the module can be."""
_SOONEST_NS = 200_000
"""Between two looks at the output: a belt that trembles at an edge must not keep us spinning."""
_EXPLAINED = {Cause.OK, Cause.NOT_OK, Cause.NO_VERDICT, Cause.UNKNOWN}
"""Causes that need no line in the log."""


def build(line: Line, station: int, context: Context) -> Step:
    """Make the ejector of one station; the module is looked for when the loop first wakes it.

    Raises:
        UsageFault: The station's PLC moves the ejector itself.
        IoFault: A package that the wiring needs is not installed.
    """
    ours = line.stations[station]
    reject = ours.reject
    if not isinstance(reject, OutputReject):
        raise UsageFault("its PLC moves the ejector", ours.name, "set reject.kind: output")
    inputs = inputs_of(reject)
    return RejectStep(
        context,
        io=io_of(reject, inputs, context),
        tracker=Tracker(layout_of(reject)),
        motion=motion_of(reject),
        inputs=inputs,
        times=times_of(reject),
    )


class RejectStep:
    """Owns the shift register and the output of one station."""

    def __init__(
        self,
        context: Context,
        *,
        io: Io,
        tracker: Tracker,
        motion: ClockMotion | CounterMotion,
        inputs: Inputs,
        times: Times,
    ) -> None:
        self._io, self._tracker, self._motion, self._inputs = io, tracker, motion, inputs
        self._times, self._context = times, context
        self._is_passing = False
        self._is_stopping = False
        self._next_attempt_ns = 0
        self._next_sample_ns = 0
        self._next_life_ns = 0
        self._next_edge_ns: int | None = None
        self._spreads: deque[int] = deque(maxlen=_SPREADS)
        self._trouble = "the I/O module has not been reached yet; wait, or look at `reject.io`"

    # ------------------------------------------------------------ the protocol `Step`

    def feed(self, kind: Kind, ticket: Ticket, now_ns: int) -> Sequence[Out]:  # noqa: ARG002
        """Take a trigger or a verdict."""
        fired_ns = ticket.stamps[Stamp.FIRED]
        if kind is Kind.TRIGGER:
            place_mm = self._motion.position_at(fired_ns) if self._knows(fired_ns) else None
            if place_mm is None:
                self._log("warning", "trigger_place_unknown", trigger_id=ticket.trigger_id)
            else:
                self._tracker.enter(ticket.trigger_id, fired_ns, place_mm)
                self._next_edge_ns = 0
        elif kind is Kind.VERDICT:
            is_ok = ticket.verdict is Verdict.OK
            self._tracker.settle(ticket.trigger_id, fired_ns, is_ok=is_ok)
            self._next_edge_ns = 0
        return ()

    def wake_at_ns(self) -> int | None:
        """The next look, sign of life, edge of the output, or attempt to connect."""
        if not self._io.is_connected:
            return self._next_attempt_ns
        times = (self._next_sample_ns, self._next_life_ns, self._next_edge_ns)
        return min(time for time in times if time is not None)

    def wake(self, now_ns: int) -> Sequence[Out]:
        """Look, and have the output act."""
        try:
            if not self._io.is_connected:
                self._connect(now_ns)
            else:
                self._turn(now_ns)
        except IoFault as fault:
            self._lose_io(fault)
        return ()

    def stop(self, now_ns: int) -> Sequence[Out]:  # noqa: ARG002 - of the protocol
        """Nothing new comes; what is on the belt still reaches the ejector."""
        self._is_stopping = True
        return ()

    def is_drained(self) -> bool:
        """The belt is empty, or nobody knows what is on it."""
        is_empty = len(self._tracker) == 0 and not self._is_passing
        return self._is_stopping and (is_empty or not self._io.is_connected)

    def trouble(self) -> str:
        """Why no part may be triggered."""
        return self._trouble or self._inputs.trouble()

    def close(self) -> None:
        """Release the output, then let go."""
        self._io.close()

    # ------------------------------------------------------------ the module comes and goes

    def _connect(self, now_ns: int) -> None:
        if now_ns < self._next_attempt_ns:
            return
        self._next_attempt_ns = now_ns + self._times.reconnect_ns
        self._io.connect()
        self._is_passing = False
        self._lose_belt()
        self._inputs.begin()
        self._next_sample_ns = self._next_life_ns = 0
        self._trouble = ""
        self._log("info", "ejector_reached")
        self._turn(self._context.clock())

    def _lose_io(self, fault: IoFault) -> None:
        """Count everything on the belt as rejected; the module's watchdog releases the output."""
        self._is_passing = False
        if not self._trouble:
            self._log("error", "ejector_lost", error=str(fault))
        self._trouble = str(fault)
        self._lose_belt()
        self._inputs.begin()

    def _lose_belt(self) -> None:
        if isinstance(self._motion, CounterMotion):
            self._motion.forget()
        lost = self._tracker.lose()
        self._next_edge_ns = None
        if lost:
            self._log("warning", "ejector_parts_lost", parts=len(lost))
            self._context.count(Counter.REJECTED, len(lost))

    # ------------------------------------------------------------ a turn

    def _turn(self, now_ns: int) -> None:
        if now_ns >= self._next_sample_ns:
            sample = self._io.sample()
            self._next_sample_ns = max(self._next_sample_ns, now_ns) + self._times.sample_ns
            self._follow(sample)
            self._look(sample)
        self._act(self._context.clock())
        if self._context.clock() >= self._next_life_ns:
            self._io.show_life()
            self._next_life_ns = self._context.clock() + self._times.life_ns

    def _follow(self, sample: Sample) -> None:
        """Take the counter's reading, unless it came too slowly to say when it was so."""
        motion = self._motion
        if not isinstance(motion, CounterMotion) or sample.counted is None:
            return
        if not self._is_quick(sample.spread_ns):
            return
        if motion.take(sample.counted, sample.counted_ns) is Reading.JUMPED:
            self._log("error", "encoder_jumped", count=sample.counted)
            self._lose_belt()
            motion.take(sample.counted, sample.counted_ns)
        measured_mm = motion.position_at(sample.counted_ns)
        if measured_mm is not None:
            self._tracker.follow(measured_mm)

    def _is_quick(self, spread_ns: int) -> bool:
        """Whether an answer says well enough when it was so."""
        self._spreads.append(spread_ns)
        usual_ns = max(self._times.spread_good_ns, 2 * min(self._spreads))
        return spread_ns <= min(usual_ns, self._times.spread_max_ns)

    def _look(self, sample: Sample) -> None:
        """See what begins at the eye and in the bin."""
        seen = self._inputs.look(sample.active, sample.active_ns)
        place_mm = None if seen is None else self._motion.position_at(seen)
        if place_mm is not None and self._tracker.see(place_mm) is not Sighting.EXPECTED:
            self._log("warning", "part_unknown")
        missed = self._inputs.missed(sample.active_ns)
        if missed:
            self._log("error", "reject_not_confirmed", parts=missed)
            self._context.count(Counter.REJECTS_UNCONFIRMED, missed)

    def _act(self, now_ns: int) -> None:
        """Move the belt of the register on, and the output with it."""
        here_mm = self._motion.position_at(now_ns)
        if here_mm is None:
            self._switch(is_passing=False)
            self._lose_belt()
            return
        speed = self._motion.speed_mm_s / _NS_PER_S
        ahead_mm = here_mm + speed * self._times.lead_ns
        self._book(self._tracker.advance(here_mm, ahead_mm), now_ns)
        self._switch(is_passing=self._tracker.is_passing(ahead_mm))
        edge_mm = self._tracker.next_edge_mm(ahead_mm)
        self._next_edge_ns = None
        if edge_mm is not None and speed > 0:
            until_ns = int((edge_mm - ahead_mm) / speed) + 1
            self._next_edge_ns = now_ns + max(until_ns, _SOONEST_NS)

    def _switch(self, *, is_passing: bool) -> None:
        if is_passing != self._is_passing:
            self._io.switch(is_passing=is_passing)
            self._is_passing = is_passing

    def _book(self, outcomes: Iterable[Outcome], now_ns: int) -> None:
        """Count the parts that have reached the ejector; expect the rejected ones in the bin."""
        for outcome in outcomes:
            counter = Counter.LET_PASS if outcome.is_let_pass else Counter.REJECTED
            self._context.count(counter, 1)
            if not outcome.is_let_pass and outcome.is_there:
                self._inputs.expect(now_ns)
            if outcome.cause not in _EXPLAINED:
                named = {"trigger_id": outcome.trigger_id, "cause": outcome.cause.value}
                self._log("warning", "part_not_let_pass", **named)

    def _knows(self, fired_ns: int) -> bool:
        return fired_ns > 0 and self._io.is_connected

    def _log(self, level: str, event: str, **fields: object) -> None:
        self._context.log(level, event, **fields)
