"""Which process carries which step, and what it is told: the page to read first.

    camera --FRAME--> gate --TENSOR--> infer --RAW--> judge --VERDICT--> sink --EVENT--> record
      ^ |                |               |                                 ^ |
      | '----TRIGGER, VERDICT (nothing captured, unfit, engine down)-------' |
      '-------------------------------FIRE-----------------------------------'

Every process has one inbox (PULL, bound); whoever has something to say connects a PUSH to it.
"""

from typing import NamedTuple

from inspectd.frame import Kind, Role

__all__ = ["JOURNEY", "LINE_WIDE", "STAGES", "STATION_WIDE", "Leg"]


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
)
