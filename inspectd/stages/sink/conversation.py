"""The conversation with the PLC: is it there, what stands in its registers, what was it told?

Every request may fail. The first failure ends the connection, and nothing is repeated blindly: a
verdict whose confirmation did not come is in doubt until the block has been read back over a new
connection. Attempts to connect keep their distance (`reconnect_ms`); only the first one after a
loss is made at once, because a doubt should not last.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from inspectd.errors import PlcFault
from inspectd.frame import Stamp, Ticket
from inspectd.plc.registers import Head, PlcPart, VerdictBlock
from inspectd.ports import Counter, Entry
from inspectd.stages.sink.handshake import Handshake
from inspectd.stages.sink.ids import WIDE, Ids
from inspectd.stages.sink.port import Plc

__all__ = ["Conversation", "Greeting"]

_T = TypeVar("_T")


class Greeting(NamedTuple):
    """What was read when a connection had been made."""

    part: PlcPart
    head: Head
    """What vision, perhaps in an earlier life, said of itself."""
    block: VerdictBlock
    doubtful: Ticket | None
    """The verdict that was in doubt until now, with the moment when its write began as SENT."""
    is_applied: bool
    """It stands in the PLC. Otherwise a slow PLC may still carry the write out, under the sequence
    of its own."""


class _Doubtful(NamedTuple):
    ticket: Ticket
    """With the moment when its write began as SENT: if it was carried out, it had been in time."""
    sequence: int
    since_ns: int


class Conversation:
    """The sink's side of the wire, over a connection that comes and goes."""

    def __init__(
        self,
        plc: Plc,
        *,
        reconnect_ns: int,
        ack_timeout_ns: int,
        clock: Callable[[], int],
        count: Callable[[Counter, int], None],
        log: Callable[..., None],
        ids: Ids = WIDE,
    ) -> None:
        self._plc, self._ids = plc, ids
        self._reconnect_ns, self._ack_timeout_ns = reconnect_ns, ack_timeout_ns
        self._clock, self._count, self._log = clock, count, log
        self._doubtful: _Doubtful | None = None
        self._next_attempt_ns = 0
        self._last_attempt_ns: int | None = None
        self.handshake = Handshake(ack_timeout_ns)
        self.trouble = ""
        """Empty, or why the PLC cannot be told anything."""

    @property
    def is_connected(self) -> bool:
        """Whether requests can be made."""
        return self._plc.is_connected

    @property
    def next_attempt_ns(self) -> int:
        """When to call `greet` next."""
        return self._next_attempt_ns

    def greet(self, now_ns: int) -> Greeting | None:
        """Connect when it is time, and read what stands there; None: not connected yet."""
        if now_ns < self._next_attempt_ns:
            return None
        self._last_attempt_ns = now_ns
        self._next_attempt_ns = now_ns + self._reconnect_ns
        return self._asked(self._hello)

    def read_part(self) -> PlcPart | None:
        """What the PLC says; its acknowledgement is taken note of. None: no answer."""
        part = self._asked(self._read_part)
        if part is not None:
            self.handshake.acknowledge(part.acknowledged)
        return part

    def write_head(self, head: Head) -> bool:
        """Say how we are; False: not confirmed."""
        return self._asked(lambda: _done(self._plc.write_head, head)) is not None

    def draw(self) -> int:
        """The sequence word for the next verdict; every attempt to write has one of its own."""
        return self.handshake.draw()

    def tell(self, ticket: Ticket, sequence: int) -> bool:
        """Write a verdict; False: not confirmed, and in doubt until the next greeting."""
        block = VerdictBlock(
            ticket.trigger_id, ticket.verdict, ticket.reason, sequence, ticket.recipe
        )
        began_ns = self._clock()
        if self._asked(lambda: _done(self._plc.write_verdict, block)) is None:
            doubtful = ticket.stamped(Stamp.SENT, began_ns)
            self._doubtful = _Doubtful(doubtful, sequence, self._clock())
            return False
        self.handshake.wrote(self._clock())
        return True

    def resume(self, sequence: int, doubt: Entry | None) -> None:
        """Go on after an earlier life: which sequence it drew last, and what was in doubt then."""
        self.handshake.resume(sequence)
        if doubt is not None:
            self._doubtful = _Doubtful(doubt.ticket, doubt.sequence, self._clock())

    def begin(self, settled_id: int) -> bool:
        """Put the verdict block into the reject state: no verdict; settled up to this id."""
        block = VerdictBlock(trigger_id=settled_id)
        if self._asked(lambda: _done(self._plc.write_verdict, block)) is None:
            return False
        self.handshake.begin(block.sequence, self._clock())
        return True

    def doubt_lasts_until_ns(self, trigger_id: int) -> int:
        """How long to wait for the truth about a verdict before giving it up; 0: no doubt."""
        doubtful = self._doubtful
        if doubtful is None or doubtful.ticket.trigger_id != trigger_id:
            return 0
        return doubtful.since_ns + self._ack_timeout_ns

    def close(self) -> None:
        """End the connection."""
        self._plc.close()

    def _read_part(self) -> PlcPart:
        part = self._plc.read_part()
        if part.trigger_counter >= self._ids.limit:
            raise PlcFault(
                "of this station",
                f"its trigger counter is {part.trigger_counter}, above {self._ids.bits} bits",
                "set plc.trigger_bits: 32, or let the PLC's counter wrap earlier",
            )
        return part

    def _hello(self) -> Greeting:
        self._plc.connect()
        part, head = self._read_part(), self._plc.read_head()
        block = self._plc.read_verdict()
        self.trouble = ""
        doubtful, self._doubtful = self._doubtful, None
        if doubtful is None:
            return Greeting(part, head, block, None, is_applied=False)
        wanted = (doubtful.ticket.trigger_id, doubtful.sequence)
        is_applied = (block.trigger_id, block.sequence) == wanted
        if is_applied:
            self.handshake.wrote(self._clock())
        return Greeting(part, head, block, doubtful.ticket, is_applied)

    def _asked(self, request: Callable[[], _T]) -> _T | None:
        """Make a request; a failure is counted, told once, and ends the connection."""
        try:
            return request()
        except PlcFault as fault:
            self._plc.close()
            self._count(Counter.PLC_FAULTS, 1)
            if not self.trouble:
                self._log("warning", "plc_lost", error=str(fault))
                self._attempt_soon()
            self.trouble = str(fault)
            return None

    def _attempt_soon(self) -> None:
        """Connect again at once, but never twice within `reconnect_ms`."""
        if self._last_attempt_ns is not None:
            now_ns = self._clock()
            self._next_attempt_ns = max(now_ns, self._last_attempt_ns + self._reconnect_ns)


def _done(call: Callable[[_T], None], value: _T) -> bool:
    call(value)
    return True
