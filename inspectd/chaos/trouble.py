"""How each fault is done, and undone: a context manager for each action, over when it yields."""

import os
import random
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from time import monotonic_ns

from inspectd.chaos.burn import Burners
from inspectd.chaos.inject import inject
from inspectd.chaos.kinds import Action
from inspectd.chaos.page import Word
from inspectd.chaos.plan import Fault
from inspectd.chaos.world import World
from inspectd.frame import Role

__all__ = ["Struck", "strike"]

_FIND_S = 60.0
"""Longest wait for a process to be there before it is struck."""
_END_S = 90.0
"""Longest orderly end of a line."""
_FLOOD_HZ = 80.0
_FLOOD_TIMES = 8.0
"""At most so many times the usual rate."""
_ENGINE_ERRORS_ENDING = 3
"""Failed runs in a row after which the inference gives up (`inspectd.stages.infer.step`)."""
_CLOCK_MS = 2 * 3600 * 1000
_FOREVER_NS = 1 << 62
_LOOK = 0
"""The signal that only asks whether a process is there."""


class Struck:
    """What a fault turned out to be."""

    def __init__(self) -> None:
        self.begin_ns = monotonic_ns()
        self.starts_ns = 0
        """What recovery is counted from."""
        self.missed = ""
        """Why it could not be done; empty: it was."""
        self.fired_after_ns = 0
        """A part that shows recovery was fired after it."""
        self.ends_line = False
        """Whether the supervisor was told to end."""


def strike(world: World, fault: Fault) -> Struck:
    """Do a fault and undo it; answers when its time is over."""
    struck = Struck()
    with _ACTIONS[fault.kind.action](world, fault, struck):
        struck.starts_ns = struck.starts_ns or monotonic_ns()
    struck.fired_after_ns = struck.fired_after_ns or struck.starts_ns
    return struck


# ---------------------------------------------------------------- processes


@contextmanager
def _found(world: World, fault: Fault, role: Role, struck: Struck) -> Iterator[int]:
    """Hold on to a process by a descriptor, which never means another one; -1: it is not there."""
    if not world.wait_for(lambda: world.house.target(role, fault.station) > 0, _FIND_S):
        struck.missed = f"there was no {role.name.lower()} to strike"
    fd = -1
    try:
        fd = os.pidfd_open(world.house.target(role, fault.station) or -1)
    except (OSError, ValueError):
        struck.missed = struck.missed or f"the {role.name.lower()} had just ended"
    struck.begin_ns = monotonic_ns()
    try:
        yield fd
    finally:
        if fd >= 0:
            os.close(fd)


def _send(fd: int, number: int) -> bool:
    """Send a signal; whether the process is still there."""
    if fd < 0:
        return False
    try:
        signal.pidfd_send_signal(fd, number)
    except ProcessLookupError:
        return False
    return True


@contextmanager
def _kill(world: World, fault: Fault, struck: Struck) -> Iterator[None]:
    with _found(world, fault, fault.kind.role, struck) as fd:
        struck.ends_line = fault.kind.role is Role.SUPERVISOR
        ends = len(world.house.ends)
        _send(fd, signal.SIGTERM if fault.kind.action is Action.TERM else signal.SIGKILL)
        struck.starts_ns = struck.begin_ns
        if struck.ends_line:  # parts are told until it has ended: that is no recovery
            world.wait_for(lambda: len(world.house.ends) > ends, _END_S)
            struck.fired_after_ns = monotonic_ns()
        yield


@contextmanager
def _stop(world: World, fault: Fault, struck: Struck) -> Iterator[None]:
    """Stop it; it goes on after its time, unless its supervisor has killed it."""
    with _found(world, fault, fault.kind.role, struck) as fd:
        try:
            _send(fd, signal.SIGSTOP)
            world.wait_for(lambda: not _send(fd, _LOOK), fault.lasts_s)
        finally:
            _send(fd, signal.SIGCONT)
        yield


@contextmanager
def _stuck(world: World, fault: Fault, struck: Struck, role: Role, word: Word) -> Iterator[None]:
    """A call that never returns: only a kill ends it."""
    with _found(world, fault, role, struck) as fd:
        world.page.set(word, _FOREVER_NS)
        try:
            world.wait_for(lambda: not _send(fd, _LOOK), fault.lasts_s)
        finally:
            world.page.set(word, 0)
        yield


# ---------------------------------------------------------------- around the line


@contextmanager
def _plc(world: World, fault: Fault, _struck: Struck) -> Iterator[None]:
    plc = world.plcs[fault.station]
    plc.freeze()
    try:
        world.wait(fault.lasts_s)
    finally:
        plc.thaw()
    yield


@contextmanager
def _wire(world: World, fault: Fault, _struck: Struck) -> Iterator[None]:
    wire = world.wires[fault.station]
    wire.trouble(fault.kind.word, fault.salt)
    try:
        world.wait(fault.lasts_s)
    finally:
        wire.calm()
    yield


@contextmanager
def _disk(world: World, fault: Fault, struck: Struck) -> Iterator[None]:
    if world.disk is None:
        struck.missed = world.no_disk
        yield
        return
    world.disk.fill()
    try:
        world.wait(fault.lasts_s)
    finally:
        world.disk.empty()
    yield


@contextmanager
def _flood(world: World, fault: Fault, _struck: Struck) -> Iterator[None]:
    plc = world.plcs[fault.station]
    plc.set_rate(min(_FLOOD_HZ, _FLOOD_TIMES * plc.rate_hz))
    try:
        world.wait(fault.lasts_s)
    finally:
        plc.set_rate(plc.rate_hz)
    yield


@contextmanager
def _arena(world: World, fault: Fault, struck: Struck) -> Iterator[None]:
    """A flood while nobody gives slots back: judge and record stand still."""
    with (
        _found(world, fault, Role.JUDGE, struck) as judge,
        _found(world, fault, Role.RECORD, struck) as record,
    ):
        try:
            _send(judge, signal.SIGSTOP)
            _send(record, signal.SIGSTOP)
            with _flood(world, fault, struck):
                pass
        finally:
            _send(judge, signal.SIGCONT)
            _send(record, signal.SIGCONT)
        yield


@contextmanager
def _cpu(world: World, fault: Fault, _struck: Struck) -> Iterator[None]:
    burners = Burners()
    try:
        world.wait(fault.lasts_s)
    finally:
        burners.close()
    yield


@contextmanager
def _clock(world: World, fault: Fault, _struck: Struck) -> Iterator[None]:
    dice = random.Random(fault.salt)  # noqa: S311 - trouble, no secret
    world.page.set(Word.UTC_OFFSET_MS, dice.randint(-_CLOCK_MS, _CLOCK_MS))
    yield


# ---------------------------------------------------------------- inside the line


@contextmanager
def _inject(world: World, fault: Fault, struck: Struck) -> Iterator[None]:
    world.wait_for(lambda: world.house.inside() is not None, _FIND_S)
    inside = world.house.inside()
    if inside is None:
        struck.missed = "the line was not there"
    else:
        dice = random.Random(fault.salt)  # noqa: S311 - the same
        inject(inside, dice.choice(inside.board.members), fault.kind.word, fault.salt)
    yield


@contextmanager
def _engine(world: World, fault: Fault, struck: Struck) -> Iterator[None]:
    word = fault.kind.word
    if word == "stuck":
        with _stuck(world, fault, struck, Role.INFER, Word.ENGINE_HANGS_UNTIL_NS):
            yield
        return
    if word == "hang":
        world.page.set(Word.ENGINE_HANGS_UNTIL_NS, monotonic_ns() + int(fault.lasts_s * 1e9))
        world.wait(fault.lasts_s)
    else:
        errors = _ENGINE_ERRORS_ENDING if word == "fails" else 1
        _use_up(world, Word.ENGINE_ERRORS, errors, struck)
    yield


@contextmanager
def _camera(world: World, fault: Fault, struck: Struck) -> Iterator[None]:
    if fault.kind.word == "stuck":
        with _stuck(world, fault, struck, Role.CAMERA, Word.CAMERA_HANGS_UNTIL_NS):
            yield
        return
    drops = random.Random(fault.salt).randint(1, 5)  # noqa: S311 - the same
    _use_up(world, Word.CAMERA_DROPS, drops, struck)
    yield


def _use_up(world: World, word: Word, count: int, struck: Struck) -> None:
    """Set a number of failures, and wait until the step has had them."""
    world.page.set(word, count)
    if not world.wait_for(lambda: world.page.get(word) == 0, _FIND_S):
        struck.missed = "the step was never called"
    world.page.set(word, 0)


_ACTIONS: Mapping[Action, Callable[[World, Fault, Struck], AbstractContextManager[None]]] = {
    Action.KILL: _kill,
    Action.TERM: _kill,
    Action.STOP: _stop,
    Action.PLC: _plc,
    Action.WIRE: _wire,
    Action.DISK: _disk,
    Action.ARENA: _arena,
    Action.INJECT: _inject,
    Action.CLOCK: _clock,
    Action.CPU: _cpu,
    Action.ENGINE: _engine,
    Action.CAMERA: _camera,
    Action.FLOOD: _flood,
}
