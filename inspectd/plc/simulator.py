"""The simulated PLC as a command: options, and what it leaves behind.

inspectd plc-sim --port 1502 --rate-hz 5 --log        (or: python -m inspectd.plc.simulator)
"""

import argparse
import asyncio
import contextlib
import ctypes
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from inspectd.config.load import load
from inspectd.config.schema import ModbusIo, OutputReject
from inspectd.errors import Exit, InspectdError, UsageFault
from inspectd.outfile import check_writable, write
from inspectd.plc.account import Answer
from inspectd.plc.belt import Belt, plan_of
from inspectd.plc.commander import Planned, parse
from inspectd.plc.io_module import IoModule
from inspectd.plc.modbus_server import Peculiarity, Simulator
from inspectd.plc.program import Program
from inspectd.plc.registers import BLOCK_REGISTERS

__all__ = ["add_arguments", "main", "run"]

_PR_SET_PDEATHSIG = 1
"""`prctl(2)`: the signal that this process gets when its parent dies."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address to listen on (default %(default)s)")
    add("--port", type=int, default=1502, help="0 takes a free one (default %(default)s)")
    add("--device-id", type=int, default=1, help="Modbus unit (default %(default)s)")
    add("--base-register", type=int, default=0, help="first holding register of the block")
    add("--word-order", choices=("high_first", "low_first"), default="high_first")
    add("--byte-order", choices=("big", "little"), default="big", help="within a register")
    add("--rate-hz", type=float, default=5.0, help="parts a second (default %(default)s)")
    add("--scan-ms", type=float, default=5.0, help="scan time (default %(default)s)")
    add("--parts", type=int, default=0, help="fire so many triggers, then no more; 0: go on")
    add("--window-ms", type=float, default=5000.0, help="from the trigger to the reject gate")
    add("--stale-ms", type=float, default=1000.0, help="a heartbeat this old is lost")
    add("--heartbeat-ms", type=float, default=200.0, help="period of its own heartbeat")
    add("--first-counter", type=int, default=0, help="trigger counter at the start")
    add("--trigger-bits", type=int, choices=(16, 32), default=32, help="width of the counter")
    add("--skip-zero", action="store_true", help="the trigger counter wraps to 1")
    add(
        "--command",
        action="append",
        default=[],
        metavar="WHAT[@S]",
        help="S seconds after vision came, have it do reset, golden or recipe:NUMBER (repeatable)",
    )
    add("--report", type=Path, help="write what happened here, as JSON, when stopped")
    add("--book", type=Path, help="write what happens here while it happens, a JSON line each")
    add("--rate-fd", type=int, help="take parts a second from this descriptor, a line each")
    add("--belt", type=Path, metavar="FILE", help="play belt and I/O module of a station file too")
    add("--belt-station", metavar="NAME", help="of this station; else of the first that has one")
    add(
        "--ready-fd",
        type=int,
        help="write the port (and the module's) to this descriptor when ready",
    )
    add("--log", action="store_true", help="a line for each verdict")
    add("--die-with-parent", action="store_true", help="stop when the parent process dies")
    add("--freeze-after", type=float, metavar="S", help="answer nothing from then on ...")
    add("--freeze-for", type=float, metavar="S", default=1.0, help="... for so long")
    add("--halt-after", type=float, metavar="S", help="let the program stand from then on ...")
    add("--halt-for", type=float, metavar="S", default=1.0, help="... for so long")
    add("--answer-delay-ms", type=float, default=0.0, help="answer each request so much later")


def run(args: argparse.Namespace) -> int:
    """Play the PLC until SIGTERM or Ctrl-C; then write the report.

    Raises:
        PortBusy: Somebody else has the address.
        UsageFault: An option has a value that cannot be used.
    """
    _check(args)
    _commands(args.command)
    check_writable(args.report)
    check_writable(args.book)
    reject = None if args.belt is None else _reject_of(args.belt, args.belt_station)
    if args.die_with_parent:
        _die_with_parent()
    logging.getLogger("pymodbus").setLevel(logging.CRITICAL)
    asyncio.run(_run(args, reject))
    return Exit.OK


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of `python -m inspectd.plc.simulator`."""
    parser = argparse.ArgumentParser(prog="inspectd.plc.simulator", description=__doc__)
    add_arguments(parser)
    try:
        return run(parser.parse_args(argv))
    except InspectdError as fault:
        sys.stderr.write(f"{fault}\n")
        return int(fault.exit_code)


async def _run(args: argparse.Namespace, reject: OutputReject | None) -> None:
    with contextlib.ExitStack() as rest:
        book = None if args.book is None else rest.enter_context(args.book.open("w"))
        await _play(args, book, reject)


async def _play(args: argparse.Namespace, book: TextIO | None, reject: OutputReject | None) -> None:
    stop = asyncio.Event()
    module = None
    if reject is not None:
        belt = Belt(plan_of(reject), time.monotonic_ns())
        module = IoModule(reject, belt, time.monotonic_ns)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    simulator = Simulator(
        Program(
            rate_hz=args.rate_hz,
            parts=args.parts,
            window_ms=args.window_ms,
            stale_ms=args.stale_ms,
            heartbeat_ms=args.heartbeat_ms,
            first_counter=args.first_counter,
            trigger_bits=args.trigger_bits,
            trigger_skips_zero=args.skip_zero,
            commands=_commands(args.command),
        ),
        host=args.host,
        port=args.port,
        device_id=args.device_id,
        base_register=args.base_register,
        word_order=args.word_order,
        byte_order=args.byte_order,
        scan_ms=args.scan_ms,
        peculiarity=Peculiarity(
            freeze_after_s=args.freeze_after,
            freeze_for_s=args.freeze_for,
            halt_after_s=args.halt_after,
            halt_for_s=args.halt_for,
            answer_delay_ms=args.answer_delay_ms,
        ),
        on_taken=_say if args.log else None,
        book=book,
        on_scan=None if module is None else module.happen,
    )
    if args.rate_fd is not None:
        _listen_for_rates(args.rate_fd, simulator)
    port = await simulator.start()
    ports = [port] if module is None else [port, await module.start()]
    if args.log:
        sys.stdout.write(f"PLC simulator on {args.host}:{port}, device {args.device_id}\n")
        sys.stdout.flush()
    if args.ready_fd is not None:
        os.write(args.ready_fd, " ".join(map(str, ports)).encode() + b"\n")
        os.close(args.ready_fd)
    try:
        await simulator.play(stop)
    finally:
        report = simulator.report()
        if module is not None:
            await module.close()
            report["belt"] = module.report()
        if args.report is not None:
            _write_report(args.report, report)


def _reject_of(file: Path, name: str | None) -> OutputReject:
    """The ejector of a station file that is to be played.

    Raises:
        StationFaults: The file is wrong.
        UsageFault: No such station has an ejector behind a Modbus module.
    """
    stations = load(file, must_exist=False).stations
    for reject in (one.reject for one in stations if name in {None, one.name}):
        if isinstance(reject, OutputReject) and isinstance(reject.io, ModbusIo):
            return reject
    remedy = "name one with reject.kind: output and io.kind: modbus"
    raise UsageFault("no belt to play", f"{file}: {name or 'no station'}", remedy)


def _listen_for_rates(fd: int, simulator: Simulator) -> None:
    """Take new rates from a pipe: a number and a newline each, written in one go."""
    loop = asyncio.get_running_loop()

    def read() -> None:
        lines = os.read(fd, 4096).split()
        if not lines:  # the other end was closed
            loop.remove_reader(fd)
        for line in lines[-1:]:
            simulator.set_rate(float(line))

    loop.add_reader(fd, read)


def _check(args: argparse.Namespace) -> None:
    """Refuse values that no PLC has, naming the option.

    Raises:
        UsageFault: For the first of them.
    """
    base_last = (1 << 16) - BLOCK_REGISTERS
    for option, value, low, high in (
        ("--port", args.port, 0, 65535),
        ("--device-id", args.device_id, 0, 255),
        ("--base-register", args.base_register, 0, base_last),
        ("--rate-hz", args.rate_hz, 0.001, 1000),
        ("--scan-ms", args.scan_ms, 0.1, 1000),
        ("--parts", args.parts, 0, 1 << 31),
        ("--window-ms", args.window_ms, 1, 3_600_000),
        ("--stale-ms", args.stale_ms, 1, 3_600_000),
        ("--heartbeat-ms", args.heartbeat_ms, 1, 3_600_000),
        ("--first-counter", args.first_counter, 0, (1 << args.trigger_bits) - 1),
    ):
        if not low <= value <= high:
            raise UsageFault(f"got {value}", option, f"give a value from {low} to {high}")


def _commands(texts: Sequence[str]) -> tuple[Planned, ...]:
    """The commands of the command line.

    Raises:
        UsageFault: One of them is none.
    """
    try:
        return tuple(parse(text) for text in texts)
    except ValueError as error:
        remedy = "write reset, golden or recipe:NUMBER, and perhaps @SECONDS"
        raise UsageFault(str(error), "--command", remedy) from error


def _die_with_parent() -> None:
    """Ask the kernel for SIGTERM when the parent ends; act at once when it has ended already."""
    parent = os.getppid()
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        raise UsageFault("the parent has ended", "--die-with-parent", "nothing is left to do")


def _write_report(path: Path, report: dict[str, object]) -> None:
    """Whole or not at all: beside the target, then renamed (a device or descriptor: as is)."""
    text = json.dumps(report, indent=1) + "\n"
    if path.is_relative_to("/proc") or path.is_relative_to("/dev"):
        write(path, text)
        return
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write(beside, text)
    except UsageFault:
        beside.unlink(missing_ok=True)
        raise
    beside.replace(path)


def _say(answer: Answer) -> None:
    sys.stdout.write(
        f"{answer.trigger_id:>10}  {answer.verdict:<5}  {answer.reason:<18}"
        f"  sequence {answer.sequence:>5}  after {answer.after_ms:8.1f} ms\n"
    )
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
