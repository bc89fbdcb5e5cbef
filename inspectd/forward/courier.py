"""Brings events to one receiver, again and again until it has them: at least once each.

    read a bite -> hand it over -> it is confirmed -> keep the cursor -> read on
    any failure -> say it once -> let go -> wait 1 to 60 s -> connect anew

The cursor moves after the confirmation only, so a death at any point repeats a bite and loses none.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol, TypeVar

from inspectd.cursor import Cursor
from inspectd.errors import ForwardFault
from inspectd.forward.outbox import Pending
from inspectd.forward.pace import Pace
from inspectd.forward.receiver import Receiver
from inspectd.ports import Counter

__all__ = ["Courier", "Place"]

_T = TypeVar("_T")

OPEN_S = 15.0
"""For a connection, TLS and all."""
DELIVER_S = 20.0
"""For a bite: with a slow receiver it shrinks (`Pace`) until it fits."""
LOOK_S = 0.1
"""Between two looks for new events."""
BREATH_S = 0.01
"""Between two bites of a long way to catch up: the processor is the line's."""


class Place(Protocol):
    """Where the events come from (`inspectd.forward.ledger.Ledger`)."""

    trouble: str

    def bite(self, limit: int) -> list[Pending]:
        """Read the next events to send."""

    def move(self, cursor: Cursor) -> None:
        """Go on to a cursor."""

    def close(self) -> None:
        """Let go."""


class Courier:
    """Of one receiver."""

    def __init__(
        self,
        name: str,
        receiver: Receiver,
        place: Place,
        pace: Pace,
        *,
        stopping: asyncio.Event,
        count: Callable[[Counter, int], None],
        log: Callable[..., None],
        states: Callable[[], Mapping[str, str]],
    ) -> None:
        """Do nothing yet.

        Args:
            name: of the receiver.
            receiver: is opened and closed here.
            place: where the events come from.
            pace: how much, how often.
            stopping: set when nothing new will come; what is there is still sent.
            count: adds to the counters of this process.
            log: as in `inspectd.ports.Context`.
            states: how the stations are now.
        """
        self._name, self._receiver, self._place, self._pace = name, receiver, place, pace
        self._stopping, self._count, self._log, self._states = stopping, count, log, states
        self._trouble = ""
        self._told: Mapping[str, str] = {}

    @property
    def trouble(self) -> str:
        """What a person should see to; empty when all is well."""
        return self._trouble or self._place.trouble

    async def run(self) -> None:
        """Serve until told to stop, then until all is sent or the receiver does not take it."""
        try:
            while not await self._is_served():
                if await self._is_told_within(self._pace.failed()):
                    return
        finally:
            self._place.close()

    async def _is_served(self) -> bool:
        """Serve over one connection; whether it came to its end."""
        try:
            await self._serve()
        except ForwardFault as fault:
            self._trouble = str(fault)
            return False
        finally:
            self._told = {}
            await self._receiver.close()
        return True

    async def _serve(self) -> None:
        """Serve over one connection; ends well only when told to stop."""
        await self._within(OPEN_S, self._receiver.open(), "it did not answer in time")
        while True:
            pending = self._place.bite(self._pace.bite)
            if pending:
                await self._deliver(pending)
                await asyncio.sleep(BREATH_S)
                continue
            self._recover()
            if self._stopping.is_set():
                await self._tell(dict.fromkeys(self._states(), "Halted"))
                return
            await self._tell(self._states())
            await self._is_told_within(LOOK_S)

    async def _deliver(self, pending: list[Pending]) -> None:
        """Hand a bite over; go on behind what arrived."""
        events = [one.event for one in pending]
        handing = self._receiver.deliver(events)
        delivered = await self._within(DELIVER_S, handing, "it did not confirm in time")
        for refused in delivered.refused:
            self._log(
                "error",
                "event_refused",
                receiver=self._name,
                event_key=refused.mark,
                error=refused.why,
            )
        if delivered.done:
            self._place.move(pending[delivered.done - 1].cursor)
            self._pace.delivered()
            self._recover()
            self._count(Counter.FORWARD_LOST, len(delivered.refused))
            self._count(Counter.FORWARDED, delivered.done - len(delivered.refused))

    async def _tell(self, states: Mapping[str, str]) -> None:
        if states != self._told:
            await self._within(OPEN_S, self._receiver.tell(states), "it did not confirm in time")
            self._told = dict(states)

    async def _within(self, seconds: float, work: Coroutine[Any, Any, _T], what: str) -> _T:
        try:
            return await asyncio.wait_for(work, seconds)
        except asyncio.TimeoutError as error:
            remedy = "see whether it is overloaded or hangs; events wait in the record"
            raise ForwardFault(self._name, what, remedy) from error

    async def _is_told_within(self, seconds: float) -> bool:
        """Wait; whether it is time to stop."""
        try:
            await asyncio.wait_for(self._stopping.wait(), seconds)
        except asyncio.TimeoutError:
            return False
        return True

    def _recover(self) -> None:
        if self._trouble:
            self._trouble = ""
            self._log("info", "forward_works_again", receiver=self._name)
