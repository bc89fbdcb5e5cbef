"""Rules about an ejector of our own at their borders: what is just right is let pass."""

import functools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.config import rejectrules
from inspectd.config.load import load
from inspectd.config.schema import (
    ClockEncoder,
    GpioIo,
    ModbusIo,
    OutputReject,
    PlcReject,
    RejectEye,
    Station,
)

EXAMPLE = Path(__file__).parents[3] / "stations" / "example.yaml"
IO = ModbusIo(kind="modbus", host="x", coil=0, watchdog_ms=100)
REJECT = OutputReject(
    kind="output",
    distance_mm=600,
    belt_speed_mm_s=400,
    pulse_ms=100,
    lead_ms=20,
    io=IO,
    encoder=ClockEncoder(kind="time"),
)


@functools.cache
def example() -> Station:
    """The first of the example: 200 ms a part, 300 ms deadline."""
    return load(EXAMPLE, must_exist=False).stations[0]


@pytest.fixture
def station() -> Station:
    """The same, for tests that are not given examples by the dozen."""
    return example()


def with_(station: Station, **keys: Any) -> Station:
    """The station with an ejector that has some keys of its own."""
    return replace(station, reject=replace(REJECT, **keys))


def test_the_sum_of_the_manual_is_the_sum_of_the_rule() -> None:
    """600 mm at 400 mm/s, a pulse of 100 ms and a valve of 20 ms: 1430 ms (docs/reject.md)."""
    assert rejectrules.decided_ms(REJECT) == 1430
    assert rejectrules.zone_mm(REJECT) == 40


def test_a_deadline_may_use_all_the_time_that_there_is(station: Station) -> None:
    """20 ms are for the way to the ejector's process."""
    rule = rejectrules.deadline_is_before_the_ejector
    just = replace(with_(station), deadline_ms=1410.0)
    assert not list(rule(just))
    assert list(rule(replace(just, deadline_ms=1410.5)))


@given(st.integers(1, 500), st.integers(1, 500))
def test_pulse_and_watchdog_share_the_cycle(pulse: int, watchdog: int) -> None:
    """The pulse fits the cycle, and the watchdog what is left of it."""
    io = replace(IO, watchdog_ms=float(watchdog))
    one = with_(example(), pulse_ms=float(pulse), io=io)
    is_slow = watchdog > max(one.cycle_ms - pulse, 0)
    assert bool(list(rejectrules.pulses_fit_the_cycle(one))) is (pulse > one.cycle_ms)
    assert bool(list(rejectrules.watchdog_is_faster_than_the_next_part(one))) is is_slow


def test_a_watchdog_relay_must_be_as_fast(station: Station) -> None:
    """A GPIO line has the same rule."""
    io = GpioIo(kind="gpio", line=1, watchdog_line=2, watchdog_ms=101)
    assert list(rejectrules.watchdog_is_faster_than_the_next_part(with_(station, io=io)))


def test_the_window_of_the_eye_is_less_than_half_of_two_parts_apart(station: Station) -> None:
    """80 mm at 200 ms and 400 mm/s."""
    rule = rejectrules.eye_tells_parts_apart
    eye = RejectEye(input=0, distance_mm=500, window_mm=39.9)
    assert not list(rule(with_(station, eye=eye)))
    assert list(rule(with_(station, eye=replace(eye, window_mm=40.0))))


def test_the_eye_ends_before_the_output_is_needed() -> None:
    """600 mm less 50 ms of pulse, 20 ms of valve and two looks of 5 ms: 568 mm."""
    rule = rejectrules.eye_is_before_the_ejector
    eye = RejectEye(input=0, distance_mm=548, window_mm=20)
    assert not list(rule(replace(REJECT, eye=eye)))
    assert list(rule(replace(REJECT, eye=replace(eye, distance_mm=548.1))))


def test_a_station_whose_plc_moves_the_ejector_is_asked_nothing(station: Station) -> None:
    """There is nothing to go wrong here."""
    one = replace(station, reject=PlcReject(kind="plc"))
    rules = [rule for cls, rule in rejectrules.RULES if cls is Station]
    assert not [complaint for rule in rules for complaint in rule(one)]
