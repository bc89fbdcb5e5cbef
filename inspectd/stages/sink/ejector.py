"""What the process of the ejector is told: each trigger with its moment, each verdict as it left.

Only for stations whose ejector inspectd drives (`reject.kind: output`). The copies carry no slot,
and what they do not reach is rejected. A trigger that is found in the PLC's counter happened at
some moment since the look before; when that is too long ago to say where the part is, its copy has
no moment. Pure.
"""

from dataclasses import replace

from inspectd.config.schema import OutputReject, Station
from inspectd.frame import NO_SLOT, Kind, Role, Stamp, Ticket
from inspectd.ports import Out

__all__ = ["Ejector", "doubt_ns_of"]

_NS_PER_MS = 1_000_000
_SHARE = 4
"""A part may be so much of a pulse away from where it is thought to be: a quarter."""


class Ejector:
    """Makes the copies of one station; none for a station whose PLC moves the ejector."""

    def __init__(self, doubt_ns: int | None, *, is_polled: bool) -> None:
        """Begin with no look at the PLC.

        Args:
            doubt_ns: A trigger is placed only if the look before it was so short ago; None: there
                is nobody to tell.
            is_polled: Triggers are found in the PLC's counter; otherwise their moment is known.
        """
        self._doubt_ns, self._is_polled = doubt_ns, is_polled
        self._before_ns: int | None = None
        self._looked_ns: int | None = None

    def look(self, begun_ns: int) -> None:
        """The trigger counter was read; the request was begun at this moment."""
        self._before_ns, self._looked_ns = self._looked_ns, begun_ns

    def triggered(self, ticket: Ticket) -> tuple[Out, ...]:
        """A part that was opened."""
        return self._copy(
            Kind.TRIGGER, ticket.stamped(Stamp.FIRED, 0) if self._is_doubtful(ticket) else ticket
        )

    def told(self, ticket: Ticket) -> tuple[Out, ...]:
        """A verdict as the PLC was told it, or as it was given up."""
        return self._copy(Kind.VERDICT, ticket)

    def _is_doubtful(self, ticket: Ticket) -> bool:
        if not self._is_polled or self._doubt_ns is None:
            return False
        fired_ns = ticket.stamps[Stamp.FIRED]
        return self._before_ns is None or fired_ns - self._before_ns > self._doubt_ns

    def _copy(self, kind: Kind, ticket: Ticket) -> tuple[Out, ...]:
        if self._doubt_ns is None:
            return ()
        return (Out(Role.REJECT, kind, replace(ticket, slot=NO_SLOT, detail=b"{}")),)


def doubt_ns_of(station: Station) -> int | None:
    """How old a look may be when a trigger is found; None: the PLC moves the ejector."""
    reject = station.reject
    if not isinstance(reject, OutputReject):
        return None
    return int(reject.pulse_ms * _NS_PER_MS / _SHARE)
