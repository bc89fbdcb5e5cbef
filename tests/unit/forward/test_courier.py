"""Bringing events to a receiver that has its moods."""

import asyncio
from collections import Counter as Tally
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from inspectd.forward.courier import Courier
from inspectd.forward.event import Outgoing
from inspectd.forward.ledger import Ledger
from inspectd.forward.pace import Pace
from inspectd.forward.receiver import Delivered, Refused
from inspectd.ports import Counter
from tests.receivers.fake import FakeReceiver
from tests.receivers.records import recorded

pytestmark = pytest.mark.slow


class _Desk:
    """A courier between a record and a fake receiver."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.receiver = FakeReceiver()
        self.counted: Tally[Counter] = Tally()
        self.said: list[str] = []
        self.stopping = asyncio.Event()
        self.states = {"cam-1": "Operational"}
        self.pace = Pace(lambda: 0.0, first_wait_s=0.01)
        self.courier = Courier(
            "fake",
            self.receiver,
            Ledger(folder, "fake", self.log),
            self.pace,
            stopping=self.stopping,
            count=self.count,
            log=self.log,
            states=lambda: self.states,
        )

    def count(self, counter: Counter, number: int) -> None:
        self.counted[counter] += number

    def log(self, _level: str, event: str, **_: Any) -> None:
        self.said.append(event)

    def run(self, *waits: Callable[[], object]) -> None:
        """Let the courier work until each of these was true, one after the other."""

        async def work() -> None:
            serving = asyncio.create_task(self.courier.run())
            for wait in waits:
                while not wait():
                    if serving.done():
                        return await serving
                    await asyncio.sleep(0.005)
            self.stopping.set()
            return await serving

        asyncio.run(asyncio.wait_for(work(), 20))


def did(deed: Callable[[], object]) -> bool:
    """Do something in between."""
    deed()
    return True


@pytest.fixture
def desk(tmp_path: Path) -> _Desk:
    """Ten events wait."""
    recorded(tmp_path, range(10))
    return _Desk(tmp_path)


def test_everything_arrives_and_is_counted(desk: _Desk) -> None:
    """What was there, and what comes while it works."""
    desk.run(
        lambda: len(desk.receiver.rows) == 10,
        lambda: did(lambda: recorded(desk.folder, [10])),
        lambda: len(desk.receiver.rows) == 11,
    )
    assert desk.counted[Counter.FORWARDED] == 11
    assert desk.courier.trouble == ""


def test_a_receiver_that_is_away_is_trouble_until_it_takes_events(desk: _Desk) -> None:
    """One sentence; everything arrives when it is back."""
    desk.receiver.kill()
    desk.run(
        lambda: desk.receiver.opened > 2,
        lambda: "it is not there; start it" in desk.courier.trouble,
        lambda: did(desk.receiver.start),
        lambda: len(desk.receiver.rows) == 10,
        lambda: desk.courier.trouble == "",
    )
    assert desk.said == ["forward_works_again"]


def test_a_connection_alone_ends_no_trouble(desk: _Desk) -> None:
    """A broker that lets us in and takes no event: back-off grows, the sentence stays."""

    def refuse(_events: Sequence[Outgoing]) -> Delivered:
        raise asyncio.TimeoutError

    desk.receiver.takes = refuse
    desk.run(lambda: desk.receiver.opened > 3, lambda: desk.courier.trouble)
    assert "did not confirm in time" in desk.courier.trouble
    assert desk.pace._failures > 2
    assert desk.counted[Counter.FORWARDED] == 0


def test_the_part_that_arrived_is_not_sent_again(desk: _Desk) -> None:
    """A slow broker confirms a window and fails in the next."""
    seen: list[int] = []

    def take_three(events: Sequence[Outgoing]) -> Delivered:
        seen.extend(int(event.values["trigger_id"]) for event in events[:3])
        return Delivered(min(3, len(events)))

    desk.receiver.takes = take_three
    desk.run(lambda: len(desk.receiver.rows) == 10)
    assert seen == list(range(10))


def test_a_refused_event_is_counted_logged_and_passed(desk: _Desk) -> None:
    """It never arrives, and never blocks."""

    def refuse_one(events: Sequence[Outgoing]) -> Delivered:
        refused = [Refused(one.mark, "odd") for one in events if one.values["trigger_id"] == 4]
        return Delivered(len(events), tuple(refused))

    desk.receiver.takes = refuse_one
    desk.run(lambda: len(desk.receiver.rows) == 9)
    assert desk.counted[Counter.FORWARD_LOST] == 1
    assert desk.counted[Counter.FORWARDED] == 9
    assert desk.said == ["event_refused"]


def test_a_stop_sends_what_is_there_and_says_halted(desk: _Desk) -> None:
    """The record has ended before: the last events are in the file."""
    desk.stopping.set()
    desk.run()
    assert len(desk.receiver.rows) == 10
    assert desk.receiver.told[-1] == {"cam-1": "Halted"}
    assert not desk.receiver.is_open


def test_a_stop_does_not_wait_for_who_is_away(desk: _Desk) -> None:
    """Also in the middle of a long back-off."""
    desk.pace.first_wait_s = 60.0
    desk.receiver.kill()
    desk.run(lambda: desk.receiver.opened == 1)
    assert desk.receiver.opened <= 2


def test_states_are_told_when_they_change(desk: _Desk) -> None:
    """Not again and again."""
    desk.run(
        lambda: desk.receiver.told,
        lambda: did(lambda: desk.states.update({"cam-1": "Error"})),
        lambda: len(desk.receiver.told) == 2,
    )
    words = [told["cam-1"] for told in desk.receiver.told]
    assert words == ["Operational", "Error", "Halted"]


def test_a_death_before_the_place_is_kept_sends_a_bite_again(desk: _Desk) -> None:
    """At least once: nothing is skipped by whoever comes after."""

    def die(events: Sequence[Outgoing]) -> Delivered:
        desk.receiver.takes = None
        raise RuntimeError("killed")

    desk.receiver.takes = die
    with pytest.raises(RuntimeError, match="killed"):
        desk.run(lambda: False)
    after = _Desk(desk.folder)
    after.run(lambda: len(after.receiver.rows) == 10)
