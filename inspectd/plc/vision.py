"""The station in the words of OPC 40100-1 (Machine Vision): its state, and its results.

Names and numbers are the BrowseNames and StateNumbers of the nodeset, version 1.0.0. Pure.
"""

from enum import Enum, IntEnum
from typing import NamedTuple

from inspectd.frame import Verdict
from inspectd.plc.registers import Head, StatusBit

__all__ = ["Automatic", "ResultState", "Vision", "VisionState", "result_state_of", "vision_of"]


class VisionState(Enum):
    """States of the VisionStateMachine (8.2)."""

    PREOPERATIONAL = "Preoperational"
    HALTED = "Halted"
    ERROR = "Error"
    OPERATIONAL = "Operational"


class Automatic(Enum):
    """States of the AutomaticModeStateMachine (8.3), within Operational."""

    INITIALIZED = "Initialized"
    READY = "Ready"
    SINGLE_EXECUTION = "SingleExecution"
    CONTINUOUS_EXECUTION = "ContinuousExecution"


class ResultState(IntEnum):
    """How the processing of a part went (12.19); never whether the part is good."""

    COMPLETED = 1
    ABORTED = 3
    FAILED = 4


class Vision(NamedTuple):
    """Where the station is in both machines."""

    state: VisionState
    automatic: Automatic | None = None
    """None outside of Operational."""


_STILL = StatusBit(0)


def vision_of(
    head: Head | None, *, is_sink_there: bool, was_ready: bool, is_plc_triggered: bool
) -> Vision:
    """The state that the last head means.

    Args:
        head: What vision said of itself last; None: nothing yet.
        is_sink_there: Whether the process that says so is there.
        was_ready: Whether it ever was Ready.
        is_plc_triggered: Each part is a job that the PLC asked for; otherwise the camera goes on by
            itself.
    """
    if head is None:
        return Vision(VisionState.PREOPERATIONAL)
    if not is_sink_there:
        is_ended = head.status == _STILL
        return Vision(VisionState.HALTED if is_ended else VisionState.ERROR)
    if StatusBit.FAULT in head.status:
        return Vision(VisionState.ERROR)
    if StatusBit.READY in head.status:
        return Vision(VisionState.OPERATIONAL, _automatic(head.status, is_plc_triggered))
    if was_ready:
        return Vision(VisionState.OPERATIONAL, Automatic.INITIALIZED)
    return Vision(VisionState.PREOPERATIONAL)


def _automatic(status: StatusBit, is_plc_triggered: bool) -> Automatic:
    if not is_plc_triggered:
        return Automatic.CONTINUOUS_EXECUTION
    return Automatic.SINGLE_EXECUTION if StatusBit.BUSY in status else Automatic.READY


def result_state_of(verdict: Verdict) -> ResultState:
    """OK and NG are judged; a part that came too late was given up, the others failed."""
    if verdict in (Verdict.OK, Verdict.NG):
        return ResultState.COMPLETED
    return ResultState.ABORTED if verdict is Verdict.LATE else ResultState.FAILED
