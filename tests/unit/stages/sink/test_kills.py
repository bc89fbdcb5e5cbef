"""The sink killed in the middle of its work: before and after each word to PLC and journal."""

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from inspectd.frame import Kind, Reason, Stamp, Ticket, Verdict
from inspectd.plc.program import Program

MS = 1_000_000
PARTS = 30
_PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
"""Without shrinking: a run of the bench is long, its seed is enough to find it again."""


class _KilledError(BaseException):
    """The process died here; what its turn was about to send was never sent."""


class _Fate:
    """Counts the words to PLC and journal, and kills at the appointed one."""

    def __init__(self) -> None:
        self.left: int | None = None

    def step(self) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.left = None
                raise _KilledError


class _Mortal:
    """Something whose every call may be the last: before it is done, or after."""

    def __init__(self, inner: Any, fate: _Fate) -> None:
        self._inner, self._fate = inner, fate

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        if not callable(value) or name in {"close", "scan", "report", "past", "find", "confirm"}:
            return value

        def call(*arguments: Any, **named: Any) -> Any:
            self._fate.step()
            answer = value(*arguments, **named)
            self._fate.step()
            return answer

        return call


def _mortal(bench: Any) -> _Fate:
    """Make a bench whose sink can be killed at any word."""
    fate = _Fate()
    bench.plc = _Mortal(bench.plc, fate)
    bench.journal = _Mortal(bench.journal, fate)
    bench.step = bench.new_step()
    return fate


def _live(bench: Any, fate: _Fate, words: list[int], duration_ms: int) -> None:
    """Let time pass; after each of so many words the sink is killed, and born again."""
    end_ns = bench.now_ns + duration_ms * MS
    coming = iter(words)
    fate.left = next(coming, None)
    while bench.now_ns < end_ns:
        if _is_killed(bench, end_ns):
            bench.restart()
            fate.left = next(coming, None)
    fate.left = None


def _is_killed(bench: Any, end_ns: int) -> bool:
    try:
        bench.run((end_ns - bench.now_ns) / MS)
    except _KilledError:
        return True
    return False


def _told(bench: Any) -> list[tuple[int, str]]:
    """What the record knows as told: one row for each part, whatever is added to it later."""
    rows: dict[tuple[int, int], str] = {}
    for event in bench.events:
        if event.stamps[Stamp.SENT]:
            rows.setdefault((event.trigger_id, event.stamps[Stamp.FIRED]), event.verdict.name)
    return [(trigger_id, verdict) for (trigger_id, _), verdict in rows.items()]


def _taken(bench: Any) -> list[tuple[int, str]]:
    """What the PLC took."""
    return [(one["trigger_id"], one["verdict"]) for one in bench.report("verdicts")]


@settings(
    max_examples=60,
    deadline=None,
    phases=_PHASES,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    words=st.lists(st.integers(0, 120), max_size=25),
    delays=st.lists(st.none() | st.integers(0, 130), min_size=PARTS, max_size=PARTS),
    first=st.sampled_from([0, 7, 2**32 - 10]),
)
def test_the_record_has_exactly_what_the_plc_took_wherever_the_sink_dies(
    make_bench: Any, words: list[int], delays: list[int | None], first: int
) -> None:
    """Each verdict once, the same, in the same order; and something for every trigger."""
    program = Program(rate_hz=40, parts=PARTS, window_ms=10_000, first_counter=first)
    bench = make_bench(program=program)
    fate = _mortal(bench)

    def answer(ticket: Ticket) -> tuple[int, Verdict] | None:
        delay = delays[ticket.trigger_id % PARTS]
        verdict = Verdict.NG if ticket.trigger_id % 3 else Verdict.OK
        return None if delay is None else (delay * MS, verdict)

    bench.answer = answer
    _live(bench, fate, words, 2500)
    assert _told(bench) == _taken(bench)
    for key in ("missing", "duplicates", "out_of_order", "unknown"):
        assert bench.report(key) == []
    assert [key for key, _ in _taken(bench)] == [(first + n) % 2**32 for n in range(1, PARTS + 1)]
    oks = [e for e in bench.events if e.verdict is Verdict.OK]
    assert all(e.stamps[Stamp.SENT] < e.deadline_ns for e in oks)


@pytest.mark.parametrize("word", range(60))
def test_a_kill_at_each_word_of_one_part(make_bench: Any, word: int) -> None:
    """One after the other, so that none is left to chance."""
    bench = make_bench(program=Program(rate_hz=20, parts=3, window_ms=10_000))
    fate = _mortal(bench)
    bench.run(60)
    _live(bench, fate, [word], 1000)
    assert _told(bench) == _taken(bench)
    assert [key for key, _ in _taken(bench)] == [1, 2, 3]


@settings(
    max_examples=40,
    deadline=None,
    phases=_PHASES,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(words=st.lists(st.integers(0, 60), max_size=12))
def test_a_station_without_a_plc_misses_no_part_either(make_bench: Any, words: list[int]) -> None:
    """Every trigger of the camera is in the record, in order: with its verdict, or lost."""
    bench = make_bench(is_plc_triggered=False)
    fate = _mortal(bench)
    for key in range(1, PARTS + 1):
        at_ns = bench.now_ns + key * 25 * MS
        ticket = Ticket(0, key, deadline_ns=at_ns + 100 * MS).stamped(Stamp.FIRED, at_ns)
        bench.send(Kind.TRIGGER, ticket, key * 25 * MS)
        verdict = ticket.decided(Verdict.OK, Reason.NONE, at_ns)
        bench.send(Kind.VERDICT, verdict, (key * 25 + 30) * MS)
    _live(bench, fate, words, 2000)
    ids = [e.trigger_id for e in bench.events if e.verdict is not Verdict.NONE]
    firsts = list(dict.fromkeys(ids))
    # The first triggers of all, and the last, may die in their sink's hands: no id shows the gap.
    assert firsts == list(range(firsts[0], firsts[0] + len(firsts)))
    assert len(firsts) >= PARTS - len(words)
