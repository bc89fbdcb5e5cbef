"""The shift register: which part is where, and whether the output may let it pass.

    enter --> waiting --OK--> good --(its zone reaches the output)--> let pass
                 |              |
                 |              '-- NG after all, not seen at the eye, belt ran back --.
                 '-- any other verdict, or none when its zone reaches the output ------'--> rejected

Around each part lies its zone, `zone_mm` long: while it passes the output, the output serves this
part. The output is energised only inside the zone of a part that was proven OK in time, and never
inside the zone of any other part: where two zones overlap, reject wins. Everywhere else, and
whenever nothing is known, the output is released, and released means reject.

    parts further apart than a zone:        none disturbs the other
    closer than a zone:                     the OK one's zone is cut short by the other's
    closer than half a zone:                the OK one is rejected with the other (`TOO_CLOSE`)

A verdict may come at any time before the zone begins (less the output's own delay: the caller looks
ahead). What was decided then is never changed from reject to pass.

Positions are millimetres of belt, growing forward, without a zero (see `motion`).
Pure. Bounded: `CAPACITY` parts.
"""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

__all__ = ["CAPACITY", "Cause", "Eye", "Layout", "Outcome", "Settling", "Sighting", "Tracker"]

CAPACITY = 1024
"""Parts between trigger and ejector: more than fit a belt of 10 m with a part every centimetre."""
_NOWHERE = float("-inf")


class Cause(Enum):
    """Why a part went where it went."""

    OK = "ok"
    """Proven good in time: let pass."""
    NOT_OK = "not_ok"
    """NG, UNFIT, LATE or FAULT."""
    NO_VERDICT = "no_verdict"
    """None had come when it had to be known."""
    TOO_CLOSE = "too_close"
    """Good, but less than half a zone from one that is not."""
    STALLED = "stalled"
    """Good, but this process was held up while its zone passed the output."""
    NOT_SEEN = "not_seen"
    """The eye in front of the ejector did not see it where it should have been."""
    AMBIGUOUS = "ambiguous"
    """The eye saw something where two parts could have been: either may be gone."""
    UNKNOWN = "unknown"
    """The eye saw it, and nobody had triggered it."""
    BACKWARDS = "backwards"
    """The belt ran back too far: what lies where is doubtful."""
    LOST = "lost"
    """Its place is not known any more."""


class Settling(Enum):
    """What became of a verdict."""

    TAKEN = "taken"
    """It decides its part."""
    TOO_LATE = "too_late"
    """Its part was decided before."""
    NOBODY = "nobody"
    """No such part is on the belt."""


class Sighting(Enum):
    """What the eye in front of the ejector saw."""

    EXPECTED = "expected"
    """A part; it was moved to where it is."""
    UNKNOWN = "unknown"
    """Something that nobody had triggered; it is rejected."""
    AMBIGUOUS = "ambiguous"
    """One of two parts; both are rejected."""


class Outcome(NamedTuple):
    """A part has reached the ejector."""

    trigger_id: int | None
    """None: nobody had triggered it."""
    cause: Cause
    is_there: bool = True
    """Whether it should turn up in the bin when it was rejected: not when the eye missed it."""

    @property
    def is_let_pass(self) -> bool:
        """Whether the output let it pass."""
        return self.cause is Cause.OK


@dataclass(frozen=True, slots=True, kw_only=True)
class Eye:
    """A photo-eye in front of the ejector."""

    from_trigger_mm: float
    window_mm: float
    """A part is looked for so far before and behind its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Lengths of the belt."""

    ejector_mm: float
    """From the place of the trigger to the ejector."""
    zone_mm: float
    """So much belt is served for one part: half of it before, half of it behind the part."""
    backward_mm: float
    """So far the belt may run back (it swings when it stops)."""
    eye: Eye | None = None


@dataclass(slots=True)
class _Part:
    trigger_id: int | None
    fired_ns: int
    at_mm: float
    """Where the belt stands when the part is at the ejector."""
    cause: Cause | None = None
    """None: no verdict yet. OK may still become another, the others stay."""
    is_fixed: bool = False
    """Its zone has reached the output: it is decided."""
    is_seen: bool = False
    is_served: bool = False
    """The output has been energised for it."""
    is_out: bool = False
    """It has reached the ejector."""


class Tracker:
    """The parts between trigger and ejector of one station."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._half_mm = layout.zone_mm / 2
        self._parts: list[_Part] = []
        self._front_mm = _NOWHERE
        """As far as the belt has been."""
        self._ahead_mm = _NOWHERE
        """As far as the output has been looked at."""

    def __len__(self) -> int:
        """Parts that have not reached the ejector."""
        return sum(not part.is_out for part in self._parts)

    # ------------------------------------------------------------ what is known of parts

    def enter(self, trigger_id: int, fired_ns: int, trigger_mm: float) -> bool:
        """Enter a part where the belt stood when it was triggered; whether it was entered.

        Not when it is there already, or has passed the ejector before we heard of it. A full
        register is worth nothing: all parts in it are rejected, and this one with them.
        """
        if self._find(trigger_id, fired_ns) is not None:
            return False
        at_mm = trigger_mm + self._layout.ejector_mm
        if at_mm <= self._ahead_mm:
            return False
        if len(self._parts) >= CAPACITY:
            self.condemn(Cause.LOST)
            return False
        self._parts.append(_Part(trigger_id, fired_ns, at_mm))
        return True

    def settle(self, trigger_id: int, fired_ns: int, *, is_ok: bool) -> Settling:
        """Take a verdict; ids come again, so the moment of the trigger must be the part's own."""
        part = self._find(trigger_id, fired_ns)
        if part is None:
            return Settling.NOBODY
        if part.cause is Cause.OK and not is_ok:
            part.cause = Cause.NOT_OK
            return Settling.TAKEN
        if part.cause is not None or part.is_fixed:
            return Settling.TOO_LATE
        part.cause = Cause.OK if is_ok else Cause.NOT_OK
        return Settling.TAKEN

    def see(self, position_mm: float) -> Sighting:
        """The eye sees something begin at this position of the belt.

        Raises:
            ValueError: There is no eye.
        """
        eye = self._layout.eye
        if eye is None:
            raise ValueError("a sighting without an eye")
        at_mm = position_mm + self._layout.ejector_mm - eye.from_trigger_mm
        near = [
            part
            for part in self._parts
            if not (part.is_seen or part.is_out) and abs(part.at_mm - at_mm) <= eye.window_mm
        ]
        if len(near) == 1:
            self._move(near[0], at_mm)
            return Sighting.EXPECTED
        for part in near:
            part.cause, part.is_seen = Cause.AMBIGUOUS, True
        self._parts.append(_Part(None, 0, at_mm, Cause.UNKNOWN, is_seen=True))
        return Sighting.AMBIGUOUS if near else Sighting.UNKNOWN

    def condemn(self, cause: Cause) -> None:
        """Reject everything that is on the belt now."""
        for part in self._parts:
            if part.cause in {None, Cause.OK}:
                part.cause = cause

    def lose(self) -> list[Outcome]:
        """Forget everything: positions mean nothing any more. The output must be released."""
        lost = [part for part in self._parts if not part.is_out]
        self._parts = []
        self._front_mm = self._ahead_mm = _NOWHERE
        return [Outcome(part.trigger_id, Cause.LOST, is_there=False) for part in lost]

    # ------------------------------------------------------------ the belt moves

    def follow(self, measured_mm: float) -> None:
        """Take note of where the encoder says the belt is: does it run backwards?

        Only what was measured counts: a place that is extrapolated may well lie behind the last.
        """
        self._front_mm = max(self._front_mm, measured_mm)
        if measured_mm < self._front_mm - self._layout.backward_mm:
            self.condemn(Cause.BACKWARDS)
            self._front_mm = self._ahead_mm = measured_mm

    def advance(self, position_mm: float, ahead_mm: float) -> list[Outcome]:
        """Move the belt; answer the parts that have reached the ejector.

        Args:
            position_mm: Where the belt is.
            ahead_mm: Where it will be when the output acts on what it is told now.
        """
        self._ahead_mm = max(self._ahead_mm, ahead_mm, position_mm)
        self._fix(position_mm)
        outcomes = [self._out(part) for part in self._parts if self._arrives(part, position_mm)]
        gone_mm = min(position_mm, ahead_mm) - self._half_mm - self._layout.backward_mm
        self._parts = [part for part in self._parts if not part.is_out or part.at_mm > gone_mm]
        self._serve(ahead_mm)
        return outcomes

    def is_passing(self, ahead_mm: float) -> bool:
        """Whether the output is to be energised when the belt is there; after `advance`."""
        covering = [part for part in self._parts if self._covers(part, ahead_mm)]
        return bool(covering) and all(_is_good(part) for part in covering)

    def next_edge_mm(self, ahead_mm: float) -> float | None:
        """The next position at which `is_passing` may change or a part is decided; None: none."""
        half_mm = self._half_mm
        edges = (part.at_mm + side for part in self._parts for side in (-half_mm, half_mm))
        return min((edge for edge in edges if edge > ahead_mm), default=None)

    # ------------------------------------------------------------ in detail

    def _find(self, trigger_id: int, fired_ns: int) -> _Part | None:
        for part in reversed(self._parts):
            if part.trigger_id == trigger_id and part.fired_ns == fired_ns:
                return part
        return None

    def _move(self, part: _Part, at_mm: float) -> None:
        """Put a part where the eye sees it, if the output can still follow."""
        part.at_mm, part.is_seen = at_mm, True
        if at_mm - self._half_mm <= self._ahead_mm and part.cause in {None, Cause.OK}:
            part.cause, part.is_fixed = Cause.NOT_SEEN, True

    def _fix(self, position_mm: float) -> None:
        """Decide the parts whose zone has reached the output, or that the eye has missed."""
        eye = self._layout.eye
        for part in self._parts:
            if part.is_fixed:
                continue
            is_due = part.at_mm - self._half_mm <= self._ahead_mm
            if eye is not None and not part.is_seen:
                missed_mm = part.at_mm - self._layout.ejector_mm + eye.from_trigger_mm
                if is_due or position_mm > missed_mm + eye.window_mm:
                    part.is_fixed = True
                    part.cause = Cause.NOT_SEEN if part.cause in {None, Cause.OK} else part.cause
            elif is_due:
                part.is_fixed = True
                part.cause = part.cause or Cause.NO_VERDICT

    def _serve(self, ahead_mm: float) -> None:
        """Note for whom the output is energised from now on."""
        if self.is_passing(ahead_mm):
            for part in self._parts:
                part.is_served = part.is_served or self._covers(part, ahead_mm)

    def _covers(self, part: _Part, at_mm: float) -> bool:
        return part.at_mm - self._half_mm <= at_mm < part.at_mm + self._half_mm

    def _arrives(self, part: _Part, position_mm: float) -> bool:
        return not part.is_out and part.at_mm <= position_mm

    def _out(self, part: _Part) -> Outcome:
        part.is_out = True
        if not _is_good(part):
            is_there = self._layout.eye is None or part.cause is not Cause.NOT_SEEN
            return Outcome(part.trigger_id, part.cause or Cause.NO_VERDICT, is_there)
        if not self.is_passing(part.at_mm):
            return Outcome(part.trigger_id, Cause.TOO_CLOSE)
        return Outcome(part.trigger_id, Cause.OK if part.is_served else Cause.STALLED)


def _is_good(part: _Part) -> bool:
    return part.is_fixed and part.cause is Cause.OK
