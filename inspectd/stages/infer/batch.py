"""Which frames go through the model together, and when; pure.

Each model has its own batch, led by the part whose deadline comes first. Stations take turns in it,
so that one with many frames waiting does not crowd out another whose frame is as urgent. A batch
that is not full waits at most `max_wait_ms`, and never so long that its run would end too late for
the leading part. Of the batches that are due the most urgent runs; one that still waits holds up no
other. Parts whose deadline has passed are taken out: nobody can use their verdict.

Under a lasting overload the most urgent parts are always those of the station with the shortest
deadlines, however many it sends. So each station has a credit: one that has had more of the
engine's time than another, by more than a run, lets the other go first when that one's part would
otherwise be late. While the engine keeps up, no part is in that danger, and credit changes nothing.
"""

from bisect import insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from inspectd.config.schema import Model
from inspectd.frame import Ticket

__all__ = ["Plan", "Planner", "Waiting"]

_NS_PER_MS = 1_000_000
_LEARN = 0.2
"""Share of the newest run in the running mean of run times."""
_NEVER = float("inf")


class Waiting(NamedTuple):
    """A frame that waits for the engine."""

    model: str
    ticket: Ticket
    queued_ns: int
    reserve_ns: int = 0
    """What the stages behind the engine need of the time before the deadline."""
    pictures: int = 1
    """That go through the model for it: its tiles."""


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
        self._lanes = {name: _Lane(model) for name, model in models.items()}
        self._credit = _Credit()
        self._due_ns: int | None = None
        """What `due_ns` answers until frames come or go."""
        self._is_changed = False

    def __len__(self) -> int:
        """How many frames wait."""
        return sum(len(queue) for lane in self._lanes.values() for queue in lane.queues.values())

    def add(self, waiting: Waiting) -> None:
        """Take a frame in."""
        self._credit.came(waiting.ticket.station, self._heads())
        self._lanes[waiting.model].add(waiting)
        self._is_changed = True

    def learn(self, model: str, batch: int, took_ns: int) -> None:
        """Note how long a run of `batch` pictures took."""
        self._lanes[model].learn(batch, took_ns)
        self._is_changed = True

    def due_ns(self) -> int | None:
        """When to ask `take` again; a time in the past: at once; None: nothing waits."""
        if self._is_changed:  # asked for far more often than it changes
            busy = (lane for lane in self._lanes.values() if lane.queues)
            self._due_ns = min((lane.closes_ns() for lane in busy), default=None)
            self._is_changed = False
        return self._due_ns

    def take(self, now_ns: int) -> Plan:
        """Answer the batch that is due, and the parts that are too late; both leave the queue."""
        lanes = self._lanes.values()
        expired = tuple(chain.from_iterable(lane.expire(now_ns) for lane in lanes))
        self._is_changed = True
        return Plan(self._batch(now_ns), expired)

    # ------------------------------------------------------------ inside

    def _heads(self) -> Iterator[Waiting]:
        """The most urgent frame of each station and model."""
        return (queue[0] for lane in self._lanes.values() for queue in lane.queues.values())

    def _batch(self, now_ns: int) -> tuple[Waiting, ...]:
        due = [lane for lane in self._lanes.values() if lane.queues and lane.closes_ns() <= now_ns]
        heads = [queue[0] for lane in due for queue in lane.queues.values()]
        if not heads:
            return ()
        leader = min(heads, key=_urgency)
        if len(heads) > 1:
            leader = self._first(leader, heads, now_ns)
        lane = self._lanes[leader.model]
        batch = lane.fill(leader.ticket.station)
        self._credit.used(batch, lane.takes_ns(sum(one.pictures for one in batch)))
        return batch

    def _first(self, urgent: Waiting, heads: Sequence[Waiting], now_ns: int) -> Waiting:
        """The most urgent frame, or one that it would make late though its turn has come."""
        longest_ns = max(lane.longest_ns for lane in self._lanes.values())
        for other in sorted(heads, key=lambda one: self._credit.of(one.ticket.station)):
            if self._credit.lead(urgent.ticket.station, other.ticket.station) <= longest_ns:
                break
            spare_ns = other.ticket.deadline_ns - now_ns - self._needs_ns(other)
            if other.ticket.deadline_ns and 0 <= spare_ns < self._lanes[urgent.model].longest_ns:
                return other
        return urgent

    def _needs_ns(self, one: Waiting) -> int:
        """What a frame needs of the time before its deadline."""
        return self._lanes[one.model].longest_ns + one.reserve_ns


class _Lane:
    """The frames that wait for one model, by station, the most urgent first."""

    def __init__(self, model: Model) -> None:
        self._batch_max = model.batch_max
        self._wait_ns = int(model.max_wait_ms * _NS_PER_MS)
        self._runs_ns: dict[int, float] = {}
        self.longest_ns = 0
        """The longest known run: what waiting must leave time for."""
        self.queues: dict[int, list[Waiting]] = {}
        """No queue in it is empty."""

    def add(self, one: Waiting) -> None:
        queue = self.queues.setdefault(one.ticket.station, [])
        if not queue or _urgency(queue[-1]) <= _urgency(one):
            queue.append(one)
        else:
            insort(queue, one, key=_urgency)

    def learn(self, batch: int, took_ns: int) -> None:
        known = self._runs_ns.get(batch, float(took_ns))
        self._runs_ns[batch] = known + _LEARN * (took_ns - known)
        self.longest_ns = int(max(self._runs_ns.values()))

    def takes_ns(self, batch: int) -> float:
        """How long such a batch takes, as far as known."""
        return self._runs_ns.get(batch, self.longest_ns)

    def closes_ns(self) -> int:
        """When the batch is run; 0: at once, for it is full or waits for nobody."""
        if not self._wait_ns:
            return 0
        frames = list(chain.from_iterable(self.queues.values()))
        if sum(one.pictures for one in frames) >= self._batch_max:
            return 0
        closes_ns = min(one.queued_ns for one in frames) + self._wait_ns
        leader = min(frames, key=_urgency)
        if not leader.ticket.deadline_ns:
            return closes_ns
        return min(closes_ns, leader.ticket.deadline_ns - leader.reserve_ns - self.longest_ns)

    def expire(self, now_ns: int) -> Iterator[Waiting]:
        """Take out what is too late: in front, where the deadlines are nearest."""
        for station, queue in list(self.queues.items()):
            late = 0
            while late < len(queue) and 0 < queue[late].ticket.deadline_ns <= now_ns:
                late += 1
            if late:
                yield from queue[:late]
                self._keep(station, queue[late:])

    def fill(self, first: int) -> tuple[Waiting, ...]:
        """Take the most urgent frame of each station in turn, until the batch is full.

        A frame of more pictures than a batch holds goes alone.
        """
        turns = sorted(self.queues, key=lambda at: (at != first, _urgency(self.queues[at][0])))
        sizes = [[one.pictures for one in self.queues[at]] for at in turns]
        share = _shares(sizes, self._batch_max)
        batch: list[Waiting] = []
        for station, count in zip(turns, share, strict=True):
            batch += self.queues[station][:count]
            self._keep(station, self.queues[station][count:])
        return tuple(batch)

    def _keep(self, station: int, queue: list[Waiting]) -> None:
        if queue:
            self.queues[station] = queue
        else:
            del self.queues[station]


class _Credit:
    """The engine's time that each station has had, since it last had nothing to do."""

    def __init__(self) -> None:
        self._had_ns: dict[int, float] = {}

    def of(self, station: int) -> float:
        """Nanoseconds."""
        return self._had_ns.get(station, 0.0)

    def lead(self, station: int, other: int) -> float:
        """How much more one has had than the other."""
        return self.of(station) - self.of(other)

    def came(self, station: int, waiting: Iterable[Waiting]) -> None:
        """Nobody saves up credit while he has nothing to do."""
        others = {one.ticket.station for one in waiting}
        if station not in others:
            least = min((self.of(other) for other in others), default=0.0)
            self._had_ns[station] = max(self.of(station), least) if others else 0.0

    def used(self, batch: Sequence[Waiting], took_ns: float) -> None:
        """Charge a run to the stations in it."""
        each_ns = took_ns / sum(one.pictures for one in batch)
        for one in batch:
            station = one.ticket.station
            self._had_ns[station] = self.of(station) + each_ns * one.pictures


def _urgency(one: Waiting) -> tuple[float, int, int]:
    """Earliest deadline first; parts without one come last, the longest waiting first."""
    return (one.ticket.deadline_ns or _NEVER, one.queued_ns, one.ticket.station)


def _shares(sizes: Sequence[Sequence[int]], most: int) -> list[int]:
    """How many each may take, in turn, one at a time, while the batch has room for the next.

    Args:
        sizes: Pictures of each frame, queue by queue.
        most: Pictures of a batch; the very first frame goes whatever its size.
    """
    shares = [0] * len(sizes)
    left, before = most, None
    while shares != before:
        before = list(shares)
        for at, queue in enumerate(sizes):
            if shares[at] < len(queue) and (queue[shares[at]] <= left or left == most):
                left -= queue[shares[at]]
                shares[at] += 1
    return shares
