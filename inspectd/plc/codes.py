"""What the numbers in the registers mean: bits, commands, and how a command ended.

Beside `Verdict` and `Reason` of `inspectd.frame`. Numbers stay; new ones are added at the end.
"""

from enum import IntEnum, IntFlag

__all__ = [
    "NO_COMMAND",
    "NO_RECIPE",
    "Command",
    "CommandResult",
    "CommandState",
    "Flag",
    "StatusBit",
    "StopCause",
]

NO_RECIPE = 0
"""Of `active_recipe`: the station has no recipes, or none is active yet."""
NO_COMMAND = 0
"""Of `command_sequence`: the PLC has commanded nothing since its start."""


class StatusBit(IntFlag):
    """Bits of the `status` register: vision to PLC."""

    READY = 1 << 0
    """Parts may be triggered. 0 while starting, stopping, or when any process does not move; while
    GOLDEN_TEST or RECIPE is executed; without an active recipe, or without the PLC's heartbeat."""
    BUSY = 1 << 1
    """At least one part is waiting for its verdict."""
    FAULT = 1 << 2
    """Something the station needs does not work; the reason is in the log."""
    OVERRUN = 1 << 3
    """A verdict was written before the previous one was acknowledged; cleared by the next
    acknowledgement, and by RESET."""
    STOP_REQUEST = 1 << 4
    """The line should stop; `stop_cause` says why."""


class StopCause(IntFlag):
    """Bits of the `stop_cause` register: why STOP_REQUEST is set."""

    LATE_LIMIT = 1 << 0
    """So many parts in a row were LATE (`plc.late_limit`); a part in time or RESET clears it."""
    REJECT_LIMIT = 1 << 1
    """So many parts in a row were not OK (`plc.reject_limit`); an OK part or RESET clears it."""


class Flag(IntFlag):
    """Bits of the `plc_flags` register: PLC to vision."""

    TRIGGER_ENABLE = 1 << 0
    """The PLC means its triggers. While it is 0, counted parts are FAULT at once, and the counter
    may be set to another value: vision takes it over without calling the step a missed trigger."""
    REJECT_ALL = 1 << 1
    """The PLC rejects everything at the moment, for instance for a stale heartbeat."""


class Command(IntEnum):
    """What the PLC may ask for in `command`."""

    RESET = 1
    """Set the rows of late and of not-OK parts, OVERRUN, and the counters `missed`, `late` and
    `untold` to 0."""
    GOLDEN_TEST = 2
    """Run the model's golden picture, and compare what is found with what was stored."""
    RECIPE = 3
    """Judge by the recipe `command_argument` from now on."""


class CommandState(IntEnum):
    """Of `command_state`: how far the command `command_echo` is."""

    NONE = 0
    """It was not carried out: it stood there before vision came, or it is no command (0)."""
    EXECUTING = 1
    COMPLETED = 2
    FAILED = 3
    """`command_result` says why."""


class CommandResult(IntEnum):
    """Of `command_result`: why a command failed; 0 when it did not."""

    NONE = 0
    UNKNOWN_COMMAND = 1
    UNKNOWN_RECIPE = 2
    """The old recipe stays."""
    NOT_READY = 3
    """A process that the command needs is not ready."""
    NO_GOLDEN = 4
    """The model has no golden picture with stored outputs."""
    GOLDEN_DIFFERS = 5
    """Something else was found in the golden picture than was stored."""
    ENGINE_ERROR = 6
    """The golden picture could not be run."""
    TIMED_OUT = 7
    """It took longer than it may."""
    INTERRUPTED = 8
    """The process that carried it out was restarted in the middle."""
    STOPPING = 9
    """The station is being stopped, or its number of parts is done."""
