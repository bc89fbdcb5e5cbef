"""The life of a process: attach what was inherited, build the step, run the loop, let go.

The order at the end is part of the safety: the step is closed in a `finally` (outputs into the
reject state), then the links are given a moment to get the last messages out.
"""

import argparse
import gc
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import FrameType
from typing import Any, NamedTuple

from inspectd.bus.arena import MemfdArena
from inspectd.bus.journal import MemfdJournal
from inspectd.bus.link import Road
from inspectd.config.schema import Line
from inspectd.errors import Exit, InspectdError
from inspectd.frame import Role
from inspectd.host.board import Board, Row
from inspectd.host.build import build_step
from inspectd.host.journey import crew_of
from inspectd.host.log import make_log
from inspectd.host.manifest import Manifest
from inspectd.host.orphans import ORPHANED_AFTER_NS
from inspectd.host.outlive import watch_parent
from inspectd.host.patience import PATIENCE
from inspectd.host.post import Post, receivers
from inspectd.host.signals import HURRY
from inspectd.host.stage import Stage
from inspectd.ports import Context

__all__ = ["live"]

_TIMED = (Role.SINK, Role.REJECT)
"""Processes whose moments count."""
_TIMED_PRIORITY = 10
"""SCHED_FIFO; above ordinary work, below the kernel's own threads (50). Timer lateness p99 falls
from 4.1 to 0.14 ms (measured on two cores, 5 ms period)."""
_INFER_NICENESS = -10
"""The engine is the narrow place of a line: what waits for it can wait for a processor as well."""
_RECORD_NICENESS = 5
"""The record yields to those that have a deadline."""


def live(arguments: argparse.Namespace) -> int:
    """Run one process; its errors are logged here, once. Answers the exit code."""
    role, station = Role[arguments.role.upper()], arguments.station
    manifest = Manifest.read(arguments.manifest)
    name = (
        arguments.role
        if station < 0
        else f"{manifest.line.stations[station].name}/{arguments.role}"
    )
    log = make_log(name, manifest.run_id, manifest.log_level)
    try:
        _work(role, station, manifest, arguments, log)
    except InspectdError as fault:
        log("error", "process_failed", error=str(fault))
        return int(fault.exit_code)
    except Exception:  # noqa: BLE001  the top of a process: said once, then it ends
        log("error", "process_failed", exc_info=True)
        return int(Exit.FAULT)
    return int(Exit.OK)


def _work(
    role: Role,
    station: int,
    manifest: Manifest,
    arguments: argparse.Namespace,
    log: Callable[..., None],
) -> None:
    """Everything between birth and end, in this order."""
    told = _listen_to_sigterm()
    board = Board.attach(arguments.board, crew_of(manifest.line))
    row = board.row(role, station)
    row.alive(os.getpid())
    arenas = _arenas(role, manifest, arguments.arena)
    _set_priority(role, log)
    road = Road(manifest.run_id, manifest.token)
    is_clean = False
    try:
        inbox = road.inbox(role, station)
        to = receivers(role, station, board.members)
        outboxes = {member: road.outbox(*member) for member in to}
        record = board.row(Role.RECORD, -1)
        post = Post(role, outboxes, arenas, row.count, _readiness_of(record))
        former = [MemfdJournal.attach(fd) for fd in arguments.former]
        shared = _Shared(board, row, arenas, _journals(arguments.journal), former)
        is_orphaned = _orphanhood(role, board, arguments.parent, log)
        context = _context(manifest, shared, is_orphaned, log)
        step = build_step(role, manifest.line, station, context, manifest.steps)
        _settle_memory()
        try:
            stage = Stage(
                step=step,
                inbox=inbox,
                post=post,
                row=row,
                arenas=arenas,
                clock=time.monotonic_ns,
                is_told_to_stop=lambda: bool(told) or is_orphaned(),
                is_hurried=lambda: HURRY in told,
                log=log,
                part_limit=manifest.part_limit,
                orphaned_after_ns=_orphaned_after_ns(role, manifest.line),
            )
            ended = stage.run(int(PATIENCE[role].drain_s * 1e9))
            is_clean = True
        finally:
            step.close()
        if not ended.is_drained:
            log("warning", "process_not_drained")
    finally:
        road.close(is_clean=is_clean)


def _settle_memory() -> None:
    """Take all that lives from here on to the end out of the garbage collector's rounds.

    A full round over the imported libraries takes milliseconds, and comes at any moment.
    """
    gc.collect()
    gc.freeze()


def _listen_to_sigterm() -> list[int]:
    """Have it, and `HURRY`, noted in the list; the loop acts on them within a turn."""
    told: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        told.append(number)

    for number in (signal.SIGTERM, HURRY):
        signal.signal(number, note)
    return told


def _orphanhood(
    role: Role, board: Board, parent_pid: int, log: Callable[..., None]
) -> Callable[[], bool]:
    """How to ask whether the supervisor is gone: the record alone lives long enough to ask."""
    if role is not Role.RECORD:
        return lambda: False
    return watch_parent(parent_pid, lambda: _sinks_of(board), log)


def _sinks_of(board: Board) -> list[int]:
    """Process ids of the sinks that the supervisor has not seen end."""
    sinks = [board.row(*member) for member in board.members if member[0] is Role.SINK]
    return [pid for sink in sinks if (pid := sink.state().pid)]


def _arenas(role: Role, manifest: Manifest, given: list[str]) -> dict[int, MemfdArena]:
    """Attach the frame memory that was inherited: STATION:DESCRIPTOR each."""
    pairs = [tuple(int(number) for number in text.split(":")) for text in given]
    return {
        station: MemfdArena.attach(fd, manifest.geometries[station], role) for station, fd in pairs
    }


def _journals(given: list[str]) -> dict[int, MemfdJournal]:
    """Attach the journals that were inherited: STATION:DESCRIPTOR each."""
    pairs = [tuple(int(number) for number in text.split(":")) for text in given]
    return {station: MemfdJournal.attach(fd) for station, fd in pairs}


class _Shared(NamedTuple):
    """The memory that this process shares with others."""

    board: Board
    row: Row
    arenas: Mapping[int, MemfdArena]
    journals: Mapping[int, MemfdJournal]
    former: Sequence[MemfdJournal]


def _context(
    manifest: Manifest,
    shared: _Shared,
    is_orphaned: Callable[[], bool],
    log: Callable[..., None],
) -> Context:
    board, row = shared.board, shared.row
    extra: dict[str, Any] = {"epoch_ns": board.epoch_ns} if board.epoch_ns else {}
    station = row.member[1]
    if station in manifest.plc_ports:
        extra["plc_port"] = manifest.plc_ports[station]
    if station in manifest.io_ports:
        extra["io_port"] = manifest.io_ports[station]
    extra["model_digests"] = manifest.model_digests
    extra["processes"] = board.states
    extra["former"] = [(journal.origin, journal) for journal in shared.former]
    extra["are_sinks_gone"] = lambda: is_orphaned() or not _sinks_of(board)
    return Context(
        arenas=shared.arenas,
        clock=time.monotonic_ns,
        count=row.count,
        log=log,
        is_ready=lambda role, at: board.is_ready(role, at, time.monotonic_ns()),
        is_line_healthy=lambda at: board.is_line_healthy(at, time.monotonic_ns()),
        building=lambda what: row.building(what, time.monotonic_ns()),
        part_limit=manifest.part_limit,
        restarts=row.restarts,
        run_id=manifest.run_id,
        extra=extra,
        journals=shared.journals,
    )


def _readiness_of(record: Row) -> Callable[[], bool]:
    """How to ask after the record."""
    return lambda: record.state().is_ready(time.monotonic_ns())


def _orphaned_after_ns(role: Role, line: Line) -> int:
    """How long a slot may wait for its ticket; the record's wait until the verdict has left."""
    if role is not Role.RECORD:
        return ORPHANED_AFTER_NS
    longest_ms = max(station.deadline_ms for station in line.stations)
    return 10 * ORPHANED_AFTER_NS + int(longest_ms * 1e6)


def _set_priority(role: Role, log: Callable[..., None]) -> None:
    """Put what is timed before, the record behind all others; before libzmq starts its thread."""
    if role in (Role.RECORD, Role.FORWARD, Role.METRICS, Role.WEB):
        os.nice(_RECORD_NICENESS)
    if role is Role.INFER:
        with suppress(OSError):
            os.nice(_INFER_NICENESS)
    if role not in _TIMED or not hasattr(os, "sched_setscheduler"):
        return
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_TIMED_PRIORITY))
    except OSError as error:
        log("info", "priority_refused", error=str(error))
