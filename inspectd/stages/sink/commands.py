"""The handshake of commands: each is taken up once, answered by echo, one at a time.

    command_sequence changes --> EXECUTING (echo: the new sequence) --> COMPLETED
                                                                   '--> FAILED, with a result

A command counts by its sequence alone. Sequence 0 is none: a PLC that was restarted shows it, sees
it echoed, and may count from 1 again. One that stood there before the first life of vision is
echoed with the state NONE: it was not carried out. One in whose middle vision died is FAILED
(INTERRUPTED) afterwards; one that came while vision was dead is taken up. Pure.
"""

from typing import NamedTuple

from inspectd.plc.codes import NO_COMMAND, CommandResult, CommandState
from inspectd.plc.registers import Head, PlcPart

__all__ = ["Answer", "Asked", "Commands"]


class Answer(NamedTuple):
    """What vision says of the last command."""

    echo: int = NO_COMMAND
    state: CommandState = CommandState.NONE
    result: CommandResult = CommandResult.NONE


class Asked(NamedTuple):
    """A command as the PLC wrote it."""

    command: int
    argument: int
    sequence: int


class Commands:
    """The commands of one station."""

    def __init__(self) -> None:
        """Nothing was asked."""
        self.answer = Answer()

    @property
    def is_executing(self) -> bool:
        """Whether a command is under way."""
        return self.answer.state is CommandState.EXECUTING

    def begin(self, part: PlcPart) -> None:
        """The first life: what stands there was asked of somebody else."""
        self.answer = Answer(part.command_sequence)

    def resume(self, head: Head) -> None:
        """A later life: go on from what the earlier one said."""
        state, result = _known(head)
        if state is CommandState.EXECUTING:
            state, result = CommandState.FAILED, CommandResult.INTERRUPTED
        self.answer = Answer(head.command_echo, state, result)

    def take(self, part: PlcPart) -> Asked | None:
        """Take up what is new; None: nothing is, or another command is under way."""
        if self.is_executing or part.command_sequence == self.answer.echo:
            return None
        if part.command_sequence == NO_COMMAND:
            self.answer = Answer()
            return None
        self.answer = Answer(part.command_sequence, CommandState.EXECUTING)
        return Asked(part.command, part.command_argument, part.command_sequence)

    def completed(self) -> None:
        """The command under way is done."""
        self.answer = self.answer._replace(state=CommandState.COMPLETED)

    def failed(self, result: CommandResult) -> None:
        """The command under way cannot be done."""
        self.answer = self.answer._replace(state=CommandState.FAILED, result=result)


def _known(head: Head) -> tuple[CommandState, CommandResult]:
    """State and result as codes; what nobody wrote is none."""
    try:
        return CommandState(head.command_state), CommandResult(head.command_result)
    except ValueError:
        return CommandState.NONE, CommandResult.NONE
