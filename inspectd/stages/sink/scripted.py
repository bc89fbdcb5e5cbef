"""A PLC without a wire: the simulator's program in memory, with mishaps on demand.

For tests of the sink, which needs no socket and no real time then. It passes the same contract as
the Modbus edge (`tests/contract/test_plc.py`).
"""

from collections import deque
from collections.abc import Callable
from enum import Enum, auto

from inspectd.errors import PlcFault
from inspectd.plc.program import PlcProgram, Program, Scan
from inspectd.plc.registers import Head, PlcPart, VerdictBlock

__all__ = ["Mishap", "ScriptedPlc"]


class Mishap(Enum):
    """What becomes of a request."""

    NONE = auto()
    DROPPED = auto()
    """It never arrives."""
    UNCONFIRMED = auto()
    """It is carried out, but the answer is lost."""
    DELAYED = auto()
    """It is carried out some scans after it was given up, as frozen PLCs do."""


class ScriptedPlc:
    """Registers, a PLC program, and a list of mishaps for the next requests."""

    def __init__(self, program: Program, clock: Callable[[], int], delay_scans: int = 3) -> None:
        self._program = PlcProgram(program)
        self._clock = clock
        self._head, self._block, self._part = Head(test_constant=0), VerdictBlock(), PlcPart()
        self._delay_scans = delay_scans
        self._delayed: deque[tuple[int, Head | VerdictBlock | None]] = deque()
        self._scans = 0
        self._is_connected = False
        self.is_reachable = True
        """Whether a connection can be made."""
        self.mishaps: deque[Mishap] = deque()
        """Used up one a request."""
        self.verdict_mishaps: deque[Mishap] = deque()
        """Used up one a verdict written, before `mishaps`."""
        self.requests = 0
        """Requests and attempts to connect so far."""

    @property
    def head(self) -> Head:
        """What vision says of itself."""
        return self._head

    @property
    def block(self) -> VerdictBlock:
        """The verdict block as it stands."""
        return self._block

    @property
    def is_connected(self) -> bool:
        """See `Plc.is_connected`."""
        return self._is_connected

    def scan(self) -> Scan:
        """Let the PLC scan once."""
        self._scans += 1
        while self._delayed and self._delayed[0][0] <= self._scans:
            self._carry_out(self._delayed.popleft()[1])
        scan = self._program.scan(self._clock(), self._head, self._block)
        self._part = scan.part
        return scan

    def report(self) -> dict[str, object]:
        """See `PlcProgram.report`."""
        return self._program.report()

    def connect(self) -> None:
        """See `Plc.connect`."""
        self.requests += 1
        if not self.is_reachable:
            raise _fault("no connection")
        self._is_connected = True
        self._request(self._head._replace(test_constant=Head().test_constant))

    def read_part(self) -> PlcPart:
        """See `Plc.read_part`."""
        self._request(None)
        return self._part

    def read_verdict(self) -> VerdictBlock:
        """See `Plc.read_verdict`."""
        self._request(None)
        return self._block

    def read_head(self) -> Head:
        """See `Plc.read_head`."""
        self._request(None)
        return self._head

    def write_head(self, head: Head) -> None:
        """See `Plc.write_head`."""
        self._request(head)

    def write_verdict(self, block: VerdictBlock) -> None:
        """See `Plc.write_verdict`."""
        self._request(block)

    def close(self) -> None:
        """See `Plc.close`."""
        self._is_connected = False

    def _request(self, written: Head | VerdictBlock | None) -> None:
        self.requests += 1
        if not (self._is_connected and self.is_reachable):
            self._is_connected = False
            raise _fault("no connection")
        mishap = self._next_mishap(written)
        if mishap is Mishap.DELAYED:
            self._delayed.append((self._scans + self._delay_scans, written))
        elif mishap is not Mishap.DROPPED:
            self._carry_out(written)
        if mishap is not Mishap.NONE:
            self._is_connected = False
            raise _fault("no answer")

    def _next_mishap(self, written: Head | VerdictBlock | None) -> Mishap:
        if isinstance(written, VerdictBlock) and self.verdict_mishaps:
            return self.verdict_mishaps.popleft()
        return self.mishaps.popleft() if self.mishaps else Mishap.NONE

    def _carry_out(self, written: Head | VerdictBlock | None) -> None:
        if isinstance(written, Head):
            self._head = written
        elif isinstance(written, VerdictBlock):
            self._block = written


def _fault(what: str) -> PlcFault:
    return PlcFault("scripted", what, "this is a trial")
