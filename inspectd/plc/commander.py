"""The PLC's side of the command handshake: one command after the other, each answered by its echo.

    due, vision lives, last one answered --> command, argument, then a new sequence
    echo is this sequence: COMPLETED, FAILED --> done          NONE --> vision was not there: again

While a command is under way no part is triggered: vision would refuse it. Pure.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from inspectd.plc.codes import NO_COMMAND, Command, CommandResult, CommandState
from inspectd.plc.registers import Head, next_sequence

__all__ = ["Commander", "Done", "Planned", "parse"]

_NS_PER_MS = 1_000_000
_NAMES = {"reset": Command.RESET, "golden": Command.GOLDEN_TEST, "recipe": Command.RECIPE}
_WRITTEN = re.compile(r"(?P<name>[a-z]+|\d+)(?::(?P<argument>\d+))?(?:@(?P<at>\d+(?:\.\d+)?)s?)?")
_WORD = 0xFFFF


class Planned(NamedTuple):
    """A command that is to be given."""

    command: int
    argument: int = 0
    at_s: float = 0.0
    """Not before so many seconds after vision was alive for the first time."""


class Done(NamedTuple):
    """A command that was answered."""

    command: int
    argument: int
    sequence: int
    state: str
    result: str
    after_ms: float


def parse(text: str) -> Planned:
    """Read a command as written on the command line.

    Args:
        text: `reset`, `golden`, `recipe:NUMBER`, or any number `COMMAND:ARGUMENT`; each
            perhaps with `@SECONDSs` behind it.

    Raises:
        ValueError: It is none.
    """
    match = _WRITTEN.fullmatch(text)
    if match is None or not (match["name"] in _NAMES or match["name"].isdigit()):
        raise ValueError(f"{text!r} is no command")
    name, argument = match["name"], int(match["argument"] or 0)
    command = _NAMES[name] if name in _NAMES else int(name)
    if command > _WORD or argument > _WORD:
        raise ValueError(f"{text!r} does not fit its register")
    return Planned(command, argument, float(match["at"] or 0))


class Commander:
    """Gives the planned commands."""

    def __init__(self, planned: Iterable[Planned]) -> None:
        """Plan; those of the same moment in the order given."""
        self._planned = sorted(planned, key=lambda one: one.at_s)
        self._asked: Planned | None = None
        self._asked_ns = 0
        self._there_ns: int | None = None
        self.sequence = NO_COMMAND
        """As in `command_sequence`."""
        self.done: list[Done] = []

    @property
    def asked(self) -> Planned:
        """What stands in the registers."""
        return self._asked or Planned(0)

    @property
    def is_busy(self) -> bool:
        """Whether a command waits for its answer."""
        return self._asked is not None

    def scan(self, now_ns: int, head: Head, *, is_there: bool) -> None:
        """Look at the answer, then give the next command that is due.

        Args:
            now_ns: of this scan.
            head: what vision says.
            is_there: whether vision lives.
        """
        if self._there_ns is None and is_there:
            self._there_ns = now_ns
        if self._asked is not None:
            self._look(now_ns, self._asked, head)
        is_echoed = head.command_echo == self.sequence
        if self._asked is None and is_there and is_echoed and self._is_due(now_ns):
            self._asked, self._asked_ns = self._planned.pop(0), now_ns
            self.sequence = next_sequence(self.sequence)

    def _is_due(self, now_ns: int) -> bool:
        if not self._planned or self._there_ns is None:
            return False
        return now_ns - self._there_ns >= self._planned[0].at_s * 1e9

    def _look(self, now_ns: int, asked: Planned, head: Head) -> None:
        if head.command_echo != self.sequence:
            return
        if head.command_state == CommandState.NONE:  # vision came after it: give it again
            self._planned.insert(0, asked)
            self._asked = None
            return
        if head.command_state not in {CommandState.COMPLETED, CommandState.FAILED}:
            return
        after_ms = round((now_ns - self._asked_ns) / _NS_PER_MS, 3)
        state, result = CommandState(head.command_state).name, _name(head.command_result)
        answer = Done(asked.command, asked.argument, self.sequence, state, result, after_ms)
        self.done.append(answer)
        self._asked = None


def _name(result: int) -> str:
    try:
        return CommandResult(result).name
    except ValueError:
        return str(result)
