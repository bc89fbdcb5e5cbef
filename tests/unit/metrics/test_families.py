"""Snapshots and events become the metrics of the catalog, and Prometheus reads them."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from inspectd.config.load import line_of
from inspectd.config.schema import Line
from inspectd.frame import Reason, Verdict
from inspectd.metrics.catalog import CATALOG, COUNTED, DURATION_BOUNDS_S
from inspectd.metrics.families import families_of
from inspectd.metrics.snapshot import ArchiveSize, DiskSize, Process, Snapshot, Usage
from inspectd.metrics.tally import Heap, Tally
from inspectd.metrics.text import text_of
from inspectd.ports import Counter
from inspectd.record.reading import Part

_FILE = """\
line: press
engine: {kind: paddle}
models: [{name: caps, path: .}]
record: {folder: ., min_free_mb: 100}
metrics: {listen: "127.0.0.1:9464"}
stations:
  - name: one
    cycle_ms: 100
    deadline_ms: 200
    budget: {camera_ms: 40, gate_ms: 40, infer_ms: 60, judge_ms: 20, sink_ms: 40}
    trigger: {kind: timer, rate_hz: 10}
    camera: {kind: replay, path: ., width_px: 640, height_px: 480}
    model: caps
    rules: [{kind: count, name: there, label: Cap, min_score: 0.5, min: 1}]
    plc: {kind: modbus}
"""
LINE: Line = line_of(_FILE.encode(), "x.yaml", must_exist=False)[0]
PART = Part(
    sequence=1,
    station="one",
    trigger_id=7,
    part_id="",
    verdict="OK",
    reason="NONE",
    judged="",
    deadline_ns=1_200_000_000,
    fired_ns=1_000_000_000,
    decided_ns=1_090_000_000,
    sent_ns=1_100_000_000,
    batch=2,
    archive=None,
    detail='{"measures": [{"name": "sharpness", "value": 90.5, "limit": 40}]}',
    camera_ms=41.0,
    gate_ms=5.0,
    infer_ms=30.0,
    judge_ms=1.0,
    sink_ms=10.0,
    total_ms=100.0,
    sink_queued_ns=1_092_000_000,
)
_ROLES = ("infer", "record", "metrics", "forward", "camera", "gate", "judge", "sink", "reject")
SEEN = Snapshot(
    taken_ns=3_090_000_000,
    wall_s=1_800_000_000.0,
    processes=tuple(
        Process(
            role,
            "" if index < 4 else "one",
            is_up=True,
            is_ready=role != "sink",
            restarts=index,
            counters=tuple(range(len(Counter))),
            usage=Usage(1.5, 50_000_000, 20),
        )
        for index, role in enumerate(_ROLES)
    ),
    ready={"one": False},
    slots={("one", "gate"): 3},
    disk=DiskSize(10**9, 10**11, 10**6),
    archive=ArchiveSize(5000, 2),
    is_record_readable=True,
    behind=4,
    started_s=1_799_999_000.0,
    refused=1,
)


def scrape_of(*parts: Part, seen: Snapshot = SEEN) -> str:
    """The page after these events."""
    tally = Tally(LINE.stations)
    for part in parts:
        tally.add(part)
    return text_of("press", families_of(LINE, "run", {"caps": "abc"}, seen, tally)).decode()


def values_of(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Every series of a page, read back by Prometheus' own parser."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(text: str, name: str, **labels: str) -> float:
    """One series."""
    return values_of(text)[name, frozenset({"line": "press", **labels}.items())]


def test_a_full_line_shows_every_metric_of_the_catalog() -> None:
    """Nothing in the list is a promise only."""
    found = {family.metric.name for family in families_of(LINE, "", {}, SEEN, _tally(PART))}
    assert found == set(CATALOG)


def _tally(*parts: Part) -> Tally:
    tally = Tally(LINE.stations)
    for part in parts:
        tally.add(part)
    return tally


def test_every_counter_of_the_board_has_a_name() -> None:
    """A counter that is added is exported, or this fails."""
    assert set(COUNTED) == set(Counter)


def test_prometheus_finds_nothing_to_complain_about() -> None:
    """`promtool check metrics`: names, units, help."""
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("there is no promtool here: apt-get install prometheus")
    checked = subprocess.run(
        [promtool, "check", "metrics"],
        input=scrape_of(PART),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")


def test_the_check_of_names_can_fail() -> None:
    """A counter without `_total` is found."""
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("there is no promtool here: apt-get install prometheus")
    wrong = "# HELP inspectd_parts x\n# TYPE inspectd_parts counter\ninspectd_parts 1\n"
    command = [promtool, "check", "metrics"]
    checked = subprocess.run(command, input=wrong, capture_output=True, text=True, check=False)
    assert checked.returncode != 0


def test_an_event_is_counted_with_its_times() -> None:
    """Milliseconds of the record are seconds here; the camera was over its budget of 40 ms."""
    text = scrape_of(PART, replace(PART, camera_ms=39.0))
    parts = {"station": "one", "verdict": "OK", "reason": "NONE"}
    assert value(text, "inspectd_parts_total", **parts) == 2
    at = {"station": "one", "stage": "camera"}
    assert value(text, "inspectd_stage_duration_seconds_sum", **at) == pytest.approx(0.080)
    assert value(text, "inspectd_stage_duration_seconds_bucket", **at, le="0.03") == 0
    assert value(text, "inspectd_stage_duration_seconds_bucket", **at, le="0.05") == 2
    assert value(text, "inspectd_stage_duration_seconds_bucket", **at, le="+Inf") == 2
    assert value(text, "inspectd_stage_over_budget_total", **at) == 1
    assert value(text, "inspectd_stage_budget_seconds", **at) == 0.04
    assert value(text, "inspectd_plc_confirm_seconds_sum", station="one") == pytest.approx(0.016)
    assert value(text, "inspectd_batch_size_sum", station="one") == 4
    assert value(text, "inspectd_gate_measure", station="one", measure="sharpness") == 90.5
    assert value(text, "inspectd_gate_limit", station="one", measure="sharpness") == 40


def test_every_outcome_is_there_before_it_happens() -> None:
    """A series that is born with 1 is an increase that nobody sees."""
    found = values_of(scrape_of())
    outcomes = [dict(labels) for name, labels in found if name == "inspectd_parts_total"]
    assert {one["reason"] for one in outcomes} == {reason.name for reason in Reason}
    assert {one["verdict"] for one in outcomes} == {v.name for v in Verdict} - {"NONE"}


def test_a_stray_is_no_part() -> None:
    """The PLC was told nothing of it."""
    text = scrape_of(replace(PART, verdict="NONE"))
    assert value(text, "inspectd_parts_stray_total", station="one") == 1
    assert value(text, "inspectd_stage_duration_seconds_count", station="one", stage="total") == 0


def test_a_late_verdict_that_does_not_say_so_is_counted_apart() -> None:
    """Sent after the deadline: LATE says so, OK does not."""
    late = replace(PART, sent_ns=1_300_000_000)
    text = scrape_of(PART, late, replace(late, verdict="LATE", reason="DEADLINE_PASSED"))
    assert value(text, "inspectd_verdicts_late_unmarked_total", station="one") == 1


@pytest.mark.parametrize(
    "detail", ["", "{", "[]", '{"measures": 3}', '{"measures": [{"name": "x"}]}', "null"]
)
def test_a_detail_that_cannot_be_read_loses_no_part(detail: str) -> None:
    """Its measures are left out, the part is counted."""
    text = scrape_of(replace(PART, detail=detail))
    parts = {"station": "one", "verdict": "OK", "reason": "NONE"}
    assert value(text, "inspectd_parts_total", **parts) == 1
    assert "inspectd_gate_measure{" not in text


def test_an_event_of_an_unknown_station_or_without_times_is_let_be() -> None:
    """Records outlive station files."""
    empty = replace(PART, camera_ms=None, gate_ms=None, infer_ms=None, judge_ms=None)
    text = scrape_of(replace(PART, station="gone"), replace(empty, sink_queued_ns=0, batch=0))
    assert 'station="gone"' not in text
    assert value(text, "inspectd_stage_duration_seconds_count", station="one", stage="infer") == 0
    assert value(text, "inspectd_plc_confirm_seconds_count", station="one") == 0


def test_a_sink_that_is_not_ready_is_a_plc_that_is_lost() -> None:
    """The sink says TROUBLED when the PLC does not answer; nobody asks where there is no PLC."""
    assert value(scrape_of(), "inspectd_plc_connected", station="one") == 0
    healthy = tuple(replace(one, is_ready=True) for one in SEEN.processes)
    text = scrape_of(seen=replace(SEEN, processes=healthy))
    assert value(text, "inspectd_plc_connected", station="one") == 1


def test_the_last_part_has_the_wall_clock_of_its_moment() -> None:
    """It was decided two seconds before the look."""
    text = scrape_of(PART)
    assert value(text, "inspectd_last_part_timestamp_seconds", station="one") == 1_799_999_998
    assert value(scrape_of(), "inspectd_last_part_timestamp_seconds", station="one") == 0


def test_what_cannot_be_seen_has_no_series() -> None:
    """A disk that does not answer has no size, not the size 0."""
    text = scrape_of(seen=replace(SEEN, disk=None, archive=None))
    assert "inspectd_record_disk_free_bytes{" not in text
    assert "inspectd_archive_bytes{" not in text


def test_only_who_counts_has_a_series() -> None:
    """The gate misses no triggers."""
    found = [dict(labels) for name, labels in values_of(scrape_of()) if "triggers_missed" in name]
    assert [one["role"] for one in found] == ["sink"]


def test_a_value_on_a_bound_is_inside_it() -> None:
    """`le` is less or equal."""
    heap = Heap(DURATION_BOUNDS_S)
    heap.add(0.001)
    heap.add(6.0)
    assert heap.counts[0] == heap.counts[-1] == 1


def test_names_of_a_line_cannot_break_the_page() -> None:
    """Quotes and newlines are escaped (a model's digest is no name that the file's rules bound)."""
    text = text_of("press", families_of(LINE, 'a"b\nc\\', {}, SEEN, _tally())).decode()
    assert value(text, "inspectd_line_info", run_id='a"b\nc\\', recipe_digest=LINE.digest) == 1


def test_the_page_is_documented() -> None:
    """docs/metrics.md has every metric with its type, labels and meaning, and no other."""
    docs = Path(__file__).parents[3] / "docs" / "metrics.md"
    text = docs.read_text(encoding="utf-8")
    rows = [row for row in text.splitlines() if row.startswith("| `inspectd_")]
    labels = {m.name: ", ".join(f"`{one}`" for one in m.labels) for m in CATALOG.values()}
    assert rows == [
        f"| `{m.name}` | {m.type.value} | {labels[m.name]} | {m.help} |" for m in CATALOG.values()
    ]
