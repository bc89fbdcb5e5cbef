"""What the simulated PLC does in one scan: the program of a careful controls engineer.

Pure: a scan is fed the time and the registers that vision wrote, and answers what the PLC writes.
The same rules, in Structured Text, are the example of `docs/plc.md`:

- Parts pass the photo-eye at a fixed rate from the first Ready on. While vision is Ready a part
  counts the trigger register up; otherwise nobody is asked, and the part is rejected.
- A verdict is taken when the sequence word changes, matched by its trigger id, and acknowledged by
  echoing the sequence (0 as well).
- At the end of its window each part is rejected, unless an OK with its id was taken before.
  Silence rejects.
- A heartbeat that stands still, or a wrong test constant, counts as not Ready: parts that pass then
  are rejected unasked. So are parts that pass while a command is under way.
"""

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

from inspectd.frame import Verdict
from inspectd.plc.account import Account, Answer
from inspectd.plc.book import Happening, What
from inspectd.plc.codes import Flag, StatusBit
from inspectd.plc.commander import Commander, Planned
from inspectd.plc.registers import NO_SEQUENCE, TEST_CONSTANT, Head, PlcPart, VerdictBlock

__all__ = ["Answer", "PlcProgram", "Program", "Scan"]

_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Constants of the PLC program."""

    rate_hz: float
    """Parts a second at the photo-eye."""
    parts: int = 0
    """Fire so many triggers, then no more; 0: go on."""
    window_ms: float = 5000.0
    """From the trigger to the reject gate: a verdict must have been taken by then."""
    pulse_ms: float = 20.0
    """How long the reject output stays on for one part."""
    stale_ms: float = 1000.0
    """A heartbeat that stands still for so long is lost."""
    heartbeat_ms: float = 200.0
    """Period of the PLC's own heartbeat."""
    first_counter: int = 0
    """Value of the trigger counter at the start (trials of the wrap)."""
    trigger_bits: int = 32
    """Width of the trigger counter."""
    trigger_skips_zero: bool = False
    """Whether it wraps to 1."""
    commands: tuple[Planned, ...] = ()
    """What vision is to do, and when."""


class Scan(NamedTuple):
    """What a scan wrote."""

    part: PlcPart
    reject: bool
    """The reject output (coil 0): on means reject."""
    taken: Answer | None = None
    """The verdict that this scan took, for the log."""
    happened: tuple[Happening, ...] = ()
    """For the book."""


@dataclass(slots=True)
class _Tracked:
    """A part between the photo-eye and the reject gate."""

    fired_ns: int
    number: int
    """The how-manieth part it is."""
    verdict: Verdict = Verdict.NONE
    is_past_gate: bool = False


class PlcProgram:
    """The state of the PLC between two scans."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._totals = Account()
        self._commander = Commander(program.commands)
        self._parts: dict[int, _Tracked] = {}
        self._before_gate: deque[int] = deque()
        self._past_gate: deque[int] = deque()
        self._counter = program.first_counter
        self._sequence: int | None = None
        self._next_part_ns: int | None = None
        self._window_ns = int(program.window_ms * _NS_PER_MS)
        self._last_number = 0
        self._reject_until_ns = 0
        self._beat = _Beat(program.stale_ms)
        self._started_ns: int | None = None
        self._had_overrun = self._had_request = False
        self._rate_hz = program.rate_hz
        self._was_ready = False
        self._happened: list[Happening] = []

    def set_rate(self, rate_hz: float) -> None:
        """Change the parts a second at the photo-eye from now on; 0: none."""
        self._rate_hz = rate_hz
        self._next_part_ns = None

    def scan(self, now_ns: int, head: Head, block: VerdictBlock) -> Scan:
        """One scan: read everything, decide, answer everything to write."""
        self._totals.scans += 1
        if self._started_ns is None:
            self._started_ns = now_ns
        is_lost_now = self._beat.watch(now_ns, head)
        self._totals.heartbeat_lost += is_lost_now
        self._note_overrun(head)
        taken = self._take(now_ns, block)
        is_trusted = head.test_constant == TEST_CONSTANT and not self._beat.is_stale
        self._commander.scan(now_ns, head, is_there=is_trusted)
        is_ready = self._is_ready(head, is_trusted=is_trusted)
        if is_ready is not self._was_ready:
            self._was_ready = is_ready
            self._happened.append(Happening(What.READY if is_ready else What.UNREADY))
        self._pass_photo_eye(now_ns, is_ready)
        self._pass_gate(now_ns)
        self._forget(now_ns)
        is_enabled = self._is_firing or bool(self._before_gate)
        flags = Flag.TRIGGER_ENABLE if is_enabled else Flag(0)
        part = PlcPart(
            trigger_counter=self._counter,
            acknowledged=self._sequence or NO_SEQUENCE,
            heartbeat=int((now_ns - self._started_ns) / (self._program.heartbeat_ms * _NS_PER_MS)),
            flags=flags if is_trusted else flags | Flag.REJECT_ALL,
            command=self._commander.asked.command,
            command_argument=self._commander.asked.argument,
            command_sequence=self._commander.sequence,
        )
        happened, self._happened = tuple(self._happened), []
        return Scan(part, now_ns < self._reject_until_ns, taken, happened)

    def report(self) -> dict[str, object]:
        """What happened, as plain values for JSON."""
        open_ids = [key for key, part in self._parts.items() if part.verdict is Verdict.NONE]
        return {
            **self._totals.report(open_ids, len(self._before_gate)),
            "commands": [done._asdict() for done in self._commander.done],
        }

    @property
    def _is_firing(self) -> bool:
        return not self._program.parts or self._totals.fired < self._program.parts

    def _is_ready(self, head: Head, *, is_trusted: bool) -> bool:
        """Whether a part may be triggered in this scan."""
        return is_trusted and StatusBit.READY in head.status and not self._commander.is_busy

    def _note_overrun(self, head: Head) -> None:
        has_overrun = bool(head.status & StatusBit.OVERRUN)
        self._totals.overruns_seen += has_overrun and not self._had_overrun
        self._had_overrun = has_overrun
        has_request = StatusBit.STOP_REQUEST in head.status
        self._totals.stops_requested += has_request and not self._had_request
        self._had_request = has_request

    def _take(self, now_ns: int, block: VerdictBlock) -> Answer | None:
        """Take the verdict over when the sequence word is another than at the last scan."""
        if block.sequence == self._sequence:
            return None
        is_first_scan = self._sequence is None
        self._sequence = block.sequence
        if is_first_scan or block.sequence == NO_SEQUENCE:
            return None
        part = self._parts.get(block.trigger_id)
        after_ms = -1.0 if part is None else round((now_ns - part.fired_ns) / _NS_PER_MS, 3)
        answer = Answer(
            block.trigger_id,
            block.verdict.name,
            block.reason.name,
            block.sequence,
            after_ms,
            block.recipe,
        )
        self._totals.took(answer)
        self._happened.append(Happening(What.TAKEN, *answer[:4]))
        self._match(block, part)
        return answer

    def _match(self, block: VerdictBlock, part: _Tracked | None) -> None:
        """Book a verdict on its part; the first one counts."""
        totals = self._totals
        if part is None:
            totals.unknown.append(block.trigger_id)
        elif part.verdict is not Verdict.NONE:
            totals.duplicates.append(block.trigger_id)
        else:
            if part.number < self._last_number:
                totals.out_of_order.append(block.trigger_id)
            self._last_number = part.number
            totals.after_window += part.is_past_gate
            part.verdict = block.verdict

    def _pass_photo_eye(self, now_ns: int, is_ready: bool) -> None:
        """Let the parts pass that are due; only one can be told from the next in one scan."""
        if self._rate_hz <= 0:
            return
        if self._next_part_ns is None:
            if not is_ready:
                return
            self._next_part_ns = now_ns
        if now_ns < self._next_part_ns or not self._is_firing:
            return
        period_ns = int(1e9 / self._rate_hz)
        self._next_part_ns = max(self._next_part_ns + period_ns, now_ns - period_ns)
        if not is_ready:
            self._totals.passed_unready += 1
            self._happened.append(Happening(What.UNASKED))
            return
        self._count()
        self._totals.fired += 1
        self._parts[self._counter] = _Tracked(now_ns, self._totals.fired)
        self._before_gate.append(self._counter)
        self._happened.append(Happening(What.FIRED, self._counter))

    def _count(self) -> None:
        """Count the trigger register up."""
        following = (self._counter + 1) % (1 << self._program.trigger_bits)
        self._counter = following or int(self._program.trigger_skips_zero)

    def _pass_gate(self, now_ns: int) -> None:
        """Sort out the parts that have reached the reject gate."""
        while self._before_gate and self._age_ns(self._before_gate[0], now_ns) >= self._window_ns:
            key = self._before_gate.popleft()
            part = self._parts[key]
            part.is_past_gate = True
            self._past_gate.append(key)
            is_good = part.verdict is Verdict.OK
            self._happened.append(Happening(What.PASSED if is_good else What.REJECTED, key))
            self._sort_out(now_ns, is_good)

    def _forget(self, now_ns: int) -> None:
        """Track no part for longer than two windows: what has no verdict by then is missing."""
        while self._past_gate and self._age_ns(self._past_gate[0], now_ns) >= 2 * self._window_ns:
            key = self._past_gate.popleft()
            if self._parts.pop(key).verdict is Verdict.NONE:
                self._totals.missing.append(key)

    def _age_ns(self, key: int, now_ns: int) -> int:
        return now_ns - self._parts[key].fired_ns

    def _sort_out(self, now_ns: int, is_good: bool) -> None:
        if is_good:
            self._totals.passed += 1
            return
        self._totals.rejected += 1
        self._reject_until_ns = now_ns + int(self._program.pulse_ms * _NS_PER_MS)


class _Beat:
    """Watches vision's heartbeat."""

    def __init__(self, stale_ms: float) -> None:
        self._stale_ns = int(stale_ms * _NS_PER_MS)
        self._value: int | None = None
        self._changed_ns = 0
        self.is_stale = True
        """Nothing has beaten yet, or not for too long."""

    def watch(self, now_ns: int, head: Head) -> bool:
        """Take one look; True at the moment when it is lost though vision says Ready."""
        if self._value is None:
            self._value = head.heartbeat
        if head.heartbeat != self._value:
            self._value, self._changed_ns, self.is_stale = head.heartbeat, now_ns, False
            return False
        was_fresh = not self.is_stale
        self.is_stale = self.is_stale or now_ns - self._changed_ns > self._stale_ns
        return was_fresh and self.is_stale and bool(head.status & StatusBit.READY)
