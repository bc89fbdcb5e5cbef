"""What every `Plc` promises; what the Modbus edge does with a difficult peer."""

import asyncio
import itertools
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from inspectd.errors import PlcFault
from inspectd.frame import Reason, Verdict
from inspectd.plc.modbus_server import Peculiarity, Simulator
from inspectd.plc.program import Program
from inspectd.plc.registers import Head, StatusBit, VerdictBlock, WordOrder
from inspectd.stages.sink.absent import NoPlc
from inspectd.stages.sink.modbus import ModbusPeer
from inspectd.stages.sink.port import Plc
from inspectd.stages.sink.scripted import Mishap, ScriptedPlc
from tests.contract.peers.peer import KINDS, Kind, playing

_LONG = {kind.name: [pytest.mark.long] for kind in KINDS if kind.name not in {"modbus", "s7"}}
NG = VerdictBlock(0x12345678, Verdict.NG, Reason.DEFECT, 7)


@contextmanager
def simulator(**options: Any) -> Iterator[int]:
    """A simulator in a thread of its own; answers its port."""
    loop, stop = asyncio.new_event_loop(), asyncio.Event()
    ports: list[int] = []
    listening = threading.Event()

    async def play() -> None:
        peer = Simulator(Program(rate_hz=5), scan_ms=2, **options)
        ports.append(await peer.start())
        listening.set()
        await peer.play(stop)

    thread = threading.Thread(target=lambda: loop.run_until_complete(play()))
    thread.start()
    try:
        assert listening.wait(10)
        yield ports[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()


def peer_at(port: int, **other: Any) -> ModbusPeer:
    """A client with the simulator's usual settings, unless told otherwise."""
    settings: dict[str, Any] = {
        "device_id": 1,
        "base_register": 0,
        "word_order": "high_first",
        "timeout_ms": 300,
    }
    return ModbusPeer("127.0.0.1", port, **{**settings, **other})


@pytest.fixture(
    params=[
        *("modbus high_first", "modbus low_first", "absent", "scripted"),
        *(
            pytest.param(
                kind,
                id=kind.name,
                marks=[pytest.mark.process, pytest.mark.slow, *_LONG.get(kind.name, [])],
            )
            for kind in KINDS
        ),
    ]
)
def plc(request: pytest.FixtureRequest) -> Iterator[Plc]:
    """Each kind of PLC in turn, not connected yet; those of `KINDS` are real ones."""
    if isinstance(request.param, Kind):
        reason = request.param.missing()
        if reason:
            pytest.skip(reason)
        with playing(request.param) as real:
            yield real.client()
        return
    kind, _, order = request.param.partition(" ")
    if kind == "modbus":
        word_order: WordOrder = "low_first" if order == "low_first" else "high_first"
        with simulator(word_order=word_order, base_register=100) as port:
            peer = peer_at(port, base_register=100, word_order=word_order)
            until_played(peer)
            yield peer
            peer.close()
        return
    if kind == "absent":
        yield NoPlc()
        return
    ticks = itertools.count(1)
    yield Scanning(Program(rate_hz=5), lambda: next(ticks) * 5_000_000)


class Scanning(ScriptedPlc):
    """A scripted PLC that scans before each of its answers."""

    def read_part(self) -> Any:
        """Scan, then answer."""
        self.scan()
        return super().read_part()


def until_played(peer: Plc) -> None:
    """Wait for the first scan: before it the PLC has not written its test constant."""
    until(lambda: _connects(peer))


def until(is_true: Callable[[], bool], limit_s: float = 10) -> None:
    """Wait until something holds."""
    end = time.monotonic() + limit_s
    while not is_true():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.005)


def _connects(peer: Plc) -> bool:
    try:
        peer.connect()
    except PlcFault:
        return False
    peer.close()
    return True


class TestEveryPlc:
    """The contract of `inspectd.stages.sink.port.Plc`."""

    def test_it_is_connected_after_connect_and_not_after_close(self, plc: Plc) -> None:
        """The pair matches, and close may be called twice."""
        seen = [plc.is_connected]
        plc.connect()
        seen.append(plc.is_connected)
        plc.close()
        plc.close()
        seen.append(plc.is_connected)
        assert seen == [False, True, False]

    def test_a_verdict_that_was_written_can_be_read_back(self, plc: Plc) -> None:
        """The block is kept whole: it is the proof after a doubt, and after a restart."""
        plc.connect()
        plc.write_verdict(NG)
        assert plc.read_verdict() == NG

    def test_a_verdict_is_acknowledged_by_its_sequence(self, plc: Plc) -> None:
        """The PLC echoes what it took."""
        plc.connect()
        assert plc.read_part().acknowledged == 0
        plc.write_verdict(NG)
        until(lambda: plc.read_part().acknowledged == NG.sequence)

    def test_the_reject_state_is_echoed_too(self, plc: Plc) -> None:
        """Sequence 0 is acknowledged, so that the next 1 is always a change."""
        plc.connect()
        plc.write_verdict(NG)
        until(lambda: plc.read_part().acknowledged == NG.sequence)
        plc.write_verdict(VerdictBlock(trigger_id=5))
        until(lambda: plc.read_part().acknowledged == 0)

    def test_a_head_that_was_written_can_be_read_back(self, plc: Plc) -> None:
        """Vision says how it is; a later life counts on from there."""
        plc.connect()
        head = Head(StatusBit.READY, heartbeat=3, missed=2, late=70_000, start_counter=99)
        plc.write_head(head)
        assert plc.read_head() == head

    def test_the_block_outlives_the_connection(self, plc: Plc) -> None:
        """What was told stands there for the next process."""
        plc.connect()
        plc.write_verdict(NG)
        plc.close()
        plc.connect()
        assert plc.read_verdict() == NG


@pytest.mark.parametrize("mishap", [Mishap.DROPPED, Mishap.UNCONFIRMED, Mishap.DELAYED])
def test_a_scripted_request_that_fails_ends_the_connection(mishap: Mishap) -> None:
    """As the Modbus edge does."""
    plc = ScriptedPlc(Program(rate_hz=5), lambda: 0)
    plc.connect()
    plc.mishaps.append(mishap)
    with pytest.raises(PlcFault):
        plc.write_verdict(NG)
    assert not plc.is_connected


@pytest.mark.slow
def test_a_ready_vision_makes_the_simulator_trigger_parts() -> None:
    """Trigger ids go up by one while Ready is shown and the heartbeat lives."""
    with simulator() as port:
        plc = peer_at(port)
        until_played(plc)
        plc.connect()
        beat = itertools.count(1)

        def has_triggered() -> bool:
            plc.write_head(Head(StatusBit.READY, next(beat)))
            return plc.read_part().trigger_counter >= 2

        until(has_triggered)
        plc.close()


@pytest.mark.parametrize(
    ("theirs", "remedy"),
    [
        ({"byte_order": "little"}, r"set plc\.byte_order: little$"),
        (
            {"byte_order": "little", "word_order": "low_first"},
            r"set plc\.byte_order: little and plc\.word_order: low_first$",
        ),
    ],
)
def test_exchanged_bytes_are_found_at_the_first_contact(theirs: Any, remedy: str) -> None:
    """The message names every key to change; with them set the two understand each other."""
    with simulator(**theirs) as port:
        until_played(peer_at(port, **theirs))
        plc = peer_at(port)
        with pytest.raises(PlcFault, match=remedy):
            plc.connect()
        right = peer_at(port, **theirs)
        right.connect()
        right.write_verdict(NG)
        until(lambda: right.read_part().acknowledged == NG.sequence)
        assert right.read_verdict() == NG
        right.close()


def test_exchanged_words_are_found_at_the_first_contact() -> None:
    """FIELD_ISSUES 50: the test constant tells, and the message names the key to change."""
    with simulator(word_order="low_first") as port:
        plc = peer_at(port, word_order="high_first")
        until_played(peer_at(port, word_order="low_first"))
        with pytest.raises(PlcFault, match=r"two words exchanged; set plc\.word_order: low_first"):
            plc.connect()
        assert not plc.is_connected


@pytest.mark.parametrize("shift", [-1, 1, 2])
def test_a_block_at_another_address_is_found_at_the_first_contact(shift: int) -> None:
    """FIELD_ISSUES 51: an address beside the right one answers without an error."""
    with simulator(base_register=10 + shift) as port:
        until_played(peer_at(port, base_register=10 + shift))
        with pytest.raises(PlcFault, match=f"change plc.base_register by \\{shift:+d}"):
            peer_at(port, base_register=10).connect()


def test_an_error_answer_is_a_fault() -> None:
    """FIELD_ISSUES 51: pymodbus does not raise for it; we do."""
    with simulator() as port, pytest.raises(PlcFault, match="error answer 2"):
        peer_at(port, base_register=5000).connect()


def test_nobody_listening_is_a_fault_within_its_time() -> None:
    """No hang, no busy loop: one attempt, one sentence."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(PlcFault, match="no connection; look at the PLC, its address and port"):
        peer_at(port).connect()


@pytest.mark.slow
def test_a_frozen_plc_carries_a_write_out_when_it_thaws() -> None:
    """Measured behaviour that the read-back exists for: the fault comes first, the write later."""
    frozen = Peculiarity(freeze_after_s=0.7, freeze_for_s=1.5)
    with simulator(peculiarity=frozen) as port:
        plc = peer_at(port, timeout_ms=150)
        until_played(plc)
        plc.connect()
        told: list[int] = []
        with pytest.raises(PlcFault, match="no confirmation of writing the group verdict"):
            _tell_on_and_on(plc, told)
        assert not plc.is_connected
        until(lambda: _connects(plc))
        plc.connect()
        until(lambda: plc.read_verdict().sequence == told[-1])
        plc.close()


def _tell_on_and_on(plc: Plc, told: list[int]) -> None:
    """Write verdict after verdict until one is not confirmed; note every attempt."""
    for sequence in range(1, 1000):
        told.append(sequence)
        plc.write_verdict(NG._replace(sequence=sequence))
        time.sleep(0.01)


def _answer_with(answer: bytes) -> tuple[threading.Thread, int]:
    """A peer that answers each request with the same bytes; answers its port."""
    server = socket.create_server(("127.0.0.1", 0))

    def play() -> None:
        with server, server.accept()[0] as connection:
            while connection.recv(1024):
                connection.sendall(answer)

    thread = threading.Thread(target=play)
    thread.start()
    return thread, server.getsockname()[1]


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\x00\x01\x00\x00\x00\x03\x01\x03\x00",
        b"\x00\x01\x00\x00\x00\x05\x01\x03\x02\x12\x34",
        b"\x00\x01\x00\x00\x00\x03\x01\x83\x06",
        b"\x00\x63\x00\x00\x00\x05\x01\x03\x02\x12\x34",
        bytes(range(256)),
        b"\x00",
    ],
)
def test_a_peer_that_speaks_something_else_is_a_fault_and_no_traceback(answer: bytes) -> None:
    """Whatever comes back becomes one sentence, and the connection is closed."""
    thread, port = _answer_with(answer)
    plc = peer_at(port, timeout_ms=100)
    with pytest.raises(PlcFault):
        plc.connect()
    assert not plc.is_connected
    thread.join(10)
