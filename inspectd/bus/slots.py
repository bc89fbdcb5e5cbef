"""The life of a slot of frame memory, as a table.

    NOBODY --loan--> CAMERA --> GATE --> INFER --> JUDGE --> RECORD --release--> NOBODY
                        |         |        |                   ^
                        '---------+--------+-------------------'   (decided early)

Whoever decides a part gives its picture to the record or frees it; the ticket passes through the
sink, which holds no pictures: how long it waits for a PLC must not depend on memory. Any owner may
release; the supervisor does it for an owner that died (reclaim). The state of a slot
is one 64-bit word: the owner in the lowest byte, the generation above it. The generation counts
the loans of the slot, so that a ticket about an earlier picture never matches. Functions take a
word and answer the next one, or None where the word is not what the caller believes (the slot was
reclaimed).
"""

from collections.abc import Mapping
from types import MappingProxyType

from inspectd.errors import ArenaFault
from inspectd.frame import Role

__all__ = [
    "GENERATIONS",
    "NEXT_OWNERS",
    "after_hand_over",
    "after_loan",
    "after_reclaim",
    "after_release",
    "is_held",
    "pack",
    "unpack",
]

GENERATIONS = 1 << 56
"""Generations before the count begins again: at 1000 loans a second two million years."""

_OWNER_BITS = 8
_OWNER_MASK = (1 << _OWNER_BITS) - 1

NEXT_OWNERS: Mapping[Role, frozenset[Role]] = MappingProxyType(
    {
        Role.NOBODY: frozenset({Role.CAMERA}),
        Role.CAMERA: frozenset({Role.NOBODY, Role.GATE, Role.RECORD}),
        Role.GATE: frozenset({Role.NOBODY, Role.INFER, Role.RECORD}),
        Role.INFER: frozenset({Role.NOBODY, Role.JUDGE, Role.RECORD}),
        Role.JUDGE: frozenset({Role.NOBODY, Role.RECORD}),
        Role.RECORD: frozenset({Role.NOBODY}),
    }
)
"""Who may own a slot after whom."""


_ROLES = tuple(Role)
"""By number: a look-up, where calling the enum takes ten times as long."""


def pack(owner: Role, generation: int) -> int:
    """Make the word of a slot; it fits 64 bits without a sign."""
    return (generation % GENERATIONS) << _OWNER_BITS | owner


def unpack(word: int) -> tuple[Role, int]:
    """Read (owner, generation) from the word of a slot."""
    return _ROLES[word & _OWNER_MASK], word >> _OWNER_BITS


def is_held(word: int, generation: int, role: Role) -> bool:
    """Whether `role` owns the slot, with the picture of `generation` in it."""
    return role is not Role.NOBODY and word == pack(role, generation)


def after_loan(word: int) -> int | None:
    """Give a free slot to the camera with the next generation; None when it is in use."""
    owner, generation = unpack(word)
    return pack(Role.CAMERA, generation + 1) if owner is Role.NOBODY else None


def after_hand_over(word: int, generation: int, owner: Role, to: Role) -> int | None:
    """Give the slot on; None when it is no longer `owner`'s.

    Raises:
        ArenaFault: `to` may not follow `owner`: a fault in a stage, never in the line.
    """
    if to is Role.NOBODY or to not in NEXT_OWNERS.get(owner, frozenset()):
        raise ArenaFault(
            f"{owner.name} gives a slot to {to.name}, which may not follow it",
            "report this with the log: a stage does not keep to inspectd.bus.slots",
        )
    return pack(to, generation) if is_held(word, generation, owner) else None


def after_release(word: int, generation: int, owner: Role) -> int | None:
    """Free the slot, keeping the count; None when it is no longer `owner`'s."""
    return pack(Role.NOBODY, generation) if is_held(word, generation, owner) else None


def after_reclaim(word: int, dead: Role) -> int | None:
    """Free the slot for its dead owner; None when somebody else owns it."""
    owner, generation = unpack(word)
    return pack(Role.NOBODY, generation) if owner is dead is not Role.NOBODY else None
