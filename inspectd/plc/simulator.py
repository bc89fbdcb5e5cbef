"""EDGE pymodbus server: a Modbus peer that plays the PLC, for trials, demos and tests.

    inspectd plc-sim --port 1502 --rate-hz 5 --log        (or: python -m inspectd.plc.simulator)

The station's block lies in holding registers, the reject output is coil 0. Requests and scans share
one event loop and never wait in the middle of a block, so a verdict block written by one FC16 is
seen whole or not at all. The difficult sides of real PLCs are options: it can freeze (connections
stay, nothing is answered, what was asked meanwhile is done on the thaw) and answer slowly.
"""

import argparse
import asyncio
import contextlib
import ctypes
import errno
import json
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from pymodbus.constants import ExcCodes
from pymodbus.server import ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

from inspectd.config.load import load
from inspectd.config.schema import ModbusIo, OutputReject
from inspectd.errors import Exit, InspectdError, PortBusy, UsageFault
from inspectd.outfile import check_writable, write
from inspectd.plc.belt import Belt, plan_of
from inspectd.plc.book import Happening, as_lines
from inspectd.plc.io_module import IoModule
from inspectd.plc.program import Answer, PlcProgram, Program
from inspectd.plc.registers import (
    BLOCK_REGISTERS,
    HEAD,
    PLC,
    VERDICT,
    Group,
    VerdictBlock,
    WordOrder,
    decode_head,
    decode_verdict,
    encode_plc,
)

__all__ = ["Peculiarity", "Simulator", "add_arguments", "main", "run"]

_READ, _WRITE, _WRITE_COIL = 3, 16, 5
_PR_SET_PDEATHSIG = 1
"""`prctl(2)`: the signal that this process gets when its parent dies."""
_REJECT_COIL = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Peculiarity:
    """How this PLC misbehaves; nothing by default."""

    freeze_after_s: float | None = None
    """Stop answering and scanning so long after the start."""
    freeze_for_s: float = 1.0
    answer_delay_ms: float = 0.0
    """Every answer takes so much longer."""


class Simulator:
    """A Modbus TCP server with a PLC program behind it; one device, one station."""

    def __init__(
        self,
        program: Program,
        *,
        on_scan: Callable[[int, tuple[Happening, ...]], None] | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        device_id: int = 1,
        base_register: int = 0,
        word_order: WordOrder = "high_first",
        scan_ms: float = 5.0,
        peculiarity: Peculiarity = Peculiarity(),
        is_logging: bool = False,
        book: TextIO | None = None,
    ) -> None:
        self._book, self._on_scan = book, on_scan
        self._plc = PlcProgram(program)
        self._host, self._port = host, port
        self._device_id, self._base, self._order = device_id, base_register, word_order
        self._scan_s = scan_ms / 1000
        self._peculiarity = peculiarity
        self._is_logging = is_logging
        self._is_own_access = False
        self._thawed = asyncio.Event()
        self._thawed.set()
        self._bad_codes = 0
        self._server: Any = None

    async def start(self) -> int:
        """Listen; answer the port.

        Raises:
            PortBusy: Somebody else has the address.
            UsageFault: The address cannot be had for another reason.
        """
        _try_to_bind(self._host, self._port)
        self._server = ModbusTcpServer(self._device(), address=(self._host, self._port))
        try:
            await self._server.serve_forever(background=True)
        except RuntimeError as error:
            raise PortBusy(f"{self._host}:{self._port}", "choose another --port") from error
        return int(self._server.transport.sockets[0].getsockname()[1])

    async def play(self, stop: asyncio.Event) -> None:
        """Scan until `stop` is set; then close the server."""
        freezer = asyncio.create_task(self._freeze())
        try:
            while not stop.is_set():
                if self._thawed.is_set():
                    await self._scan()
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(stop.wait(), self._scan_s)
        finally:
            freezer.cancel()
            self._thawed.set()
            await self._server.shutdown()

    def set_rate(self, rate_hz: float) -> None:
        """Change the parts a second; 0: none."""
        self._plc.set_rate(rate_hz)

    def report(self) -> dict[str, object]:
        """What happened, as plain values for JSON."""
        return {**self._plc.report(), "bad_codes": self._bad_codes}

    def _device(self) -> SimDevice:
        holding = SimData(self._base, count=BLOCK_REGISTERS, datatype=DataType.REGISTERS)
        unused_bits = SimData(0, values=[False] * 16, datatype=DataType.BITS)
        coils = SimData(0, values=[False] * 16, datatype=DataType.BITS)
        unused = SimData(0, count=1, datatype=DataType.REGISTERS)
        return SimDevice(
            self._device_id,
            simdata=([coils], [unused_bits], [holding], [unused]),
            action=self._on_request,
        )

    async def _on_request(self, *_request: object) -> ExcCodes | None:
        """Hold requests from outside back as this PLC is wont to."""
        if self._is_own_access:
            return None
        if self._peculiarity.answer_delay_ms:
            await asyncio.sleep(self._peculiarity.answer_delay_ms / 1000)
        await self._thawed.wait()
        return None

    async def _scan(self) -> None:
        """One scan: the three groups in one go, without letting a request in between."""
        self._is_own_access = True
        try:
            head = decode_head(await self._get(HEAD), self._order)
            block = await self._block()
            now_ns = time.monotonic_ns()
            scan = self._plc.scan(now_ns, head, block)
            await self._server.async_setValues(
                self._device_id,
                _WRITE,
                self._base + PLC.offset,
                encode_plc(scan.part, self._order),
            )
            await self._server.async_setValues(
                self._device_id, _WRITE_COIL, _REJECT_COIL, [scan.reject]
            )
        finally:
            self._is_own_access = False
        if self._on_scan is not None:
            self._on_scan(now_ns, scan.happened)
        if scan.happened and self._book is not None:
            self._book.write(as_lines(now_ns, scan.happened))
            self._book.flush()
        if scan.taken is not None and self._is_logging:
            _say(scan.taken)

    async def _block(self) -> VerdictBlock:
        """The verdict block; a code that nobody defined reads as no verdict at all."""
        words = await self._get(VERDICT)
        try:
            return decode_verdict(words, self._order)
        except ValueError:
            self._bad_codes += 1
            return VerdictBlock()

    async def _get(self, group: Group) -> list[int]:
        words: list[int] = await self._server.async_getValues(
            self._device_id, _READ, self._base + group.offset, group.words
        )
        return words

    async def _freeze(self) -> None:
        after_s = self._peculiarity.freeze_after_s
        if after_s is None:
            return
        await asyncio.sleep(after_s)
        self._thawed.clear()
        await asyncio.sleep(self._peculiarity.freeze_for_s)
        self._thawed.set()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address to listen on (default %(default)s)")
    add("--port", type=int, default=1502, help="0 takes a free one (default %(default)s)")
    add("--device-id", type=int, default=1, help="Modbus unit (default %(default)s)")
    add("--base-register", type=int, default=0, help="first holding register of the block")
    add("--word-order", choices=("high_first", "low_first"), default="high_first")
    add("--rate-hz", type=float, default=5.0, help="parts a second (default %(default)s)")
    add("--scan-ms", type=float, default=5.0, help="scan time (default %(default)s)")
    add("--parts", type=int, default=0, help="fire so many triggers, then no more; 0: go on")
    add("--window-ms", type=float, default=5000.0, help="from the trigger to the reject gate")
    add("--stale-ms", type=float, default=1000.0, help="a heartbeat this old is lost")
    add("--first-counter", type=int, default=0, help="trigger counter at the start")
    add("--report", type=Path, help="write what happened here, as JSON, when stopped")
    add("--book", type=Path, help="write what happens here while it happens, a JSON line each")
    add("--rate-fd", type=int, help="take parts a second from this descriptor, a line each")
    add("--belt", type=Path, metavar="FILE", help="play belt and I/O module of a station file too")
    add("--belt-station", metavar="NAME", help="of this station; else of the first that has one")
    add("--ready-fd", type=int, help="write the port (and the module's) to this descriptor when ready")
    add("--log", action="store_true", help="a line for each verdict")
    add("--die-with-parent", action="store_true", help="stop when the parent process dies")
    add("--freeze-after", type=float, metavar="S", help="answer nothing from then on ...")
    add("--freeze-for", type=float, metavar="S", default=1.0, help="... for so long")
    add("--answer-delay-ms", type=float, default=0.0, help="answer each request so much later")


def run(args: argparse.Namespace) -> int:
    """Play the PLC until SIGTERM or Ctrl-C; then write the report.

    Raises:
        PortBusy: Somebody else has the address.
        UsageFault: An option has a value that cannot be used.
    """
    _check(args)
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


async def _play(
    args: argparse.Namespace, book: TextIO | None, reject: OutputReject | None
) -> None:
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
            first_counter=args.first_counter,
        ),
        host=args.host,
        port=args.port,
        device_id=args.device_id,
        base_register=args.base_register,
        word_order=args.word_order,
        scan_ms=args.scan_ms,
        peculiarity=Peculiarity(
            freeze_after_s=args.freeze_after,
            freeze_for_s=args.freeze_for,
            answer_delay_ms=args.answer_delay_ms,
        ),
        is_logging=args.log,
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
        ("--first-counter", args.first_counter, 0, (1 << 32) - 1),
    ):
        if not low <= value <= high:
            raise UsageFault(f"got {value}", option, f"give a value from {low} to {high}")


def _try_to_bind(host: str, port: int) -> None:
    """Learn why an address cannot be had: pymodbus keeps the reason to itself."""
    try:
        socket.create_server((host, port)).close()
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortBusy(f"{host}:{port}", "choose another --port, or end its owner") from error
        raise UsageFault(
            error.strerror or str(error), f"{host}:{port}", "choose another --host or --port"
        ) from error


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
