"""Every kind of fault that a campaign can do: a table.

What a kind allows is part of it: while a PLC cannot be reached it cannot be told, so parts of that
time may stay untold, and its window must reject them. A kind that allows nothing must cost no part
its verdict.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, Flag, auto

from inspectd.frame import Role

__all__ = ["KINDS", "Action", "Allows", "Kind", "Needs", "chosen"]


class Action(Enum):
    """What is done."""

    KILL = "kill"
    STOP = "stop"
    HANG = "hang"
    TERM = "term"
    PLC = "plc"
    WIRE = "wire"
    DISK = "disk"
    ARENA = "arena"
    INJECT = "inject"
    CLOCK = "clock"
    CPU = "cpu"
    ENGINE = "engine"
    CAMERA = "camera"
    FLOOD = "flood"


class Allows(Flag):
    """What a part of that time may suffer; all of it is counted and shown."""

    NOTHING = 0
    UNTOLD = auto()
    """No verdict: nobody was there, or the PLC could not be reached. The window must reject it."""
    TWICE = auto()
    """A second verdict: a write that was given up and carried out after all. The first counts."""
    HELD = auto()
    """A confirmation after the deadline of a verdict that left in time."""


class Needs(Flag):
    """What the machine must offer."""

    NOTHING = 0
    SMALL_DISK = auto()
    """The right to mount a small file system for the record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of fault."""

    name: str
    action: Action
    role: Role = Role.NOBODY
    """Whom it strikes, for kills and stops."""
    lasts_s: tuple[float, float] = (0.0, 0.0)
    """Shortest and longest."""
    allows: Allows = Allows.NOTHING
    must_fall: bool = False
    """Whether READY or the heartbeat must fall at the PLC."""
    needs: Needs = Needs.NOTHING
    word: str = ""
    """Which of the actions of its family, e.g. `reset`."""
    recovers_within_s: float = 30.0
    """From its end to the next OK: longer is a breach."""


_AWAY = Allows.UNTOLD | Allows.TWICE | Allows.HELD
_STAGES = (Role.CAMERA, Role.GATE, Role.INFER, Role.JUDGE)
_PROCESSES = (*_STAGES, Role.SINK, Role.RECORD)
_LOADING_S = 120.0
"""A model is loaded and proves itself, on a loaded machine."""


def _within_s(role: Role) -> float:
    return _LOADING_S if role in (Role.INFER, Role.SUPERVISOR) else 30.0


def _kills() -> Iterator[Kind]:
    for role in (*_PROCESSES, Role.SUPERVISOR):
        is_whole_line = role is Role.SUPERVISOR
        yield Kind(
            name=f"kill-{role.name.lower()}",
            action=Action.KILL,
            role=role,
            allows=Allows.UNTOLD if is_whole_line else Allows.NOTHING,
            must_fall=role in _STAGES or is_whole_line,
            recovers_within_s=_within_s(role),
        )


def _stops() -> Iterator[Kind]:
    for role in (*_PROCESSES, Role.SUPERVISOR):
        yield Kind(
            name=f"stop-{role.name.lower()}",
            action=Action.STOP,
            role=role,
            lasts_s=(0.05, 3.0),
            allows=_AWAY if role is Role.SINK else Allows.NOTHING,
        )
    for role, lasts_s in ((Role.CAMERA, 8.0), (Role.GATE, 8.0), (Role.JUDGE, 8.0)):
        yield _stuck(role, lasts_s)
    yield _stuck(Role.SINK, 8.0)
    yield _stuck(Role.INFER, 24.0)


def _stuck(role: Role, lasts_s: float) -> Kind:
    """Stopped for longer than its patience: the supervisor must kill it."""
    return Kind(
        name=f"stuck-{role.name.lower()}",
        action=Action.STOP,
        role=role,
        lasts_s=(lasts_s, lasts_s + 2),
        allows=_AWAY if role is Role.SINK else Allows.NOTHING,
        must_fall=True,
        recovers_within_s=_within_s(role),
    )


def _wires() -> Iterator[Kind]:
    for word, longest_s in (
        ("reset", 0.0),
        ("refuse", 3.0),
        ("delay", 2.0),
        ("hold", 3.0),
        ("blackhole", 3.0),
        ("half-open", 3.0),
        ("split", 2.0),
        ("garble", 2.0),
    ):
        yield Kind(
            name=f"wire-{word}",
            action=Action.WIRE,
            word=word,
            lasts_s=(min(0.2, longest_s), longest_s),
            allows=_AWAY,
        )


KINDS: tuple[Kind, ...] = (
    *_kills(),
    *_stops(),
    Kind(
        name="term-supervisor",
        action=Action.TERM,
        role=Role.SUPERVISOR,
        must_fall=True,
        recovers_within_s=_LOADING_S,
    ),
    Kind(name="plc-freeze-short", action=Action.PLC, lasts_s=(0.03, 0.5), allows=_AWAY),
    Kind(name="plc-freeze-long", action=Action.PLC, lasts_s=(1.5, 6.0), allows=_AWAY),
    *_wires(),
    Kind(
        name="disk-full",
        action=Action.DISK,
        lasts_s=(1.0, 4.0),
        needs=Needs.SMALL_DISK,
    ),
    Kind(name="arena-full", action=Action.ARENA, lasts_s=(0.5, 1.5)),
    Kind(name="inject-garbage", action=Action.INJECT, word="garbage"),
    Kind(name="inject-foreign", action=Action.INJECT, word="foreign"),
    Kind(name="inject-forged", action=Action.INJECT, word="forged"),
    Kind(name="clock-step", action=Action.CLOCK),
    Kind(name="cpu-starve", action=Action.CPU, lasts_s=(0.5, 3.0), allows=Allows.HELD),
    Kind(name="engine-hang", action=Action.ENGINE, word="hang", lasts_s=(0.3, 4.0)),
    Kind(
        name="engine-never-returns",
        action=Action.ENGINE,
        word="stuck",
        lasts_s=(24.0, 26.0),
        must_fall=True,
        recovers_within_s=_LOADING_S,
    ),
    Kind(name="engine-error", action=Action.ENGINE, word="error"),
    Kind(
        name="engine-fails",
        action=Action.ENGINE,
        word="fails",
        recovers_within_s=_LOADING_S,
    ),
    Kind(name="camera-drop", action=Action.CAMERA, word="drop"),
    Kind(
        name="camera-never-returns",
        action=Action.CAMERA,
        word="stuck",
        lasts_s=(8.0, 9.0),
        must_fall=True,
    ),
    Kind(name="flood", action=Action.FLOOD, lasts_s=(0.5, 2.0)),
)
"""All of them, in the order of the table that is printed."""


def chosen(names: Iterable[str]) -> tuple[tuple[Kind, ...], tuple[str, ...]]:
    """The kinds of these names or families (`kill`, `wire`), and the names that nobody has.

    >>> [kind.name for kind in chosen(["flood"])[0]]
    ['flood']
    """
    wanted = tuple(names)
    known = {kind.name for kind in KINDS} | {_family(kind) for kind in KINDS}
    kinds = tuple(kind for kind in KINDS if {kind.name, _family(kind)} & set(wanted))
    return kinds, tuple(name for name in wanted if name not in known)


def _family(kind: Kind) -> str:
    return kind.name.partition("-")[0]
