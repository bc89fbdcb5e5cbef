"""The station in the words of OPC 40100-1."""

import gzip
import re
from importlib import resources

import pytest

from inspectd.frame import Verdict
from inspectd.plc.registers import Head, StatusBit
from inspectd.plc.vision import (
    Automatic,
    ResultState,
    Vision,
    VisionState,
    result_state_of,
    vision_of,
)

READY, BUSY, FAULT = StatusBit.READY, StatusBit.BUSY, StatusBit.FAULT
OPERATIONAL = VisionState.OPERATIONAL


def vision(head: Head | None, **other: bool) -> Vision:
    """A station triggered by its PLC that works, unless told otherwise."""
    usual = {"is_sink_there": True, "was_ready": True, "is_plc_triggered": True}
    return vision_of(head, **{**usual, **other})


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (READY, Vision(OPERATIONAL, Automatic.READY)),
        (READY | BUSY, Vision(OPERATIONAL, Automatic.SINGLE_EXECUTION)),
        (READY | FAULT, Vision(VisionState.ERROR)),
        (FAULT, Vision(VisionState.ERROR)),
        (StatusBit(0), Vision(OPERATIONAL, Automatic.INITIALIZED)),
    ],
)
def test_the_status_bits_are_the_state(status: StatusBit, expected: Vision) -> None:
    """FAULT goes before all, then READY and BUSY."""
    assert vision(Head(status)) == expected


def test_a_station_that_triggers_itself_executes_without_end() -> None:
    """No PLC asks for its jobs."""
    executing = Vision(OPERATIONAL, Automatic.CONTINUOUS_EXECUTION)
    assert vision(Head(READY), is_plc_triggered=False) == executing


def test_before_the_first_ready_it_is_preoperational() -> None:
    """Whether nothing was said yet, or only that it starts."""
    before = Vision(VisionState.PREOPERATIONAL)
    assert vision(None, was_ready=False) == before
    assert vision(Head(), was_ready=False) == before


def test_a_sink_that_said_goodbye_has_halted_and_a_lost_one_is_an_error() -> None:
    """The last words tell the two apart."""
    assert vision(Head(), is_sink_there=False) == Vision(VisionState.HALTED)
    assert vision(Head(READY), is_sink_there=False) == Vision(VisionState.ERROR)


def test_a_result_state_says_how_the_processing_went() -> None:
    """NG is as complete as OK: pass or fail stands in the content."""
    states = {verdict: result_state_of(verdict) for verdict in Verdict}
    assert states[Verdict.OK] == states[Verdict.NG] == ResultState.COMPLETED
    assert states[Verdict.LATE] == ResultState.ABORTED
    assert states[Verdict.UNFIT] == states[Verdict.FAULT] == ResultState.FAILED


def test_the_names_are_those_of_the_nodeset() -> None:
    """Every state is a BrowseName of the OPC Foundation's own file."""
    file = "nodesets/Opc.Ua.MachineVision.NodeSet2.xml.gz"
    data = resources.files("inspectd.stages.sink").joinpath(file).read_bytes()
    names = set(re.findall(r'BrowseName="1:(\w+)"', gzip.decompress(data).decode()))
    assert {one.value for one in (*VisionState, *Automatic)} <= names
