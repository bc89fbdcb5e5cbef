"""Which process carries which step, and what it is told: the page to read first.

    camera --FRAME--> gate --TENSOR--> infer --RAW--> judge --VERDICT--> sink --EVENT--> record
      ^ |                |               |                                 ^ |
      | '----TRIGGER, VERDICT (nothing captured, unfit, engine down)-------' |
      '-------------------------------FIRE-----------------------------------'
    sink --TRIGGER, VERDICT--> reject     (stations with `reject.kind: output` only)

Every process has one inbox (PULL, bound); whoever has something to say connects a PUSH to it.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from inspectd.config.schema import Line, OpcuaServerPlc, OutputReject
from inspectd.frame import Kind, Role

__all__ = [
    "EXPENDABLE",
    "JOURNEY",
    "LINE_WIDE",
    "ON_DEMAND",
    "STAGES",
    "STATION_WIDE",
    "Leg",
    "Member",
    "crew_of",
]

Member: TypeAlias = tuple[Role, int]
"""A process of the line: its role and station (-1: line-wide)."""


class Leg(NamedTuple):
    """One kind of message on its way."""

    sender: Role
    kind: Kind
    receiver: Role


STATION_WIDE: tuple[Role, ...] = (Role.CAMERA, Role.GATE, Role.JUDGE, Role.SINK)
"""One process per station each."""
LINE_WIDE: tuple[Role, ...] = (Role.INFER, Role.RECORD)
"""One process per line each; in the addresses their station is -1."""
STAGES: tuple[Role, ...] = (Role.CAMERA, Role.GATE, Role.INFER, Role.JUDGE, Role.SINK)
"""The folders of `inspectd/stages`, in the journey's order (which is also the alphabet's)."""


def _with_own_ejector(line: Line) -> Sequence[int]:
    """Stations whose ejector inspectd drives itself."""
    stations = enumerate(line.stations)
    return [index for index, station in stations if isinstance(station.reject, OutputReject)]


def _with_opcua_server(line: Line) -> Sequence[int]:
    """Stations whose PLC is a client of their own OPC UA server."""
    stations = enumerate(line.stations)
    return [index for index, station in stations if isinstance(station.plc, OpcuaServerPlc)]


def _with_receivers(line: Line) -> Sequence[int]:
    """Forwarders are one process, for a line that has receivers outside."""
    return (-1,) if line.forward else ()


def _with_view(line: Line) -> Sequence[int]:
    """The operator's view is one process, for a line that wants it."""
    return (-1,) if line.web else ()


def _with_metrics(line: Line) -> Sequence[int]:
    """The exporter is one process, for a line whose figures are wanted."""
    return () if line.metrics is None else (-1,)


ON_DEMAND: Mapping[Role, Callable[[Line], Sequence[int]]] = MappingProxyType(
    {
        Role.REJECT: _with_own_ejector,
        Role.FORWARD: _with_receivers,
        Role.OPCUA: _with_opcua_server,
        Role.METRICS: _with_metrics,
        Role.WEB: _with_view,
    }
)
"""Roles that only some lines have: which stations (-1: the line) want one."""

EXPENDABLE: frozenset[Role] = frozenset({Role.FORWARD, Role.METRICS, Role.WEB})
"""Their deaths never end the line, however many: nobody waits for them. No leg of the journey leads
to them either: forwarders, exporter and view follow the record's file."""

JOURNEY: tuple[Leg, ...] = (
    Leg(Role.SINK, Kind.FIRE, Role.CAMERA),
    Leg(Role.CAMERA, Kind.TRIGGER, Role.SINK),
    Leg(Role.CAMERA, Kind.FRAME, Role.GATE),
    Leg(Role.CAMERA, Kind.VERDICT, Role.SINK),
    Leg(Role.GATE, Kind.TENSOR, Role.INFER),
    Leg(Role.GATE, Kind.VERDICT, Role.SINK),
    Leg(Role.INFER, Kind.RAW, Role.JUDGE),
    Leg(Role.INFER, Kind.VERDICT, Role.SINK),
    Leg(Role.JUDGE, Kind.VERDICT, Role.SINK),
    Leg(Role.SINK, Kind.EVENT, Role.RECORD),
    Leg(Role.SINK, Kind.RECIPE, Role.CAMERA),
    Leg(Role.SINK, Kind.GOLDEN, Role.INFER),
    Leg(Role.INFER, Kind.PROVED, Role.SINK),
    Leg(Role.SINK, Kind.TRIGGER, Role.REJECT),
    Leg(Role.SINK, Kind.VERDICT, Role.REJECT),
)


def crew_of(line: Line) -> tuple[Member, ...]:
    """Name every process of a line, the line-wide ones first, then station by station."""
    everywhere = {
        **dict.fromkeys(LINE_WIDE, (-1,)),
        **dict.fromkeys(STATION_WIDE, range(len(line.stations))),
    }
    wanted = {**everywhere, **{role: wants(line) for role, wants in ON_DEMAND.items()}}
    crew = ((role, station) for role, stations in wanted.items() for station in stations)
    return tuple(sorted(crew, key=lambda member: member[1]))
