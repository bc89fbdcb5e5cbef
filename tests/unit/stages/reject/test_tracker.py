"""The shift register: only what was proven OK in time is let pass."""

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspectd.stages.reject.motion import CounterMotion
from inspectd.stages.reject.tracker import (
    CAPACITY,
    Cause,
    Eye,
    Layout,
    Outcome,
    Settling,
    Sighting,
    Tracker,
)

MS = 1_000_000
PLAIN = Layout(ejector_mm=500, zone_mm=40, backward_mm=5)
WITH_EYE = Layout(
    ejector_mm=500, zone_mm=40, backward_mm=5, eye=Eye(from_trigger_mm=440, window_mm=15)
)


def run(tracker: Tracker, start: int, end: int) -> tuple[list[Outcome], set[int]]:
    """Move the belt by whole millimetres; answer outcomes, and where the output was energised."""
    outcomes, passing = [], set()
    for mm in range(start, end):
        tracker.follow(mm)
        outcomes += tracker.advance(mm, mm)
        if tracker.is_passing(mm):
            passing.add(mm)
    return outcomes, passing


# ---------------------------------------------------------------- the examples


def test_the_output_is_energised_for_the_zone_of_a_good_part() -> None:
    """Half the zone before the part, half behind it, and nowhere else."""
    tracker = Tracker(PLAIN)
    tracker.enter(1, 10, 0)
    tracker.settle(1, 10, is_ok=True)
    outcomes, passing = run(tracker, 0, 700)
    assert outcomes == [Outcome(1, Cause.OK)]
    assert passing == set(range(480, 520))
    assert len(tracker) == 0


def test_silence_rejects() -> None:
    """No verdict when its zone reaches the output: released, and an OK then changes nothing."""
    tracker = Tracker(PLAIN)
    tracker.enter(1, 10, 0)
    outcomes, _ = run(tracker, 0, 481)
    assert tracker.settle(1, 10, is_ok=True) is Settling.TOO_LATE
    later, passing = run(tracker, 481, 700)
    assert outcomes + later == [Outcome(1, Cause.NO_VERDICT)]
    assert passing == set()


def test_an_ok_just_in_time_counts() -> None:
    """Up to the last millimetre before its zone."""
    tracker = Tracker(PLAIN)
    tracker.enter(1, 10, 0)
    run(tracker, 0, 480)
    assert tracker.settle(1, 10, is_ok=True) is Settling.TAKEN
    assert run(tracker, 480, 700)[0] == [Outcome(1, Cause.OK)]


def test_an_ok_of_another_trigger_passes_nothing() -> None:
    """Neither another id, nor the same id from before a restart of the counter."""
    tracker = Tracker(PLAIN)
    tracker.enter(1, 10, 0)
    assert tracker.settle(2, 10, is_ok=True) is Settling.NOBODY
    assert tracker.settle(1, 9, is_ok=True) is Settling.NOBODY
    assert run(tracker, 0, 700)[0] == [Outcome(1, Cause.NO_VERDICT)]


def test_an_ok_that_comes_before_its_trigger_passes_nothing() -> None:
    """The two travel in order; what does not is not trusted."""
    tracker = Tracker(PLAIN)
    assert tracker.settle(1, 10, is_ok=True) is Settling.NOBODY
    tracker.enter(1, 10, 0)
    assert run(tracker, 0, 700)[1] == set()


def test_a_second_verdict_can_only_reject() -> None:
    """OK, then NG: rejected, also inside the zone. NG, then OK: rejected."""
    tracker = Tracker(PLAIN)
    for trigger_id, at_mm in ((1, 0), (2, 100)):
        tracker.enter(trigger_id, 10, at_mm)
    tracker.settle(1, 10, is_ok=True)
    tracker.settle(2, 10, is_ok=False)
    assert tracker.settle(2, 10, is_ok=True) is Settling.TOO_LATE
    before, _ = run(tracker, 0, 490)
    assert tracker.settle(1, 10, is_ok=False) is Settling.TAKEN
    after, passing = run(tracker, 490, 700)
    assert before + after == [Outcome(1, Cause.NOT_OK), Outcome(2, Cause.NOT_OK)]
    assert passing == set()


def test_good_parts_closer_than_a_zone_share_one_pulse() -> None:
    """Overlapping zones merge: the output does not fall in between."""
    tracker = Tracker(PLAIN)
    for trigger_id, at_mm in ((1, 0), (2, 30)):
        tracker.enter(trigger_id, 10, at_mm)
        tracker.settle(trigger_id, 10, is_ok=True)
    outcomes, passing = run(tracker, 0, 700)
    assert [one.cause for one in outcomes] == [Cause.OK, Cause.OK]
    assert passing == set(range(480, 550))


@pytest.mark.parametrize(
    ("apart_mm", "cause", "width"),
    [(19, Cause.TOO_CLOSE, 19), (21, Cause.OK, 21), (39, Cause.OK, 39), (41, Cause.OK, 40)],
)
def test_reject_wins_where_zones_overlap(apart_mm: int, cause: Cause, width: int) -> None:
    """A good part is hit with a bad one behind it only when closer than half a zone."""
    tracker = Tracker(PLAIN)
    tracker.enter(1, 10, 0)
    tracker.settle(1, 10, is_ok=True)
    tracker.enter(2, 10, apart_mm)
    outcomes, passing = run(tracker, 0, 700)
    assert outcomes == [Outcome(1, cause), Outcome(2, Cause.NO_VERDICT)]
    assert len(passing) == width


def test_a_belt_that_stands_still_waits_with_its_parts() -> None:
    """Time alone decides nothing: the verdict may come while the belt stands."""
    tracker = Tracker(PLAIN)
    tracker.enter(1, 10, 0)
    for _ in range(1000):
        assert not tracker.advance(479, 479)
    assert tracker.settle(1, 10, is_ok=True) is Settling.TAKEN
    assert run(tracker, 479, 700)[0] == [Outcome(1, Cause.OK)]


def test_a_belt_that_swings_back_a_little_changes_nothing() -> None:
    """Up to `backward_mm`; the output follows the place, and each part is reported once."""
    tracker = Tracker(PLAIN)
    tracker.enter(1, 10, 0)
    tracker.settle(1, 10, is_ok=True)
    outcomes = run(tracker, 0, 502)[0]
    for mm in range(502, 497, -1):
        tracker.follow(mm)
        outcomes += tracker.advance(mm, mm)
        assert tracker.is_passing(mm)
    assert outcomes + run(tracker, 497, 700)[0] == [Outcome(1, Cause.OK)]


def test_a_belt_that_runs_backwards_rejects_what_lies_on_it() -> None:
    """What lies where is doubtful; parts that come after it are tracked as ever."""
    tracker = Tracker(PLAIN)
    tracker.enter(1, 10, 0)
    tracker.settle(1, 10, is_ok=True)
    run(tracker, 0, 490)
    tracker.follow(484)
    assert not tracker.advance(484, 484)
    assert tracker.is_passing(484)
    tracker.follow(483)
    assert not tracker.advance(483, 483)
    assert not tracker.is_passing(483)
    tracker.enter(2, 20, 483)
    tracker.settle(2, 20, is_ok=True)
    outcomes, passing = run(tracker, 484, 1100)
    assert outcomes == [Outcome(1, Cause.BACKWARDS), Outcome(2, Cause.OK)]
    assert passing == set(range(963, 1003))


def test_a_trigger_that_comes_twice_is_one_part() -> None:
    """Same id and same moment."""
    tracker = Tracker(PLAIN)
    assert tracker.enter(1, 10, 0)
    assert not tracker.enter(1, 10, 0)
    assert len(tracker) == 1


def test_a_part_that_nobody_served_was_not_let_pass() -> None:
    """Held up from before its zone to behind it: the output never rose, and the book says so."""
    tracker = Tracker(PLAIN)
    tracker.enter(1, 10, 0)
    tracker.settle(1, 10, is_ok=True)
    run(tracker, 0, 470)
    assert tracker.advance(510, 510) == [Outcome(1, Cause.STALLED)]


def test_a_trigger_that_comes_after_its_part_has_passed_is_nobody() -> None:
    """Nothing was energised for it; the bin does not wait for it."""
    tracker = Tracker(PLAIN)
    run(tracker, 0, 502)
    assert not tracker.enter(1, 10, 0)
    assert tracker.enter(2, 20, 5)
    assert run(tracker, 502, 700)[0] == [Outcome(2, Cause.NO_VERDICT)]


def test_a_full_register_rejects_everything() -> None:
    """More parts than a belt can hold: nothing is believed."""
    tracker = Tracker(PLAIN)
    for trigger_id in range(CAPACITY + 1):
        assert tracker.enter(trigger_id, 10, trigger_id) is (trigger_id < CAPACITY)
        tracker.settle(trigger_id, 10, is_ok=trigger_id < CAPACITY - 1)
    outcomes = tracker.advance(0, 0) + tracker.advance(5000, 5000)
    assert {one.cause for one in outcomes} == {Cause.LOST, Cause.NOT_OK}


def test_lost_parts_are_answered_and_gone() -> None:
    """When positions mean nothing any more, everything on the belt counts as rejected."""
    tracker = Tracker(PLAIN)
    tracker.enter(1, 10, 0)
    tracker.settle(1, 10, is_ok=True)
    tracker.advance(490, 490)
    assert tracker.lose() == [Outcome(1, Cause.LOST, is_there=False)]
    assert not tracker.is_passing(490)
    assert len(tracker) == 0


def test_the_next_edge_is_where_the_output_may_change() -> None:
    """The loop need not look in between."""
    tracker = Tracker(PLAIN)
    tracker.enter(1, 10, 0)
    assert tracker.next_edge_mm(0) == 480
    assert tracker.next_edge_mm(480) == 520
    assert tracker.next_edge_mm(520) is None


# ---------------------------------------------------------------- the eye


def test_a_part_that_slipped_is_let_pass_where_it_is() -> None:
    """The eye says where: the zone moves with the part."""
    tracker = Tracker(WITH_EYE)
    tracker.enter(1, 10, 0)
    tracker.settle(1, 10, is_ok=True)
    run(tracker, 0, 452)
    assert tracker.see(452) is Sighting.EXPECTED
    outcomes, passing = run(tracker, 452, 700)
    assert outcomes == [Outcome(1, Cause.OK)]
    assert passing == set(range(492, 532))


def test_a_part_that_the_eye_misses_is_rejected() -> None:
    """It fell off, or was taken; the bin need not wait for it."""
    tracker = Tracker(WITH_EYE)
    tracker.enter(1, 10, 0)
    tracker.settle(1, 10, is_ok=True)
    outcomes, passing = run(tracker, 0, 700)
    assert outcomes == [Outcome(1, Cause.NOT_SEEN, is_there=False)]
    assert passing == set()


def test_something_that_nobody_triggered_is_rejected() -> None:
    """Also beside a good part: reject wins."""
    tracker = Tracker(WITH_EYE)
    tracker.enter(1, 10, 0)
    tracker.settle(1, 10, is_ok=True)
    run(tracker, 0, 440)
    assert tracker.see(440) is Sighting.EXPECTED
    run(tracker, 440, 450)
    assert tracker.see(450) is Sighting.UNKNOWN
    outcomes, _ = run(tracker, 450, 700)
    assert outcomes == [Outcome(1, Cause.TOO_CLOSE), Outcome(None, Cause.UNKNOWN)]


def test_a_sighting_that_two_parts_could_be_passes_neither() -> None:
    """A good one that fell off must not lend its place to the bad one behind it."""
    tracker = Tracker(WITH_EYE)
    for trigger_id, at_mm in ((1, 0), (2, 20)):
        tracker.enter(trigger_id, 10, at_mm)
    tracker.settle(1, 10, is_ok=True)
    run(tracker, 0, 448)
    assert tracker.see(448) is Sighting.AMBIGUOUS
    outcomes, passing = run(tracker, 448, 700)
    assert passing == set()
    assert {one.cause for one in outcomes} == {Cause.AMBIGUOUS, Cause.UNKNOWN}


def test_a_part_seen_too_late_to_follow_is_rejected() -> None:
    """Its new zone has begun already: half a pulse could hit it in the middle."""
    tracker = Tracker(
        Layout(ejector_mm=500, zone_mm=40, backward_mm=5, eye=Eye(from_trigger_mm=478, window_mm=5))
    )
    tracker.enter(1, 10, 0)
    tracker.settle(1, 10, is_ok=True)
    run(tracker, 0, 480)
    assert tracker.see(474) is Sighting.EXPECTED
    assert run(tracker, 480, 700)[1] == set()


# ---------------------------------------------------------------- any belt


@dataclass(frozen=True)
class _Made:
    """A part as it really is."""

    trigger_id: int
    mm: int
    """Where the belt stood when it was triggered."""
    verdict_after_mm: int | None
    is_ok: bool


PARTS = st.lists(
    st.tuples(
        st.integers(1, 120),
        st.one_of(st.none(), st.integers(0, 900)),
        st.booleans(),
    ),
    max_size=20,
)


def _parts(made: list[tuple[int, int | None, bool]]) -> list[_Made]:
    parts, mm = [], 50
    for index, (apart, after, is_ok) in enumerate(made):
        mm += apart
        parts.append(_Made(index, mm, after, is_ok))
    return parts


@pytest.mark.slow
@settings(deadline=None)
@given(
    made=PARTS,
    bits=st.sampled_from([16, 32]),
    first=st.integers(0, (1 << 32) - 1),
    speeds=st.lists(st.sampled_from([0, 1, 2, 2, 2, 2]), min_size=20, max_size=20),
)
def test_what_passes_was_proven_ok_in_time_and_nothing_else(
    made: list[tuple[int, int | None, bool]], bits: int, first: int, speeds: list[int]
) -> None:
    """Any spacing, any delay of verdicts, any stops, any roll-over.

    A part passes if and only if its own OK came before its zone and no other part that did not pass
    is closer than half a zone. One belt unit is a millimetre, one turn is 4 ms.
    """
    parts = _parts(made)
    outcomes, passing = _run_any_belt(Tracker(PLAIN), parts, bits, first, speeds)
    passed = {one.trigger_id for one in outcomes if one.is_let_pass}
    surely_ok = {part.trigger_id for part in parts if _is_proven(part, 478)}
    assert len(outcomes) == len(parts)
    assert passed <= {part.trigger_id for part in parts if _is_proven(part, 480)}
    bad = [part.mm for part in parts if part.trigger_id not in surely_ok]
    for part in parts:
        body = {part.mm + 499, part.mm + 500, part.mm + 501}
        if not _is_proven(part, 480):
            assert not passing & body
        elif part.trigger_id in surely_ok and min_apart(part.mm, bad) > 21:
            assert part.trigger_id in passed
            assert passing & body


def _run_any_belt(
    tracker: Tracker, parts: list[_Made], bits: int, first: int, speeds: list[int]
) -> tuple[list[Outcome], set[int]]:
    """Run a belt seen through a counter; answer outcomes, and where the output was energised."""
    motion = CounterMotion(
        bits=bits,
        counts_per_mm=20,
        speed_max_mm_s=500,
        slack_ns=MS,
        horizon_ns=10 * MS,
        kept_ns=10_000 * MS,
    )
    verdicts = {p.trigger_id: p for p in parts if p.verdict_after_mm is not None}
    waiting = {p.trigger_id: p for p in parts}
    outcomes: list[Outcome] = []
    passing: set[int] = set()
    mm = turn = 0
    while mm < max((part.mm for part in parts), default=0) + 600:
        motion.take((first + mm * 20) % (1 << bits), turn * 4 * MS)
        here = round(motion.position_at(turn * 4 * MS) or 0)
        for part in [part for part in waiting.values() if part.mm <= mm]:
            tracker.enter(part.trigger_id, part.mm, part.mm)
            del waiting[part.trigger_id]
        for part in [p for p in verdicts.values() if p.mm + (p.verdict_after_mm or 0) < mm]:
            tracker.settle(part.trigger_id, part.mm, is_ok=part.is_ok)
            del verdicts[part.trigger_id]
        tracker.follow(here)
        outcomes += tracker.advance(here, here)
        if tracker.is_passing(here):
            passing.add(mm)
        mm += speeds[turn % 20] or (turn % 7 == 0)
        turn += 1
    return outcomes, passing


@pytest.mark.slow
@settings(deadline=None)
@given(
    made=PARTS,
    slips=st.lists(st.integers(-14, 14), min_size=20, max_size=20),
    gone=st.sets(st.integers(0, 19)),
    strange=st.lists(st.integers(400, 2000), max_size=4),
)
def test_with_an_eye_only_what_it_saw_passes(
    made: list[tuple[int, int | None, bool]], slips: list[int], gone: set[int], strange: list[int]
) -> None:
    """Parts slip, fall off, and strangers lie between: where something is, its own OK is needed.

    Parts keep a distance of more than two windows, as the station file must promise, and no
    stranger lies just where a part is missing: nobody could tell the two apart.
    """
    tracker = Tracker(WITH_EYE)
    parts = _parts([(apart + 60, after, is_ok) for apart, after, is_ok in made])
    at_eye = {p.mm + 440 + slips[p.trigger_id]: p for p in parts if p.trigger_id not in gone}
    missing = [part.mm + 440 for part in parts if part.trigger_id in gone]
    things = set(at_eye) | {mm for mm in strange if min_apart(mm, missing) > 15}
    passing = _pass_by(tracker, parts, things)
    for mm in things:
        if mm not in at_eye or not _is_proven(at_eye[mm], 10_000):
            assert mm + 60 not in passing
        elif min_apart(mm, list(things - {mm})) > 30 and _is_proven(at_eye[mm], 440):
            assert mm + 60 in passing


def min_apart(mm: int, others: list[int]) -> int:
    """Millimetres to the nearest of the others."""
    return min((abs(mm - other) for other in others), default=10_000)


def _is_proven(part: _Made, within_mm: int) -> bool:
    return part.is_ok and part.verdict_after_mm is not None and part.verdict_after_mm < within_mm


def _pass_by(tracker: Tracker, parts: list[_Made], things: set[int]) -> set[int]:
    """Run the belt; answer where the output was energised."""
    passing: set[int] = set()
    for mm in range(max((part.mm for part in parts), default=0) + 3000):
        for part in parts:
            if part.mm == mm:
                tracker.enter(part.trigger_id, 1, mm)
            if part.verdict_after_mm is not None and part.mm + part.verdict_after_mm == mm:
                tracker.settle(part.trigger_id, 1, is_ok=part.is_ok)
        if mm in things:
            tracker.see(mm)
        tracker.follow(mm)
        tracker.advance(mm, mm)
        if tracker.is_passing(mm):
            passing.add(mm)
    return passing
