"""Which frames go through the model together, and when; pure.

Each model has its own batch, led by the part whose deadline comes first. Stations take turns in it,
so that one with many frames waiting does not crowd out another whose frame is as urgent. A batch
that is not full waits at most `max_wait_ms`, and never so long that its run would end too late for
the leading part. Of the batches that are due the most urgent runs; one that still waits holds up no
other. Parts whose deadline has passed are taken out: nobody can use their verdict.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inspectd.config.schema import Model

__all__ = ["Plan", "Planner", "Waiting"]

_NS_PER_MS = 1_000_000
_LEARN = 0.2
"""Share of the newest run in the running mean of run times."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A frame that waits for the engine."""

    model: str
    station: int
    trigger_id: int
    deadline_ns: int
    """0: none."""
    queued_ns: int
    reserve_ns: int = 0
    """What the stages behind the engine need of the time before the deadline."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do now."""

    batch: tuple[Waiting, ...] = ()
    """To run together; all of one model. Empty: nothing is due."""
    expired: tuple[Waiting, ...] = ()
    """To be given up: their deadline has passed."""


class Planner:
    """The queue before the engine. Bounded by the slots of the stations."""

    def __init__(self, models: Mapping[str, Model]) -> None:
        """Plan for these models, by name."""
        self._models = models
        self._queue: list[Waiting] = []
        self._run_ns: dict[tuple[str, int], float] = {}

    def __len__(self) -> int:
        """How many frames wait."""
        return len(self._queue)

    def add(self, waiting: Waiting) -> None:
        """Take a frame in."""
        self._queue.append(waiting)

    def learn(self, model: str, batch: int, took_ns: int) -> None:
        """Note how long a run of `batch` frames took."""
        known = self._run_ns.get((model, batch), float(took_ns))
        self._run_ns[model, batch] = known + _LEARN * (took_ns - known)

    def due_ns(self, now_ns: int) -> int | None:
        """When to ask `take` again; a time in the past: at once; None: nothing waits."""
        return min((self._closes_ns(one, now_ns) for one in self._leaders()), default=None)

    def take(self, now_ns: int) -> Plan:
        """Answer the batch that is due, and the parts that are too late; both leave the queue."""
        expired = tuple(one for one in self._queue if 0 < one.deadline_ns <= now_ns)
        self._leave(expired)
        due = [one for one in self._leaders() if self._closes_ns(one, now_ns) <= now_ns]
        if not due:
            return Plan(expired=expired)
        batch = self._fill(min(due, key=_urgency).model)
        self._leave(batch)
        return Plan(batch, expired)

    # ------------------------------------------------------------ inside

    def _leave(self, gone: Sequence[Waiting]) -> None:
        chosen = set(gone)
        self._queue = [one for one in self._queue if one not in chosen]

    def _leaders(self) -> list[Waiting]:
        """The most urgent frame of each model."""
        leaders: dict[str, Waiting] = {}
        for one in self._queue:
            leaders[one.model] = min(leaders.get(one.model, one), one, key=_urgency)
        return list(leaders.values())

    def _closes_ns(self, leader: Waiting, now_ns: int) -> int:
        """When the leader's batch is run: at once when it is full."""
        model = self._models[leader.model]
        waiting = [one.queued_ns for one in self._queue if one.model == leader.model]
        if len(waiting) >= model.batch_max:
            return now_ns
        closes_ns = min(waiting) + int(model.max_wait_ms * _NS_PER_MS)
        if not leader.deadline_ns:
            return closes_ns
        needed_ns = leader.reserve_ns + self._longest_ns(leader.model)
        return min(closes_ns, leader.deadline_ns - needed_ns)

    def _longest_ns(self, model: str) -> int:
        """The longest known run of the model: what waiting must leave time for."""
        known = [took for (name, _), took in self._run_ns.items() if name == model]
        return int(max(known, default=0.0))

    def _fill(self, model: str) -> tuple[Waiting, ...]:
        """Take the most urgent frame of each station in turn, until the batch is full."""
        by_station: dict[int, list[Waiting]] = defaultdict(list)
        for one in sorted(self._queue, key=_urgency):
            if one.model == model:
                by_station[one.station].append(one)
        return _in_turns(list(by_station.values()), self._models[model].batch_max)


def _urgency(one: Waiting) -> tuple[float, int, int]:
    """Earliest deadline first; parts without one come last, the longest waiting first."""
    return (one.deadline_ns or float("inf"), one.queued_ns, one.station)


def _in_turns(queues: Sequence[list[Waiting]], most: int) -> tuple[Waiting, ...]:
    """Take from the queues in turn, first things first in each."""
    taken: list[Waiting] = []
    depth = 0
    while len(taken) < most and any(len(queue) > depth for queue in queues):
        taken += [queue[depth] for queue in queues if len(queue) > depth]
        depth += 1
    return tuple(taken[:most])
