"""EDGE (zmq): an inbox that a process reads, and outboxes to the inboxes of others.

Only inboxes are bound (PULL), at abstract addresses: the kernel forgets them with the process, so
there is no file to unlink after a kill. A stranger can at most send to an inbox; other users are
refused by the kernel's credentials where libzmq knows that filter, and everybody else by the token.
Whoever sends never waits: a full queue is an answer, and what it means is the sender's to decide.
"""

import os
import select
from typing import Protocol

import zmq

from inspectd.bus import wire
from inspectd.errors import PortBusy
from inspectd.frame import Kind, Role, Ticket

__all__ = ["Inbox", "Outbox", "Road", "Sender"]

QUEUE_MAX = 1024
"""Messages waiting per sender and inbox: more than all slots of a station (at most 256), so that
frames are limited by slots and never by the queue; small enough that verdicts do not pile up."""
_LINGER_MS = 1000
"""How long a clean end may take to get the last messages out."""
_COARSE_MS = 5
"""From here on a wait may end up to a millisecond early, for the next one to be finer."""
_RECONNECT_MS = 10
"""A restarted receiver is found so soon again."""


class Sender(Protocol):
    """What can take messages to one inbox."""

    def send(self, kind: Kind, ticket: Ticket) -> bool:
        """Send without waiting; False when the queue is full."""


class Inbox:
    """The bound end: what the others have to tell this process."""

    def __init__(self, context: "zmq.Context[zmq.Socket[bytes]]", address: str, token: int) -> None:
        """Bind at once, so that nothing sent from now on is lost.

        Raises:
            PortBusy: the address is bound already.
        """
        self._token = token
        self._socket = context.socket(zmq.PULL)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.setsockopt(zmq.RCVHWM, QUEUE_MAX)
        _let_in_only_this_user(self._socket)
        try:
            self._socket.bind(address)
        except zmq.ZMQError as error:
            self._socket.close()
            raise PortBusy(address, "end the other process of this run first") from error
        self._fd = int(self._socket.getsockopt(zmq.FD))
        self._next: bytes | None = None
        """A message taken off the socket and not yet received."""
        self._is_empty = False
        """Whether the socket had nothing at the last look."""
        self._timeout_ms = 0
        """Its option RCVTIMEO."""

    def wait(self, timeout_s: float) -> bool:
        """Wait for a message; whether one is there. It may come back somewhat early without one.

        Long waits are libzmq's own, in whole milliseconds. Below that, its descriptor is waited
        for, to the microsecond: that tells only that something happened inside the socket since it
        was last found empty, so it is waited for only then (libzmq's manual, ZMQ_FD).
        """
        if self._next is not None:
            return True
        whole_ms = int(timeout_s * 1000)
        if whole_ms >= _COARSE_MS:
            return self._take(whole_ms)
        if not self._is_empty and self._take(0):
            return True
        if timeout_s > 0:
            select.select((self._fd,), (), (), timeout_s)
        return self._take(0)

    def receive(self) -> tuple[Kind, Ticket] | None:
        """Take one message, or answer None when there is none.

        Raises:
            WireMismatch: the message is not of this run; it is gone, ask again.
        """
        if self._next is None and (self._is_empty or not self._take(0)):
            return None
        message, self._next = self._next, None
        return wire.decode(message or b"", self._token)

    def close(self) -> None:
        """Unbind; messages not received are lost."""
        self._socket.close()

    def _take(self, wait_ms: int) -> bool:
        """Take the next message off the socket; whether there is one."""
        if wait_ms not in (0, self._timeout_ms):
            self._socket.setsockopt(zmq.RCVTIMEO, wait_ms)
            self._timeout_ms = wait_ms
        try:
            self._next = self._socket.recv(0 if wait_ms else zmq.DONTWAIT)
        except zmq.Again:
            self._is_empty = True
            return False
        self._is_empty = False
        return True


class Outbox:
    """The connected end, a `Sender`; it connects when the receiver appears, and after its restart.

    Promised: order of the messages of one outbox. Not promised: messages that were on their way
    when the receiver was killed.
    """

    def __init__(self, context: "zmq.Context[zmq.Socket[bytes]]", address: str, token: int) -> None:
        """Connect in the background; messages wait until the receiver is there."""
        self._token = token
        self._socket = context.socket(zmq.PUSH)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.setsockopt(zmq.SNDHWM, QUEUE_MAX)
        self._socket.setsockopt(zmq.RECONNECT_IVL, _RECONNECT_MS)
        self._socket.connect(address)

    def send(self, kind: Kind, ticket: Ticket) -> bool:
        """Send without waiting; False when the queue is full."""
        try:
            self._socket.send(wire.encode(kind, ticket, self._token), zmq.DONTWAIT)
        except zmq.Again:
            return False
        return True

    def close(self, *, is_clean: bool = False) -> None:
        """Disconnect; when clean, what was sent is given a second to leave."""
        self._socket.close(linger=_LINGER_MS if is_clean else 0)


class Road:
    """All links of one process: one context, one run name, one token."""

    def __init__(self, run: str, token: int) -> None:
        """Start the background thread of libzmq."""
        self.run = run
        self._token = token
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._inboxes: list[Inbox] = []
        self._outboxes: list[Outbox] = []

    def inbox(self, role: Role, station: int) -> Inbox:
        """Bind the inbox of (role, station)."""
        inbox = Inbox(self._context, self.address(role, station), self._token)
        self._inboxes.append(inbox)
        return inbox

    def outbox(self, role: Role, station: int) -> Outbox:
        """Connect to the inbox of (role, station)."""
        outbox = Outbox(self._context, self.address(role, station), self._token)
        self._outboxes.append(outbox)
        return outbox

    def address(self, role: Role, station: int) -> str:
        """Name of an inbox: abstract (`@`), so it is in no folder and dies with its process."""
        where = "line" if station < 0 else str(station)
        return f"ipc://@inspectd-{self.run}-{where}-{role.name.lower()}"

    def close(self, *, is_clean: bool = False) -> None:
        """Close everything; when clean, wait at most a second for messages to leave."""
        for outbox in self._outboxes:
            outbox.close(is_clean=is_clean)
        for inbox in self._inboxes:
            inbox.close()
        self._context.term()


def _let_in_only_this_user(socket: "zmq.Socket[bytes]") -> None:
    """Have the kernel refuse other users; a libzmq built without it leaves that to the token."""
    try:
        socket.setsockopt(zmq.IPC_FILTER_UID, os.getuid())
    except (AttributeError, zmq.ZMQError):
        return
