"""How long each process may take: a table.

The limits are about the process, never about a part: a part's time is its deadline, which the sink
keeps. They are wide enough for a loaded machine, and a process over them is surely stuck.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from inspectd.frame import Role

__all__ = ["PATIENCE", "SILENCE_NS", "TURN_NS", "Patience"]

_SECOND_NS = 1_000_000_000

TURN_NS = 100_000_000
"""Longest wait of a process for a message: it shows at least so often that it moves."""
SILENCE_NS = _SECOND_NS
"""An idle process that has not moved for so long does not count as ready: ten turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """The limits of one role."""

    busy_s: float = 1
    """One call of its step; longer and it is not ready (the heartbeat stops)."""
    kill_s: float = 5
    """No movement at all; longer and it is killed and restarted."""
    start_s: float = 60
    """From its birth to READY: imports, on a machine that starts everything at once."""
    build_s: float = 60
    """One step of building an engine; longer and it is killed."""
    drain_s: float = 3
    """To finish what it holds when it is asked to stop; longer and it is killed."""


PATIENCE: Mapping[Role, Patience] = MappingProxyType(
    {
        Role.CAMERA: Patience(),
        Role.GATE: Patience(),
        Role.INFER: Patience(
            busy_s=5, kill_s=20, start_s=300, drain_s=20, build_s=3600
        ),  # loads and tests models; users of TensorRT report builds of 10 minutes
        Role.JUDGE: Patience(),
        Role.SINK: Patience(drain_s=5),
        Role.RECORD: Patience(kill_s=60, drain_s=30),  # waits for disks
        Role.FORWARD: Patience(busy_s=5, kill_s=60, drain_s=5),  # what is not sent stays
        Role.REJECT: Patience(drain_s=10),  # parts that are on the belt reach the ejector
        Role.OPCUA: Patience(),
        Role.METRICS: Patience(busy_s=5, kill_s=60),  # waits for the record's disk
        Role.WEB: Patience(busy_s=5, kill_s=60),  # people can wait, and see that it is away
    }
)
