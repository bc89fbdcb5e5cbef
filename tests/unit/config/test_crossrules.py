"""Rules between keys at their borders: what is just right is let pass (`wrong/` has the rest)."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.config import crossrules, linerules
from inspectd.config.complaint import repeated_names
from inspectd.config.crossrules import RULES
from inspectd.config.derive import line_shape
from inspectd.config.diskrules import DISK_RULES
from inspectd.config.load import line_of
from inspectd.config.parse import parse
from inspectd.config.reading import Reading
from inspectd.config.schema import (
    Budget,
    Line,
    ModbusPlc,
    PlcSimulator,
    PlcTrigger,
    Station,
    TimerTrigger,
)
from inspectd.plc import registers

TEXT = """\
line: press
engine: {kind: paddle}
models: [{name: caps, path: .}]
record: {folder: .}
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
LINE: Line = line_of(TEXT.encode(), "x.yaml", must_exist=False)[0]
STATION: Station = LINE.stations[0]


@pytest.mark.slow
@given(st.lists(st.integers(1, 10_000), min_size=5, max_size=5), st.integers(1, 3))
def test_a_budget_that_adds_up_exactly_is_let_pass(tenths: list[int], more: int) -> None:
    """Rounding of decimal fractions is no fault; a tenth of a millisecond too much is."""
    budget = Budget(
        camera_ms=tenths[0] / 10,
        gate_ms=tenths[1] / 10,
        infer_ms=tenths[2] / 10,
        judge_ms=tenths[3] / 10,
        sink_ms=tenths[4] / 10,
    )
    just = replace(STATION, budget=budget, deadline_ms=sum(tenths) / 10)
    short = replace(STATION, budget=budget, deadline_ms=(sum(tenths) - more) / 10)
    assert not list(crossrules.budget_fits_deadline(just))
    assert list(crossrules.budget_fits_deadline(short))


@pytest.mark.slow
@given(st.integers(1, 500), st.integers(1, 2000))
def test_enough_slots_are_the_parts_under_way_and_one(cycle: int, deadline: int) -> None:
    """Slots are deadline / cycle, rounded up, and one: no fewer, and no more are asked for."""
    needed = -(-deadline // cycle) + 1
    station = replace(STATION, cycle_ms=float(cycle), deadline_ms=float(deadline))
    assert not list(crossrules.slots_last_until_the_deadline(replace(station, slots=needed)))
    assert list(crossrules.slots_last_until_the_deadline(replace(station, slots=needed - 1)))


@given(st.integers(1, 1000))
def test_a_rate_that_is_the_cycle_exactly_is_let_pass(cycle: int) -> None:
    """1000 / rate may round to a hair below the cycle."""
    timer = replace(
        STATION,
        cycle_ms=float(cycle),
        trigger=TimerTrigger(kind="timer", rate_hz=1000 / cycle),
    )
    assert not list(crossrules.timer_keeps_the_cycle(timer))


def test_a_simulator_that_does_not_trigger_may_have_any_rate() -> None:
    """Its rate counts only where the PLC triggers."""
    plc = ModbusPlc(kind="modbus", simulator=PlcSimulator(rate_hz=1000.0))
    by_timer = replace(STATION, plc=plc)
    by_plc = replace(by_timer, trigger=PlcTrigger(kind="plc"))
    assert not list(crossrules.simulator_keeps_the_cycle(by_timer))
    assert list(crossrules.simulator_keeps_the_cycle(by_plc))


def test_a_margin_may_take_the_whole_budget_of_the_sink() -> None:
    """Only what cuts into the stages before it is a fault; slack before the deadline counts."""
    just = replace(STATION, plc=ModbusPlc(kind="modbus", write_margin_ms=40.0))
    more = replace(STATION, plc=ModbusPlc(kind="modbus", write_margin_ms=41.0))
    assert not list(crossrules.margin_leaves_the_judge_its_time(just))
    assert list(crossrules.margin_leaves_the_judge_its_time(more))
    assert not list(crossrules.margin_leaves_the_judge_its_time(replace(more, deadline_ms=201.0)))


@pytest.mark.parametrize(
    ("first", "second", "is_overlap"),
    [(0, 63, True), (0, 64, False), (64, 0, False), (63, 0, True), (100, 100, True)],
)
def test_register_blocks_may_touch(first: int, second: int, is_overlap: bool) -> None:
    """Blocks of 64 registers lie side by side, in any order; none shares a register."""
    stations = tuple(
        replace(STATION, name=f"s{base}", plc=ModbusPlc(kind="modbus", base_register=base))
        for base in (first, second)
    )
    line = replace(LINE, stations=stations)
    assert bool(list(linerules.stations_share_no_registers(line))) is is_overlap


def test_stations_of_different_plcs_may_use_the_same_registers() -> None:
    """Another host or port is another PLC, and every free port is one of its own."""
    ports = [("a", 502), ("b", 502), ("a", 503), ("a", 0), ("a", 0)]
    stations = tuple(
        replace(STATION, plc=ModbusPlc(kind="modbus", host=host, port=port)) for host, port in ports
    )
    assert not list(linerules.stations_share_no_registers(replace(LINE, stations=stations)))


def test_a_block_is_as_long_as_the_register_map_says() -> None:
    """Rule and map speak of the same block (the layers keep one from importing the other)."""
    assert linerules.BLOCK_REGISTERS == registers.BLOCK_REGISTERS


def test_frames_count_their_slots_and_channels() -> None:
    """A slot holds one picture of 8 bits a channel."""
    assert linerules.frame_bytes(STATION) == 8 * 640 * 480 * 3
    megabytes = -(-8 * 640 * 480 * 3 // linerules.MEGABYTE)
    assert not list(linerules.frames_fit_memory(replace(LINE, memory_max_mb=megabytes)))
    assert list(linerules.frames_fit_memory(replace(LINE, memory_max_mb=megabytes - 1)))


@pytest.mark.slow
@given(st.lists(st.sampled_from("abc"), max_size=8))
def test_each_name_is_free_once(names: list[str]) -> None:
    """The first holder of a name keeps it; every later one is a fault."""
    assert len(list(repeated_names("models", names))) == len(names) - len(set(names))


@pytest.mark.slow
def test_every_rule_has_a_wrong_file_that_breaks_it() -> None:
    """Each rule objects to something in `wrong/`: none can be lost, or turn blind, unseen."""
    rules = [*RULES, *DISK_RULES]
    broken = set()
    for path in (Path(__file__).parent / "wrong").glob("*.yaml"):
        reading = Reading(str(path), str(path.parent))
        root = parse(path.read_text(encoding="latin-1"), str(path))[0]
        if root is None:
            continue
        line_shape().read(root, "", reading)
        for cls, rule in rules:
            broken |= {
                rule.__name__
                for _, built in reading.built
                if isinstance(built, cls) and list(rule(built))
            }
    assert broken == {rule.__name__ for _, rule in rules}
