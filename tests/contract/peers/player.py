"""A PLC in a process of its own: `python -m tests.contract.peers.player KIND --port N`.

The program of `inspectd.plc.program` drives the memory of a real server of that fieldbus, scan by
scan. When it is ready it prints a line with the process that serves; on SIGTERM it prints its
report as JSON. It ends with its parent.
"""

import argparse
import importlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable

from inspectd.plc.program import PlcProgram, Program
from inspectd.plc.registers import (
    HEAD,
    PLC,
    VERDICT,
    PlcPart,
    VerdictBlock,
    decode_head,
    decode_verdict,
    encode_plc,
)
from tests.contract.peers.memory import WORD_ORDER, Memory, Served

__all__ = ["CONSTANTS", "SERVERS"]

SERVERS = {
    "modbus": "tests.contract.peers.modbus_server:serve",
    "modbus_npm": "tests.contract.peers.modbus_server:serve_npm",
    "s7": "tests.contract.peers.s7_server:serve",
    "s7_native": "tests.contract.peers.s7_server:serve",
    "ethernet_ip": "tests.contract.peers.ethernet_ip_server:serve",
    "opcua": "tests.contract.peers.opcua_server:serve",
    "opcua_npm": "tests.contract.peers.opcua_server:serve_npm",
}
CONSTANTS: dict[str, Callable[[int], int]] = {
    "right": lambda value: value,
    "words_exchanged": lambda value: value >> 16 | (value & 0xFFFF) << 16,
    "bytes_exchanged": lambda value: (value >> 8 & 0x00FF00FF) | (value & 0x00FF00FF) << 8,
    "absent": lambda _value: 0,
}


def scan(plc: PlcProgram, memory: Memory, constant: str, shift: int) -> None:
    """One scan of the program."""
    with memory.hold():
        head = decode_head(memory.read(HEAD), WORD_ORDER)
        try:
            block = decode_verdict(memory.read(VERDICT), WORD_ORDER)
        except ValueError:
            block = VerdictBlock()
        part = plc.scan(time.monotonic_ns(), head, block).part
        said = part._replace(test_constant=CONSTANTS[constant](PlcPart().test_constant))
        memory.write(PLC, encode_plc(said, WORD_ORDER), shift)


def main() -> None:
    """Play until SIGTERM."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=SERVERS)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--rate-hz", type=float, default=20.0)
    parser.add_argument("--parts", type=int, default=0)
    parser.add_argument("--constant", choices=CONSTANTS, default="right")
    parser.add_argument("--shift", type=int, default=0)
    args = parser.parse_args()
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    module, _, function = SERVERS[args.kind].partition(":")
    served: Served = getattr(importlib.import_module(module), function)(args.port)
    plc = PlcProgram(Program(rate_hz=args.rate_hz, parts=args.parts))
    scan(plc, served.memory, args.constant, args.shift)
    _say(served.process)
    parent = os.getppid()
    while not stop.wait(0.003) and os.getppid() == parent:
        scan(plc, served.memory, args.constant, args.shift)
    _say(plc.report())


def _say(what: object) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
