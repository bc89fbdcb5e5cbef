"""The simulated PLC's side of the command handshake, and how commands are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.config.reciperules import COMMAND
from inspectd.plc.codes import Command, CommandResult, CommandState
from inspectd.plc.commander import Commander, Planned, parse
from inspectd.plc.registers import Head

S = 10**9


def _head(echo: int, state: CommandState, result: CommandResult = CommandResult.NONE) -> Head:
    return Head(command_echo=echo, command_state=state, command_result=result)


@pytest.mark.parametrize(
    ("text", "planned"),
    [
        ("reset", Planned(Command.RESET)),
        ("golden@7", Planned(Command.GOLDEN_TEST, 0, 7.0)),
        ("recipe:12@2.5s", Planned(Command.RECIPE, 12, 2.5)),
        ("42:7@1", Planned(42, 7, 1.0)),
    ],
)
def test_commands_are_read_as_written(text: str, planned: Planned) -> None:
    """By name, or any number, for trials of what vision does not know."""
    assert parse(text) == planned


@pytest.mark.parametrize("text", ["", "stop", "recipe:x", "reset@", "@5", "70000", "1:70000"])
def test_what_is_no_command_is_refused(text: str) -> None:
    """A wrong word is named, not passed over."""
    with pytest.raises(ValueError, match=r"command|register"):
        parse(text)


@given(text=st.from_regex(COMMAND, fullmatch=True, alphabet=st.characters(max_codepoint=127)))
def test_whatever_a_station_file_may_say_can_be_read(text: str) -> None:
    """The two patterns agree."""
    assert parse(text).command in set(Command)


def test_commands_are_given_one_after_the_other() -> None:
    """The next one waits for the answer of the last, and for its moment."""
    commander = Commander([Planned(Command.RECIPE, 2, 1.0), Planned(Command.RESET)])
    commander.scan(0, Head(), is_there=True)
    assert (commander.asked.command, commander.sequence) == (Command.RESET, 1)
    commander.scan(2 * S, Head(), is_there=True)
    commander.scan(3 * S, _head(1, CommandState.EXECUTING), is_there=True)
    assert commander.sequence == 1
    commander.scan(4 * S, _head(1, CommandState.COMPLETED), is_there=True)
    assert commander.asked == Planned(Command.RECIPE, 2, 1.0)
    assert [(one.sequence, one.state, one.after_ms) for one in commander.done] == [
        (1, "COMPLETED", 4000.0)
    ]


def test_nothing_is_commanded_while_vision_is_away() -> None:
    """It would not be carried out."""
    commander = Commander([Planned(Command.RESET)])
    commander.scan(0, Head(), is_there=False)
    assert not commander.is_busy


def test_a_command_that_vision_did_not_carry_out_is_given_again() -> None:
    """It came while vision was starting: echoed with the state NONE."""
    commander = Commander([Planned(Command.RESET)])
    commander.scan(0, Head(), is_there=True)
    commander.scan(S, _head(1, CommandState.NONE), is_there=True)
    assert commander.sequence == 2
    failed = _head(2, CommandState.FAILED, CommandResult.NOT_READY)
    commander.scan(2 * S, failed, is_there=True)
    assert [(one.sequence, one.result) for one in commander.done] == [(2, "NOT_READY")]
    assert not commander.is_busy
