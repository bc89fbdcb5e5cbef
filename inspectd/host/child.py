"""The entrance of every process of the line: first the tie to the supervisor, then everything else.

    python -m inspectd.host.child --parent PID --role gate --station 0 --manifest FD --board FD
                                  --arena 0:FD --journal 0:FD

Started by `inspectd.host.children` only. Heavy modules are loaded after the tie, so that a
supervisor killed a moment after the birth leaves nothing.
"""

import argparse
import importlib
import sys
from collections.abc import Sequence

from inspectd.host import tether

__all__ = ["main", "parse"]


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Read the supervisor's arguments."""
    parser = argparse.ArgumentParser(prog="inspectd.host.child", description=__doc__)
    parser.add_argument("--parent", type=int, required=True, help="pid of the supervisor")
    parser.add_argument("--role", required=True, help="camera, gate, infer, judge, sink or record")
    parser.add_argument("--station", type=int, required=True, help="index; -1: line-wide")
    parser.add_argument("--manifest", type=int, required=True, help="descriptor of the snapshot")
    parser.add_argument("--board", type=int, required=True, help="descriptor of the board")
    parser.add_argument("--arena", action="append", default=[], help="STATION:DESCRIPTOR")
    parser.add_argument("--journal", action="append", default=[], help="STATION:DESCRIPTOR")
    parser.add_argument("--former", action="append", default=[], type=int, help="DESCRIPTOR")
    return parser.parse_args(argv)


def main(argv: Sequence[str]) -> int:
    """Live the life of one process; answer its exit code."""
    arguments = parse(argv)
    station = "" if arguments.station < 0 else f"-{arguments.station}"
    tether.tie(arguments.parent, f"insp-{arguments.role}{station}")
    return int(importlib.import_module("inspectd.host.life").live(arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
