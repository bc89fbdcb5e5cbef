"""The door of the forwarders: one thread, and a step that never waits for it."""

import time
from collections import Counter as Tally
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inspectd.config.schema import MqttForward
from inspectd.errors import ForwardFault
from inspectd.forward import step as door
from inspectd.forward.step import HANGS_NS, STALLED_NS, ForwardStep, build
from inspectd.ports import Counter
from tests.receivers.fake import FakeReceiver
from tests.receivers.peers import free_port, until
from tests.receivers.records import recorded
from tests.unit.record.conftest import Desk

pytestmark = pytest.mark.slow


class _Line:
    """A line with one receiver, the time, and what is counted and logged."""

    def __init__(self, folder: Path, port: int) -> None:
        desk = Desk(folder)
        desk.arena.close()
        self.now_ns = 10
        self.counted: Tally[Counter] = Tally()
        self.is_healthy = False
        entry = MqttForward(kind="mqtt", name="broker", host="127.0.0.1", port=port)
        self.line = replace(desk.line(), forward=(entry,))
        self.context = replace(
            desk.context,
            clock=lambda: self.now_ns,
            count=self.count,
            is_line_healthy=lambda station: self.is_healthy,
        )

    def count(self, counter: Counter, number: int) -> None:
        """Keep what would be counted."""
        self.counted[counter] += number

    def step(self, **context: Any) -> ForwardStep:
        """As the host makes it."""
        made = build(self.line, -1, replace(self.context, **context))
        assert isinstance(made, ForwardStep)
        return made


@pytest.fixture
def line(tmp_path: Path) -> _Line:
    """Nobody listens at its broker's port."""
    recorded(tmp_path, range(3))
    return _Line(tmp_path, free_port())


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeReceiver:
    """In place of the edge."""
    made = FakeReceiver()
    monkeypatch.setattr(door, "receiver_of", lambda entry, name: made)
    return made


def turn(step: ForwardStep, now_ns: int) -> bool:
    """Wake it; true."""
    step.wake(now_ns)
    return True


def test_what_arrives_is_counted_by_the_process(line: _Line, fake: FakeReceiver) -> None:
    """And a stop ends the thread."""
    step = line.step()
    until(lambda: turn(step, 10) and line.counted[Counter.FORWARDED] == 3)
    assert step.trouble() == ""
    step.stop(10)
    until(step.is_drained)
    step.close()
    assert fake.has() == [0, 1, 2]


def test_states_begin_with_preoperational(line: _Line, fake: FakeReceiver) -> None:
    """Until a station was healthy once; a restarted process cannot know, and says Error."""
    step = line.step()
    until(lambda: fake.told)
    line.is_healthy = True
    until(lambda: len(fake.told) == 2)
    line.is_healthy = False
    until(lambda: len(fake.told) == 3)
    step.stop(10)
    until(step.is_drained)
    words = [told["cam-1"] for told in fake.told]
    assert words == ["Preoperational", "Operational", "Error", "Halted"]
    again = line.step(restarts=1)
    until(lambda: len(fake.told) > 4)
    again.close()
    assert fake.told[4]["cam-1"] == "Error"


def test_a_receiver_that_is_away_is_said_and_does_not_hold_the_end_up(line: _Line) -> None:
    """The sentence names it; the drain ends at once."""
    step = line.step()
    until(lambda: "receiver broker (127.0.0.1:" in step.trouble())
    begin = time.monotonic()
    step.stop(10)
    until(step.is_drained)
    step.close()
    assert time.monotonic() - begin < 3


def test_a_fault_of_ours_ends_the_process(line: _Line, fake: FakeReceiver) -> None:
    """It is raised where the host sees it, not lost with the thread."""

    def burst(_events: object) -> Any:
        raise ZeroDivisionError

    fake.takes = burst
    step = line.step()
    until(step.is_drained)
    with pytest.raises(ZeroDivisionError):
        step.wake(10)
    step.close()


def test_a_loop_that_stands_still_is_trouble_then_the_end(line: _Line, fake: FakeReceiver) -> None:
    """A disk that never answers hangs the thread, not the step."""
    step = line.step()
    until(lambda: fake.told)
    step.wake(10 + STALLED_NS + 1)
    assert "stand still" in step.trouble()
    with pytest.raises(ForwardFault, match="the forwarders hang"):
        step.wake(10 + HANGS_NS + 1)
    step.close()


def test_a_missing_library_is_trouble_for_that_receiver_alone(
    line: _Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process lives, and says so."""

    def missing(_entry: object, _name: str) -> Any:
        raise ForwardFault("broker", "aiomqtt cannot be loaded", "pip install 'inspectd[mqtt]'")

    monkeypatch.setattr(door, "receiver_of", missing)
    step = line.step()
    assert "pip install 'inspectd[mqtt]'" in step.trouble()
    step.close()
