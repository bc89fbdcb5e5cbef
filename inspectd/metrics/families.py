"""A snapshot of the line as metrics of the catalog. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from inspectd import __version__
from inspectd.config.schema import AbsentPlc, Line
from inspectd.frame import Role
from inspectd.metrics.catalog import CATALOG, COUNTED, Metric
from inspectd.metrics.snapshot import Process, Snapshot
from inspectd.metrics.tally import Heap, Tally, budgets_s
from inspectd.ports import Counter

__all__ = ["SLOT_OWNERS", "Bucketed", "Family", "Sample", "families_of"]

SLOT_OWNERS = (Role.CAMERA, Role.GATE, Role.INFER, Role.JUDGE, Role.RECORD)
"""Who may have a slot."""
_STAGES = (Role.CAMERA, Role.GATE, Role.JUDGE, Role.SINK)
_COUNTING: Mapping[Counter, tuple[Role, ...]] = {
    Counter.FRAMES: (*_STAGES, Role.INFER, Role.RECORD),
    Counter.PIXEL_COPIES: (Role.CAMERA, Role.GATE),
    Counter.STALE: (Role.GATE, Role.INFER, Role.JUDGE, Role.RECORD),
    Counter.BATCHES: (Role.INFER,),
    **dict.fromkeys(
        (
            *(Counter.MISSED, Counter.PLC_FAULTS, Counter.OVERRUNS, Counter.LATE),
            *(Counter.UNTOLD, Counter.PLC_SILENT, Counter.COMMANDS),
        ),
        (Role.SINK,),
    ),
    Counter.ARCHIVED: (Role.RECORD,),
    Counter.ARCHIVE_SKIPPED: (Role.CAMERA, Role.GATE, Role.INFER, Role.JUDGE, Role.RECORD),
    Counter.EVENTS: (Role.RECORD,),
    Counter.EVENTS_LOST: (Role.SINK, Role.RECORD),
    Counter.FORWARDED: (Role.FORWARD,),
    Counter.FORWARD_LOST: (Role.FORWARD, Role.RECORD),
    **dict.fromkeys(
        (Counter.LET_PASS, Counter.REJECTED, Counter.REJECTS_UNCONFIRMED), (Role.REJECT,)
    ),
}
"""Who counts what; whoever is not there has no series. What is not here, everybody counts."""


class Sample(NamedTuple):
    """One value."""

    labels: tuple[str, ...]
    """In the order of the metric's."""
    value: float


class Bucketed(NamedTuple):
    """One histogram."""

    labels: tuple[str, ...]
    counts: tuple[int, ...]
    """Per bucket, not summed up; the last has no upper bound."""
    sum: float


class Family(NamedTuple):
    """One metric with all that was seen of it."""

    metric: Metric
    samples: tuple[Sample | Bucketed, ...]


def families_of(
    line: Line, run_id: str, digests: Mapping[str, str], seen: Snapshot, tally: Tally
) -> tuple[Family, ...]:
    """Answer every metric that this line has, in the order of the catalog.

    Args:
        line: The station file.
        run_id: Names the run.
        digests: Of the models, by name.
        seen: The line as it is.
        tally: Its events.
    """
    found: dict[str, list[Sample | Bucketed]] = {}
    for part in (
        _settings(line, run_id, digests),
        _line_now(line, seen),
        _processes(seen.processes),
        _counted(seen.processes),
        _events(tally, seen),
        _storage(line, seen),
    ):
        for name, sample in part:
            found.setdefault(name, []).append(sample)
    return tuple(
        Family(metric, tuple(found[name])) for name, metric in CATALOG.items() if name in found
    )


def _settings(line: Line, run_id: str, digests: Mapping[str, str]) -> Iterator[tuple[str, Sample]]:
    """What the station file says."""
    yield "inspectd_build_info", Sample((__version__,), 1)
    yield "inspectd_line_info", Sample((run_id, line.digest), 1)
    for model in line.models:
        yield "inspectd_model_info", Sample((model.name, digests.get(model.name, "")), 1)
    for station in line.stations:
        name = station.name
        yield "inspectd_station_info", Sample((name, station.model, station.plc.kind), 1)
        yield "inspectd_cycle_seconds", Sample((name,), station.cycle_ms / 1e3)
        yield "inspectd_deadline_seconds", Sample((name,), station.deadline_ms / 1e3)
        yield "inspectd_slots", Sample((name,), station.slots)
        for stage, budget_s in budgets_s(station).items():
            yield "inspectd_stage_budget_seconds", Sample((name, stage), budget_s)


def _line_now(line: Line, seen: Snapshot) -> Iterator[tuple[str, Sample]]:
    sinks = {one.station: one for one in seen.processes if one.role == "sink"}
    for station in line.stations:
        name = station.name
        yield "inspectd_station_ready", Sample((name,), seen.ready.get(name, False))
        if not isinstance(station.plc, AbsentPlc):
            answers = name in sinks and sinks[name].is_ready
            yield "inspectd_plc_connected", Sample((name,), answers)
        for role in SLOT_OWNERS:
            owner = role.name.lower()
            count = seen.slots.get((name, owner), 0)
            yield "inspectd_slots_in_use", Sample((name, owner), count)


def _processes(processes: Sequence[Process]) -> Iterator[tuple[str, Sample]]:
    for one in processes:
        labels = (one.role, one.station)
        yield "inspectd_process_up", Sample(labels, one.is_up)
        yield "inspectd_process_ready", Sample(labels, one.is_ready)
        yield "inspectd_process_restarts_total", Sample(labels, one.restarts)
        if one.usage is not None:
            usage = one.usage
            yield "inspectd_process_cpu_seconds_total", Sample(labels, usage.cpu_s)
            yield "inspectd_process_resident_memory_bytes", Sample(labels, usage.resident_bytes)
            yield "inspectd_process_open_fds", Sample(labels, usage.open_fds)


def _counted(processes: Sequence[Process]) -> Iterator[tuple[str, Sample]]:
    for counter, metric in COUNTED.items():
        roles = [role.name.lower() for role in _COUNTING.get(counter, tuple(Role))]
        for one in processes:
            if one.role in roles and one.counters:
                sample = Sample((one.role, one.station), one.counters[counter])
                yield metric.name, sample


def _events(tally: Tally, seen: Snapshot) -> Iterator[tuple[str, Sample | Bucketed]]:
    for name, one in tally.stations.items():
        for outcome, count in one.parts.items():
            yield "inspectd_parts_total", Sample((name, *outcome), count)
        yield "inspectd_parts_stray_total", Sample((name,), one.strays)
        yield "inspectd_verdicts_late_unmarked_total", Sample((name,), one.late_unmarked)
        for stage, heap in one.durations.items():
            yield "inspectd_stage_duration_seconds", _bucketed((name, stage), heap)
            over = one.over_budget[stage]
            yield "inspectd_stage_over_budget_total", Sample((name, stage), over)
        yield "inspectd_plc_confirm_seconds", _bucketed((name,), one.confirms)
        yield "inspectd_batch_size", _bucketed((name,), one.batches)
        for judgement, count in one.reviews.items():
            yield "inspectd_reviews_total", Sample((name, judgement), count)
        for measure, (value, limit) in one.measures.items():
            yield "inspectd_gate_measure", Sample((name, measure), value)
            yield "inspectd_gate_limit", Sample((name, measure), limit)
        age_s = (seen.taken_ns - one.decided_ns) / 1e9
        when_s = seen.wall_s - age_s if one.decided_ns else 0
        yield "inspectd_last_part_timestamp_seconds", Sample((name,), when_s)


def _bucketed(labels: tuple[str, ...], heap: Heap) -> Bucketed:
    return Bucketed(labels, tuple(heap.counts), heap.sum)


def _storage(line: Line, seen: Snapshot) -> Iterator[tuple[str, Sample]]:
    """Disk, archive, and the exporter itself."""
    if seen.disk is not None:
        yield "inspectd_record_disk_free_bytes", Sample((), seen.disk.free)
        yield "inspectd_record_disk_size_bytes", Sample((), seen.disk.size)
        yield "inspectd_record_database_bytes", Sample((), seen.disk.database)
    yield "inspectd_record_disk_min_free_bytes", Sample((), line.record.min_free_mb * 2**20)
    if seen.archive is not None:
        yield "inspectd_archive_bytes", Sample((), seen.archive.size)
        yield "inspectd_archive_files", Sample((), seen.archive.files)
    yield "inspectd_exporter_record_readable", Sample((), seen.is_record_readable)
    yield "inspectd_exporter_events_behind", Sample((), seen.behind)
    yield "inspectd_exporter_start_time_seconds", Sample((), seen.started_s)
    yield "inspectd_exporter_connections_refused_total", Sample((), seen.refused)
