"""Every metric with its meaning: the one list that scrape, documentation and dashboard follow.

Names are Prometheus': base units (seconds, bytes), `_total` behind what only grows, `_info` behind
what is always 1. Every series also has the label `line`. `role` is a process of the line, `stage`
one of the journey's; `station` is empty for what the whole line has once (infer, record).
"""

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple

from inspectd.ports import Counter

__all__ = ["CATALOG", "COUNTED", "DURATION_BOUNDS_S", "Metric", "Type", "bounds_of"]


class Type(Enum):
    """As Prometheus tells them apart."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Metric(NamedTuple):
    """One metric."""

    name: str
    type: Type
    help: str
    labels: tuple[str, ...] = ()
    """Besides `line`."""


DURATION_BOUNDS_S = (
    *(0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075),
    *(0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0),
)
"""Upper bounds of the buckets of times, seconds: the same at every station, so that they add up."""
_BATCH_BOUNDS = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 32.0, 64.0)
"""Upper bounds of the buckets of batch sizes, frames."""

_C, _G, _H = Type.COUNTER, Type.GAUGE, Type.HISTOGRAM
_PROCESS = ("role", "station")
_STATION = ("station",)
_STAGE = ("station", "stage")

COUNTED: Mapping[Counter, Metric] = MappingProxyType(
    {
        counter: Metric(f"inspectd_{name}_total", _C, text, _PROCESS)
        for counter, name, text in (
            (Counter.FRAMES, "process_frames", "Tickets that a process finished."),
            (Counter.PIXEL_COPIES, "pixel_copies", "Whole pictures that a process copied."),
            (Counter.STALE, "stale_tickets", "Tickets whose slot had been reclaimed; dropped."),
            (Counter.FOREIGN, "foreign_messages", "Messages that were not of this run; dropped."),
            (Counter.SEND_FAILED, "sends_failed", "Messages that found a full queue."),
            (Counter.BATCHES, "batches", "Runs of the engine."),
            (Counter.MISSED, "triggers_missed", "Triggers that the PLC counted, unseen here."),
            (Counter.PLC_FAULTS, "plc_faults", "Requests to the PLC that failed."),
            (Counter.OVERRUNS, "plc_overruns", "Verdicts not acknowledged by the PLC in time."),
            (Counter.LATE, "parts_late", "Parts decided by the deadline clock."),
            (Counter.ARCHIVED, "pictures_archived", "Pictures written to the archive."),
            (
                Counter.ARCHIVE_SKIPPED,
                "pictures_skipped",
                "Pictures not written: no room, no time.",
            ),
            (Counter.EVENTS, "events_recorded", "Events written to the record."),
            (Counter.EVENTS_LOST, "events_lost", "Events that the record gave up."),
            (Counter.FORWARDED, "events_forwarded", "Events that a receiver confirmed."),
            (Counter.FORWARD_LOST, "events_forward_lost", "Events that a receiver will never get."),
            (Counter.UNTOLD, "verdicts_untold", "Verdicts that the PLC was never told."),
            (Counter.PLC_SILENT, "plc_silences", "Times that the PLC's heartbeat stood still."),
            (Counter.COMMANDS, "plc_commands", "Commands of the PLC that were taken up."),
            (Counter.LET_PASS, "ejector_let_pass", "Parts that the output let pass."),
            (Counter.REJECTED, "ejector_rejected", "Parts that the output did not let pass."),
            (
                Counter.REJECTS_UNCONFIRMED,
                "ejector_unconfirmed",
                "Rejected parts that were not seen in the bin in time.",
            ),
        )
    }
)
"""What each counter on the board is called. They go on over restarts of the process."""

_OTHERS = (
    Metric("inspectd_build_info", _G, "The inspectd that runs.", ("version",)),
    Metric(
        "inspectd_line_info",
        _G,
        "The run: its name, and the digest of its station file.",
        ("run_id", "recipe_digest"),
    ),
    Metric("inspectd_model_info", _G, "A model in force, by digest.", ("model", "digest")),
    Metric("inspectd_station_info", _G, "What a station is set to.", ("station", "model", "plc")),
    Metric("inspectd_cycle_seconds", _G, "Shortest time between parts, as set.", _STATION),
    Metric("inspectd_deadline_seconds", _G, "Trigger to verdict at most, as set.", _STATION),
    Metric("inspectd_stage_budget_seconds", _G, "Share of the deadline of a stage.", _STAGE),
    Metric("inspectd_station_ready", _G, "1: a part would get its verdict now.", _STATION),
    Metric("inspectd_plc_connected", _G, "1: the PLC answers, and its program runs.", _STATION),
    Metric("inspectd_process_up", _G, "1: the process lives.", _PROCESS),
    Metric("inspectd_process_ready", _G, "1: it lives, moves and has no trouble.", _PROCESS),
    Metric("inspectd_process_restarts_total", _C, "Times it was started again.", _PROCESS),
    Metric("inspectd_process_cpu_seconds_total", _C, "Processor time it has used.", _PROCESS),
    Metric(
        "inspectd_process_resident_memory_bytes",
        _G,
        "Memory it holds; pictures that it shares with others included.",
        _PROCESS,
    ),
    Metric("inspectd_process_open_fds", _G, "Files and sockets it holds open.", _PROCESS),
    Metric("inspectd_slots", _G, "Frames that fit into memory at once.", _STATION),
    Metric(
        "inspectd_slots_in_use",
        _G,
        "Frames in memory by the process that has them: in work, and in its queue.",
        ("station", "role"),
    ),
    Metric(
        "inspectd_parts_total",
        _C,
        "Parts by what the PLC was told, and why.",
        ("station", "verdict", "reason"),
    ),
    Metric(
        "inspectd_reviews_total",
        _C,
        "What people said of verdicts: confirmed, false_call, escape.",
        ("station", "judgement"),
    ),
    Metric("inspectd_parts_stray_total", _C, "Verdicts for parts that nobody knows.", _STATION),
    Metric(
        "inspectd_verdicts_late_unmarked_total",
        _C,
        "Verdicts that left after the deadline without saying LATE; must stay 0.",
        _STATION,
    ),
    Metric(
        "inspectd_stage_duration_seconds",
        _H,
        "Time of a part in a stage; `total` is trigger to verdict at the PLC.",
        _STAGE,
    ),
    Metric("inspectd_stage_over_budget_total", _C, "Parts over a stage's budget.", _STAGE),
    Metric(
        "inspectd_plc_confirm_seconds",
        _H,
        "From a verdict in the sink to the PLC's confirmation: its turn, and the round trip.",
        _STATION,
    ),
    Metric("inspectd_batch_size", _H, "Frames that went through the model together.", _STATION),
    Metric(
        "inspectd_gate_measure",
        _G,
        "What the gate measured of the last picture.",
        ("station", "measure"),
    ),
    Metric(
        "inspectd_gate_limit", _G, "The limit that it was held against.", ("station", "measure")
    ),
    Metric(
        "inspectd_last_part_timestamp_seconds",
        _G,
        "When the last part was decided; 0: none was since the exporter's start.",
        _STATION,
    ),
    Metric("inspectd_record_disk_free_bytes", _G, "Free on the disk of the record."),
    Metric("inspectd_record_disk_size_bytes", _G, "Size of the disk of the record."),
    Metric("inspectd_record_disk_min_free_bytes", _G, "`record.min_free_mb`: pictures stop there."),
    Metric("inspectd_record_database_bytes", _G, "Size of the record's database and its log."),
    Metric("inspectd_archive_bytes", _G, "Size of all archived pictures with their events."),
    Metric("inspectd_archive_files", _G, "Number of files in the archive."),
    Metric("inspectd_exporter_record_readable", _G, "1: the record could be read at this look."),
    Metric("inspectd_exporter_events_behind", _G, "Events in the record, not counted here yet."),
    Metric("inspectd_exporter_start_time_seconds", _G, "When this exporter began to count."),
    Metric(
        "inspectd_exporter_connections_refused_total", _C, "Scrapes over the limit of the door."
    ),
)

CATALOG: Mapping[str, Metric] = MappingProxyType(
    {metric.name: metric for metric in (*_OTHERS, *COUNTED.values())}
)
"""Every metric by its name."""


def bounds_of(name: str) -> tuple[float, ...]:
    """Upper bounds of a histogram's buckets, without the last one, which is endless."""
    return _BATCH_BOUNDS if name == "inspectd_batch_size" else DURATION_BOUNDS_S
