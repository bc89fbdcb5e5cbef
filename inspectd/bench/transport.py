"""One hop of a ticket, held against a bare ZeroMQ ping of the same bytes in the same minute.

Both go to an echo in a process of its own and back; a hop is half of the round. The two take turns
in short rounds, so that whatever else the machine does hits both. Each end stays on a core of its
own: left to itself, the scheduler sometimes puts both ends of a pair on one core, which halves the
time of a hop at random (measured: bare 28 or 57 us), and no ratio means anything.
"""

import argparse
import os
import secrets
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import zmq

from inspectd.bench.finding import Finding
from inspectd.bus import wire
from inspectd.bus.link import Inbox, Outbox, Road
from inspectd.errors import UsageFault
from inspectd.frame import Kind, Role, Ticket
from inspectd.host.tether import tie

__all__ = ["Hops", "find", "main", "measure"]

_RATIO_MAX = 2.0
"""Aim: the median of one hop at most twice a bare ZeroMQ ping."""

_TICKET = Ticket(
    station=0,
    trigger_id=4711,
    part_id="part-4711",
    slot=3,
    generation=77,
    deadline_ns=1 << 60,
    detail=b'{"image": "part-4711.png", "measures": {"sharpness": [412.5, 80.0]}}',
)
_TURN_S = 0.1
_WARM_UP = 200
_ROUND = 50
_START_S = 30


@dataclass(frozen=True, slots=True)
class Hops:
    """Times of one hop, microseconds."""

    ours_us: tuple[float, ...]
    bare_us: tuple[float, ...]
    message_bytes: int

    @property
    def ratio(self) -> float:
        """Median of ours over median of the bare ping."""
        return statistics.median(self.ours_us) / statistics.median(self.bare_us)


def find(hops: int) -> Finding:
    """Measure about so many hops of each kind."""
    seen = measure(hops)
    ours, bare = _quantiles(seen.ours_us), _quantiles(seen.bare_us)
    return Finding(
        title=f"one hop of a ticket ({seen.message_bytes} bytes), microseconds",
        lines=[
            ("inspectd", f"p50 {ours['p50']:7.1f}  p99 {ours['p99']:7.1f}"),
            ("bare ZeroMQ", f"p50 {bare['p50']:7.1f}  p99 {bare['p99']:7.1f}"),
            ("ratio of p50", f"{seen.ratio:.2f}"),
        ],
        numbers={
            "hop_us": ours,
            "bare_us": bare,
            "message_bytes": seen.message_bytes,
            "ratio_p50": round(seen.ratio, 3),
        },
        aim=f"at most {_RATIO_MAX}",
        is_met=seen.ratio <= _RATIO_MAX,
    )


def _quantiles(times_us: Sequence[float]) -> dict[str, float]:
    cuts = statistics.quantiles(times_us, n=100)
    return {"p50": round(cuts[49], 1), "p99": round(cuts[98], 1)}


def measure(hops: int) -> Hops:
    """Measure about so many hops of each kind.

    Raises:
        UsageFault: the echo process did not start.
    """
    core = str(max(os.sched_getaffinity(0)))
    with _on_core(min):
        return _measure(hops, core)


def _measure(hops: int, core: str) -> Hops:
    run = f"bench-{secrets.token_hex(4)}"
    token = secrets.randbits(64)
    road = Road(run, token)
    try:
        with _echoes(run, token, core), _bare_ping(run) as bare:
            inbox = road.inbox(Role.CAMERA, 0)
            ours = _our_ping(inbox, road.outbox(Role.GATE, 0))
            _wait_for_echo(inbox, ours)
            for _ in range(_WARM_UP):
                ours()
                bare()
            ours_us: list[float] = []
            bare_us: list[float] = []
            while len(ours_us) < hops:
                ours_us += _timed(ours)
                bare_us += _timed(bare)
    finally:
        road.close()
    size = len(wire.encode(Kind.FRAME, _TICKET, token))
    return Hops(tuple(ours_us), tuple(bare_us), size)


def _timed(ping: Callable[[], bool]) -> list[float]:
    """One round; microseconds of a hop."""
    times = []
    for _ in range(_ROUND):
        begin = time.perf_counter_ns()
        ping()
        times.append((time.perf_counter_ns() - begin) / 2000)
    return times


def _our_ping(inbox: Inbox, outbox: Outbox) -> Callable[[], bool]:
    """There as a stage would send it, back as a stage would receive it."""

    def ping() -> bool:
        outbox.send(Kind.FRAME, _TICKET)
        until = time.monotonic() + _TURN_S
        while time.monotonic() < until:
            if inbox.wait(_TURN_S) and inbox.receive() is not None:
                return True
        return False

    return ping


@contextmanager
def _bare_ping(run: str) -> Iterator[Callable[[], bool]]:
    """The same sockets without anything of ours around them."""
    message = wire.encode(Kind.FRAME, _TICKET, 0)
    with zmq.Context() as context, _bare_ends(context, run, "there", "back") as (pull, push):

        def ping() -> bool:
            push.send(message)
            pull.recv()
            return True

        yield ping


@contextmanager
def _bare_ends(
    context: "zmq.Context[zmq.Socket[bytes]]", run: str, to: str, here: str
) -> Iterator[tuple["zmq.Socket[bytes]", "zmq.Socket[bytes]"]]:
    with context.socket(zmq.PULL) as pull, context.socket(zmq.PUSH) as push:
        pull.setsockopt(zmq.LINGER, 0)
        push.setsockopt(zmq.LINGER, 0)
        pull.bind(f"ipc://@{run}-bare-{here}")
        push.connect(f"ipc://@{run}-bare-{to}")
        yield pull, push


def _wait_for_echo(inbox: Inbox, ping: Callable[[], bool]) -> None:
    until = time.monotonic() + _START_S
    while not ping():
        if time.monotonic() > until:
            raise UsageFault("the echo process does not answer", "transport", "see its message")
    while inbox.wait(_TURN_S):
        inbox.receive()  # what was asked while it started is answered as well


@contextmanager
def _on_core(choose: Callable[[set[int]], int]) -> Iterator[None]:
    """Stay on one of the cores that this process may use; threads started meanwhile as well."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {choose(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


@contextmanager
def _echoes(run: str, token: int, core: str) -> Iterator[None]:
    """Both echoes, each in a process of its own; the token goes by the environment of the child."""
    children = [
        subprocess.Popen(
            [sys.executable, "-m", "inspectd.bench.transport", kind, run, str(os.getpid()), core],
            env={**os.environ, "INSPECTD_BENCH_TOKEN": str(token)},
        )
        for kind in ("ours", "bare")
    ]
    try:
        yield
    finally:
        for child in children:
            child.kill()
            child.wait()


def _echo_ours(run: str) -> None:
    road = Road(run, int(os.environ["INSPECTD_BENCH_TOKEN"]))
    inbox, outbox = road.inbox(Role.GATE, 0), road.outbox(Role.CAMERA, 0)
    while True:
        if inbox.wait(_TURN_S):
            message = inbox.receive()
            if message is not None:
                outbox.send(*message)


def _echo_bare(run: str) -> None:
    with zmq.Context() as context, _bare_ends(context, run, "back", "there") as (pull, push):
        while True:
            push.send(pull.recv())


def main(argv: Sequence[str]) -> None:
    """Be an echo until killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("ours", "bare"))
    parser.add_argument("run")
    parser.add_argument("parent", type=int)
    parser.add_argument("core", type=int)
    arguments = parser.parse_args(argv)
    tie(arguments.parent, f"bench-{arguments.kind}")
    os.sched_setaffinity(0, {arguments.core})
    {"ours": _echo_ours, "bare": _echo_bare}[arguments.kind](arguments.run)


if __name__ == "__main__":
    main(sys.argv[1:])
