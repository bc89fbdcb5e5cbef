"""`inspectd plc-sim`: play the PLC, for trials without one."""

from inspectd.plc.simulator import add_arguments, run

__all__ = ["add_arguments", "run"]
