"""The handshake of commands, from vision's side."""

from hypothesis import given
from hypothesis import strategies as st

from inspectd.plc.codes import Command, CommandResult, CommandState
from inspectd.plc.registers import Head, PlcPart
from inspectd.stages.sink.commands import Answer, Asked, Commands


def _part(sequence: int, command: int = Command.RECIPE, argument: int = 2) -> PlcPart:
    return PlcPart(command=command, command_argument=argument, command_sequence=sequence)


def test_a_command_is_taken_once_and_echoed() -> None:
    """A changed sequence is a command; the same one is not."""
    commands = Commands()
    assert commands.take(_part(1)) == Asked(Command.RECIPE, 2, 1)
    assert commands.answer == Answer(1, CommandState.EXECUTING)
    commands.completed()
    assert commands.take(_part(1)) is None
    assert commands.answer == Answer(1, CommandState.COMPLETED)


def test_a_second_command_waits_for_the_end_of_the_first() -> None:
    """One at a time: the echo stays until the answer is there."""
    commands = Commands()
    commands.take(_part(1))
    assert commands.take(_part(2, Command.RESET)) is None
    assert commands.answer.echo == 1
    commands.failed(CommandResult.TIMED_OUT)
    assert commands.answer == Answer(1, CommandState.FAILED, CommandResult.TIMED_OUT)
    assert commands.take(_part(2, Command.RESET)) is not None
    assert commands.answer == Answer(2, CommandState.EXECUTING)


def test_a_command_from_before_vision_is_echoed_as_not_carried_out() -> None:
    """It was asked of somebody else, perhaps hours ago: the PLC sees so and may ask again."""
    commands = Commands()
    commands.begin(_part(7))
    assert commands.answer == Answer(7, CommandState.NONE)
    assert commands.take(_part(7)) is None


def test_a_plc_that_begins_anew_is_echoed_0() -> None:
    """It may count from 1 again, although 1 was answered before."""
    commands = Commands()
    commands.take(_part(1))
    commands.completed()
    assert commands.take(_part(0)) is None
    assert commands.answer == Answer()
    assert commands.take(_part(1)) is not None


def test_death_in_the_middle_is_a_failure_and_an_answer_survives() -> None:
    """What the registers say is gone on from; nothing is carried out twice."""
    executing = Head(command_echo=3, command_state=CommandState.EXECUTING)
    done = Head(command_echo=3, command_state=CommandState.COMPLETED)
    for head, state, result in (
        (executing, CommandState.FAILED, CommandResult.INTERRUPTED),
        (done, CommandState.COMPLETED, CommandResult.NONE),
    ):
        commands = Commands()
        commands.resume(head)
        assert commands.answer == Answer(3, state, result)
        assert commands.take(_part(3)) is None
        assert commands.take(_part(4)) is not None


def test_registers_that_nobody_wrote_are_no_answer() -> None:
    """A state that does not exist reads as none."""
    commands = Commands()
    commands.resume(Head(command_echo=3, command_state=77))
    assert commands.answer == Answer(3)


@given(
    steps=st.lists(
        st.sampled_from(["ask", "ask", "poll", "finish", "die", "plc restarts"]), max_size=40
    )
)
def test_every_command_is_carried_out_once_or_said_to_have_failed(steps: list[str]) -> None:
    """Whatever dies when: a PLC that waits for its echo knows what became of each command."""
    commands, part, begun = Commands(), PlcPart(), []
    for step in steps:
        answer = commands.answer
        if step == "ask" and answer.echo == part.command_sequence and not commands.is_executing:
            part = _part(part.command_sequence + 1)
        elif step == "poll":
            asked = commands.take(part)
            begun += [asked.sequence] if asked else []
        elif step == "finish" and commands.is_executing:
            commands.completed()
        elif step == "die":
            head = Head(command_echo=answer.echo, command_state=answer.state)
            commands = Commands()
            commands.resume(head)
            if answer.state is CommandState.EXECUTING:
                assert commands.answer.state is CommandState.FAILED
        elif step == "plc restarts" and not commands.is_executing:
            part, begun = PlcPart(), []
            commands.take(part)
    assert begun == sorted(set(begun))
