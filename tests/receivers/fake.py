"""A receiver in memory that passes the contract, for tests of what stands before it."""

from collections.abc import Callable, Mapping, Sequence

from inspectd.errors import ForwardFault
from inspectd.forward.event import Outgoing
from inspectd.forward.receiver import Delivered

__all__ = ["FakeReceiver"]


class FakeReceiver:
    """Both sides at once."""

    def __init__(self) -> None:
        self.rows: dict[str, Outgoing] = {}
        self.told: list[Mapping[str, str]] = []
        self.opened = 0
        self.deliveries = 0
        self.is_up = True
        self.is_open = False
        self.is_right = True
        self.takes: Callable[[Sequence[Outgoing]], Delivered] | None = None
        """What becomes of a delivery, instead of its being taken as a whole."""

    # ---------------------------------------------------------------- the receiver

    async def open(self) -> None:
        """See `Receiver.open`."""
        self.opened += 1
        self._refuse_unless(self.is_up and self.is_right)
        self.is_open = True

    async def deliver(self, events: Sequence[Outgoing]) -> Delivered:
        """See `Receiver.deliver`."""
        self._refuse_unless(self.is_up and self.is_open)
        self.deliveries += 1
        delivered = self.takes(events) if self.takes else Delivered(len(events))
        refused = {one.mark for one in delivered.refused}
        for event in events[: delivered.done]:
            present = self.rows.get(event.mark)
            is_newer = present is None or event.values["revision"] > present.values["revision"]
            if is_newer and event.mark not in refused:
                self.rows[event.mark] = event
        return delivered

    async def tell(self, states: Mapping[str, str]) -> None:
        """See `Receiver.tell`."""
        self._refuse_unless(self.is_up and self.is_open)
        self.told.append(dict(states))

    async def close(self) -> None:
        """See `Receiver.close`."""
        self.is_open = False

    def _refuse_unless(self, is_well: bool) -> None:
        if not is_well:
            raise ForwardFault("fake", "it is not there", "start it")

    # ---------------------------------------------------------------- the peer

    def receiver(self, *, is_right: bool = True) -> "FakeReceiver":
        """See `Peer.receiver`."""
        self.is_right = is_right
        return self

    def has(self) -> list[int]:
        """See `Peer.has`."""
        return sorted(int(event.values["trigger_id"]) for event in self.rows.values())

    def judged(self, number: int) -> str:
        """See `Peer.judged`."""
        found = (e for e in self.rows.values() if e.values["trigger_id"] == number)
        return str(next(found).values["judged"])

    def kill(self) -> None:
        """See `Peer.kill`."""
        self.is_up = self.is_open = False

    def start(self) -> None:
        """See `Peer.start`."""
        self.is_up = True

    freeze, thaw = kill, start
