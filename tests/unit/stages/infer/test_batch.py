"""Which frames go through the model together, and when."""

from hypothesis import given
from hypothesis import strategies as st

from inspectd.config.schema import Model
from inspectd.frame import Ticket
from inspectd.stages.infer.batch import Planner, Waiting

MS = 1_000_000


def planner(batch_max: int = 4, max_wait_ms: float = 0.0) -> Planner:
    """A planner of two models, `a` and `b`."""
    return Planner(
        {
            name: Model(name=name, path="", batch_max=batch_max, max_wait_ms=max_wait_ms)
            for name in ("a", "b")
        }
    )


def frame(
    trigger_id: int, *, station: int = 0, model: str = "a", deadline_ms: int = 100, at_ms: int = 0
) -> Waiting:
    """A waiting frame."""
    ticket = Ticket(station, trigger_id, deadline_ns=deadline_ms * MS)
    return Waiting(model, ticket, at_ms * MS)


def test_a_lone_frame_does_not_wait_when_max_wait_is_zero() -> None:
    """It is due at once, and goes alone."""
    queue = planner()
    queue.add(frame(1))
    assert queue.due_ns() == 0
    assert queue.take(0).batch == (frame(1),)
    assert queue.due_ns() is None


def test_a_lone_frame_waits_no_longer_than_max_wait() -> None:
    """It goes when its time is up, not before."""
    queue = planner(max_wait_ms=20)
    queue.add(frame(1, at_ms=5))
    assert queue.due_ns() == 25 * MS
    assert queue.take(24 * MS).batch == ()
    assert queue.take(25 * MS).batch == (frame(1, at_ms=5),)


def test_a_full_batch_does_not_wait() -> None:
    """The last frame that fits starts it."""
    queue = planner(batch_max=2, max_wait_ms=20)
    queue.add(frame(1))
    queue.add(frame(2))
    assert queue.due_ns() == 0
    assert len(queue.take(0).batch) == 2


def test_waiting_ends_where_it_would_break_a_deadline() -> None:
    """The known run time is taken off the leader's deadline."""
    queue = planner(max_wait_ms=500)
    queue.learn("a", 1, 30 * MS)
    queue.add(frame(1, deadline_ms=100))
    assert queue.due_ns() == 70 * MS
    assert len(queue.take(70 * MS).batch) == 1


def test_the_earliest_deadline_leads() -> None:
    """Whatever came first, the urgent model runs first."""
    queue = planner()
    queue.add(frame(1, model="a", deadline_ms=200))
    queue.add(frame(2, model="b", deadline_ms=100))
    assert [one.model for one in queue.take(0).batch] == ["b"]
    assert [one.model for one in queue.take(0).batch] == ["a"]


def test_a_part_past_its_deadline_is_given_up() -> None:
    """The engine's time belongs to parts that can still be told."""
    queue = planner()
    queue.add(frame(1, deadline_ms=10))
    queue.add(frame(2, deadline_ms=100))
    plan = queue.take(10 * MS)
    assert [one.ticket.trigger_id for one in plan.expired] == [1]
    assert [one.ticket.trigger_id for one in plan.batch] == [2]


def test_a_burst_of_one_station_leaves_room_for_another() -> None:
    """Stations take turns within a batch."""
    queue = planner(batch_max=4)
    for trigger_id in range(10):
        queue.add(frame(trigger_id, station=0))
    queue.add(frame(77, station=1, deadline_ms=101))
    assert 77 in [one.ticket.trigger_id for one in queue.take(0).batch]


FRAMES = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.integers(0, 300), st.integers(0, 100)),
    max_size=40,
)


@given(FRAMES, st.integers(1, 8), st.floats(0, 50))
def test_every_frame_leaves_exactly_once(
    frames: list[tuple[int, str, int, int]], batch_max: int, wait: float
) -> None:
    """In a batch of its own model or as expired; never late into a batch, none stays."""
    queue = planner(batch_max, wait)
    came = [
        frame(i, station=s, model=m, deadline_ms=d, at_ms=a)
        for i, (s, m, d, a) in enumerate(frames)
    ]
    for one in came:
        queue.add(one)
    left: list[Waiting] = []
    now_ns = 100 * MS
    while (due := queue.due_ns()) is not None:
        now_ns = max(now_ns, due)
        plan = queue.take(now_ns)
        assert len(plan.batch) <= batch_max
        assert len({one.model for one in plan.batch}) <= 1
        assert all(
            one.ticket.deadline_ns == 0 or one.ticket.deadline_ns > now_ns for one in plan.batch
        )
        assert plan.batch or plan.expired
        left += [*plan.batch, *plan.expired]
    assert sorted(left, key=lambda one: one.ticket.trigger_id) == came
    assert len(queue) == 0


def test_a_waiting_batch_holds_up_no_other_model() -> None:
    """The engine would stand idle: the urgent model waits for company, the other is full."""
    queue = Planner(
        {
            "a": Model(name="a", path="", batch_max=4, max_wait_ms=50),
            "b": Model(name="b", path="", batch_max=1, max_wait_ms=50),
        }
    )
    queue.add(frame(1, model="a", deadline_ms=100))
    queue.add(frame(2, model="b", deadline_ms=200))
    assert queue.due_ns() == 0
    assert [one.ticket.trigger_id for one in queue.take(0).batch] == [2]
    assert queue.due_ns() == 50 * MS


def test_waiting_leaves_time_for_the_stages_behind() -> None:
    """A raw output at the deadline is a verdict after it."""
    queue = planner(max_wait_ms=500)
    queue.learn("a", 4, 30 * MS)
    queue.add(Waiting("a", Ticket(0, 1, deadline_ns=100 * MS), 0, reserve_ns=25 * MS))
    assert queue.due_ns() == 45 * MS


def test_the_newest_run_moves_the_known_time_a_little() -> None:
    """One slow run does not make every later batch leave early."""
    queue = planner(max_wait_ms=500)
    queue.learn("a", 1, 10 * MS)
    queue.learn("a", 1, 60 * MS)
    queue.add(frame(1, deadline_ms=100))
    assert queue.due_ns() == 80 * MS


@given(st.lists(st.integers(0, 9), min_size=2, max_size=30), st.integers(2, 8))
def test_no_station_is_left_out_while_another_has_two(counts: list[int], batch_max: int) -> None:
    """With equal deadlines, a second frame of one station waits until every other had its first."""
    queue = planner(batch_max)
    for station, count in enumerate(counts):
        for trigger_id in range(count):
            queue.add(frame(trigger_id, station=station))
    batch = queue.take(0).batch
    taken = [sum(one.ticket.station == station for one in batch) for station in range(len(counts))]
    left_out = [s for s, count in enumerate(counts) if count and not taken[s]]
    assert not left_out or max(taken) <= 1


def _served(demands: dict[int, tuple[float, int]], run_ms: int, runs: int) -> dict[int, list[int]]:
    """Let stations (frames per run, deadline in ms) compete for single-frame runs.

    Returns:
        Frames run in time, and frames given up, by station.
    """
    queue = planner(batch_max=1)
    queue.learn("a", 1, run_ms * MS)
    came = dict.fromkeys(demands, 0.0)
    answer = {station: [0, 0] for station in demands}
    for turn in range(runs):
        now_ms = turn * run_ms
        for station, (rate, deadline_ms) in demands.items():
            came[station] += rate
            while came[station] >= 1:
                came[station] -= 1
                due_ms = now_ms + deadline_ms
                queue.add(frame(turn, station=station, deadline_ms=due_ms, at_ms=now_ms))
        plan = queue.take(now_ms * MS)
        for one in plan.batch:
            late = one.ticket.deadline_ns < (now_ms + run_ms) * MS
            answer[one.ticket.station][late] += 1
        for one in plan.expired:
            answer[one.ticket.station][1] += 1
    return answer


def test_a_flood_of_urgent_frames_starves_no_other_station() -> None:
    """Three times the engine's rate with short deadlines against a tenth with long ones."""
    served = _served({0: (3.0, 40), 1: (0.1, 200)}, run_ms=10, runs=400)
    in_time, given_up = served[1]
    assert given_up == 0
    assert in_time >= 38
    assert served[0][0] >= 340


def test_two_floods_share_the_engine() -> None:
    """Whoever has the shorter deadlines gets no more than the other."""
    served = _served({0: (2.0, 40), 1: (2.0, 200)}, run_ms=10, runs=400)
    assert abs(served[0][0] - served[1][0]) < 60


def test_credit_changes_nothing_while_the_engine_keeps_up() -> None:
    """Then the earliest deadline goes first, whoever has had more of the engine."""
    queue = planner(batch_max=1)
    queue.learn("a", 1, 10 * MS)
    for trigger_id in range(5):
        queue.add(frame(trigger_id, station=0, deadline_ms=100))
    queue.add(frame(77, station=1, deadline_ms=200))
    order = [queue.take(turn * 10 * MS).batch[0].ticket.station for turn in range(6)]
    assert order == [0, 0, 0, 0, 0, 1]
