"""EDGE (zmq): puts messages into an inbox that no process of the line sent.

- garbage: bytes of any length, and messages of ours with bytes changed;
- foreign: whole messages with the token of another run;
- forged: the right token, as only a process of the line has it, with a slot or generation that is
  not the part's. The token is read from the supervisor's manifest, by the same user.
"""

import random
from collections.abc import Mapping

import zmq

from inspectd.bus import wire
from inspectd.bus.link import Road
from inspectd.chaos.house import Inside
from inspectd.frame import NO_SLOT, Kind, Reason, Role, Stamp, Ticket, Verdict
from inspectd.host.journey import JOURNEY, Member

__all__ = ["FORGED_FROM", "MESSAGES", "inject"]

MESSAGES = 40
"""Messages of one fault."""
FORGED_FROM = 1 << 31
"""Forged trigger ids begin here: a trial's own triggers never come so far."""
_BYTES_MAX = 600
_KINDS: Mapping[Role, Kind] = {
    leg.receiver: leg.kind for leg in JOURNEY if leg.kind is not Kind.TRIGGER
}
"""A kind that each role is used to get."""


def inject(inside: Inside, member: Member, word: str, salt: int) -> None:
    """Send `MESSAGES` messages into the inbox of a process.

    Args:
        inside: The running line.
        member: Whose inbox.
        word: `garbage`, `foreign` or `forged`.
        salt: Decides every byte.
    """
    dice = random.Random(salt)  # noqa: S311 - trouble, no secret
    token = inside.manifest.token if word == "forged" else dice.getrandbits(64)
    road = Road(inside.manifest.run_id, token)
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    socket = context.socket(zmq.PUSH)
    socket.setsockopt(zmq.LINGER, 200)
    socket.connect(road.address(*member))
    try:
        for _ in range(MESSAGES):
            ticket = _ticket(dice, inside, member)
            message = wire.encode(_KINDS[member[0]], ticket, token)
            if word == "garbage":
                message = _spoilt(message, dice)
            socket.send(message)
    finally:
        socket.close()
        context.term()
        road.close()


def _ticket(dice: random.Random, inside: Inside, member: Member) -> Ticket:
    """A ticket of no part: its slot exists, its generation is of no picture."""
    station = max(0, member[1])
    slots = inside.manifest.geometries[station].slots
    ticket = Ticket(
        station=station,
        trigger_id=dice.randrange(FORGED_FROM, 1 << 32),
        part_id="forged",
        slot=dice.choice([*range(slots), slots, 1 << 20, NO_SLOT]),
        generation=dice.choice([0, dice.randrange(1 << 16), dice.randrange(1 << 56)]),
        deadline_ns=dice.randrange(1 << 62),
        verdict=Verdict.OK,
        reason=Reason.NONE,
    )
    return ticket.stamped(Stamp.FIRED, dice.randrange(1, 1 << 62))


def _spoilt(message: bytes, dice: random.Random) -> bytes:
    """Bytes of any kind; every second time, ours with some of them changed or missing."""
    if dice.random() < 0.5:  # noqa: PLR2004 - half
        return dice.randbytes(dice.randrange(_BYTES_MAX))
    changed = bytearray(message)
    for _ in range(dice.randint(1, 8)):
        changed[dice.randrange(len(changed))] ^= dice.randint(1, 255)
    return bytes(changed[: dice.randint(1, len(changed))])
