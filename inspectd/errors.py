"""Every error inspectd raises, drawn as a tree.

    InspectdError                 the root: one sentence, ending with the remedy
    |- UsageFault                 a command was given something it cannot work with
    |- StationFaults              a station file is wrong: all of its faults at once (exit 2)
    |- ModelFault                 a model directory is wrong: which file, which key (exit 2)
    |- EngineRefused              a model may not judge parts (self-test, device, precision)
    |- EngineFault                one run of a model failed: its parts have no verdict
    |- FrameFault                 a picture cannot be used: missing, unreadable, of another size
    |- PlcFault                   the PLC did not answer, or answered something else than was asked
    |- IoFault                    the I/O module of an ejector did not do what was asked of it
    |- ForwardFault               a receiver of events does not take them: broker, database
    |- WireMismatch               a message is not ours, or of another version
    |- ArenaFault                 shared memory for frames cannot be had, or a slot was misused
    `- PortBusy                   an address that inspectd needs belongs to somebody else

Fields, not prose: each error carries its parts; the message is made from them once.
Expected outcomes (unfit picture, late part, full queue) are values in `inspectd.frame`, not errors.
"""

from dataclasses import dataclass
from enum import IntEnum

__all__ = [
    "ArenaFault",
    "EngineFault",
    "EngineRefused",
    "Exit",
    "ForwardFault",
    "FrameFault",
    "InspectdError",
    "IoFault",
    "ModelFault",
    "PlcFault",
    "PortBusy",
    "StationFault",
    "StationFaults",
    "UsageFault",
    "WireMismatch",
]


class Exit(IntEnum):
    """Exit codes of every inspectd process: systemd and supervisor tell causes apart by them."""

    OK = 0
    FAULT = 1
    WRONG_FILE = 2
    """A station file or a model directory is wrong: restarting cannot help."""


class InspectdError(Exception):
    """Root of all errors that a user may see: caught once at the top of every process."""

    exit_code: Exit = Exit.FAULT


class UsageFault(InspectdError):
    """Raised by commands for arguments, files and folders they cannot work with."""

    def __init__(self, what: str, where: str, remedy: str) -> None:
        """Keep the parts; the message reads `where: what; remedy`."""
        super().__init__(f"{where}: {what}; {remedy}")
        self.what, self.where, self.remedy = what, where, remedy


@dataclass(frozen=True, slots=True)
class StationFault:
    """One fault of a station file; a value, so that all of them can be reported at once."""

    file: str
    line: int
    """1-based."""
    column: int
    """1-based."""
    key: str
    """Dotted path from the top of the file, e.g. `stations[0].camera.path`."""
    what: str
    """What was expected and what was found, ending with the remedy."""

    def __str__(self) -> str:
        """Read as `file:line:column: key: what`."""
        return f"{self.file}:{self.line}:{self.column}: {self.key}: {self.what}"


class StationFaults(InspectdError):
    """Raised by `inspectd.config.load` with every fault of the file, in file order."""

    exit_code = Exit.WRONG_FILE

    def __init__(self, faults: tuple[StationFault, ...]) -> None:
        """Keep `faults`; the message is one line for each."""
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = faults


class ModelFault(InspectdError):
    """Raised when a model directory cannot be used: names the file, the key and the remedy."""

    exit_code = Exit.WRONG_FILE

    def __init__(self, path: str, key: str, what: str, remedy: str) -> None:
        """Keep the parts; `key` may be empty when the whole file is at fault."""
        super().__init__(f"{path}: {key + ': ' if key else ''}{what}; {remedy}")
        self.path, self.key, self.what, self.remedy = path, key, what, remedy


class EngineRefused(InspectdError):
    """Raised when an engine may not judge parts: wrong device, failed self-test, foreign cache."""

    def __init__(self, model: str, what: str, remedy: str) -> None:
        """Keep the parts; the message reads `model MODEL: what; remedy`."""
        super().__init__(f"model {model}: {what}; {remedy}")
        self.model, self.what, self.remedy = model, what, remedy


class EngineFault(InspectdError):
    """Raised by an engine for one run that failed; the parts of the batch become FAULT."""

    def __init__(self, model: str, what: str) -> None:
        """Keep the parts; the remedy is the supervisor's: three in a row restart the process."""
        super().__init__(f"model {model}: a run failed: {what}; look at the log of the process")
        self.model, self.what = model, what


class FrameFault(InspectdError):
    """Raised by a camera source for a picture that cannot be used; the part becomes FAULT."""

    def __init__(self, where: str, what: str, remedy: str) -> None:
        """Keep the parts; the message reads `where: what; remedy`."""
        super().__init__(f"{where}: {what}; {remedy}")
        self.where, self.what, self.remedy = where, what, remedy


class PlcFault(InspectdError):
    """Raised by a PLC edge for a connection or an answer that is not what was asked for."""

    def __init__(self, peer: str, what: str, remedy: str) -> None:
        """Keep the parts; `peer` is host:port."""
        super().__init__(f"PLC {peer}: {what}; {remedy}")
        self.peer, self.what, self.remedy = peer, what, remedy


class IoFault(InspectdError):
    """Raised by an edge of the ejector for inputs or outputs that do not answer as they should."""

    def __init__(self, peer: str, what: str, remedy: str) -> None:
        """Keep the parts; `peer` is host:port, or a chip of this computer."""
        super().__init__(f"I/O module {peer}: {what}; {remedy}")
        self.peer, self.what, self.remedy = peer, what, remedy


class ForwardFault(InspectdError):
    """Raised by a forwarder for a receiver that does not take events; they wait in the record."""

    def __init__(self, receiver: str, what: str, remedy: str) -> None:
        """Keep the parts; `receiver` is its name in the station file and where it is."""
        super().__init__(f"receiver {receiver}: {what}; {remedy}")
        self.receiver, self.what, self.remedy = receiver, what, remedy


class WireMismatch(InspectdError):
    """Raised by `inspectd.bus.wire` for bytes that are not a message of this run."""

    def __init__(self, field: str, ours: object, theirs: object) -> None:
        """Name the field in which the message differs from what this process speaks."""
        super().__init__(f"message {field}: expected {ours!r}, got {theirs!r}; it was dropped")
        self.field, self.ours, self.theirs = field, ours, theirs


class ArenaFault(InspectdError):
    """Raised by `inspectd.bus.arena`: no memory at start, a foreign layout, a slot misused."""

    def __init__(self, what: str, remedy: str) -> None:
        """Keep the parts; the message reads `frame memory: what; remedy`."""
        super().__init__(f"frame memory: {what}; {remedy}")
        self.what, self.remedy = what, remedy


class PortBusy(InspectdError):
    """Raised when an address cannot be bound."""

    def __init__(self, address: str, remedy: str) -> None:
        """Name the address and what to do about it."""
        super().__init__(f"address {address} is in use; {remedy}")
        self.address, self.remedy = address, remedy
