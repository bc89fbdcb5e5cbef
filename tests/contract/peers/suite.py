"""What every fieldbus promises, tried against a real PLC of it in a process of its own.

A test file makes a fixture `kind` (of `tests.contract.peers.peer.Kind`) and a subclass of
`PeerContract`; every test then runs once a kind. Times are asserted loosely: what matters is that
a bound exists, far below what the libraries would wait by themselves.
"""

import contextlib
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from inspectd.errors import PlcFault
from inspectd.frame import Kind as Message
from inspectd.frame import Reason, Stamp, Ticket, Verdict
from inspectd.plc.registers import HEAD, NO_SEQUENCE, Head, VerdictBlock, decode_head
from inspectd.ports import Context
from inspectd.stages.sink.conversation import Conversation
from inspectd.stages.sink.manner import Manner
from inspectd.stages.sink.port import Plc
from inspectd.stages.sink.step import SinkStep
from inspectd.stages.sink.timing import Timing
from tests.contract.peers.peer import Kind, Peer, free_port, playing
from tests.contract.peers.road import road_to, speaking

__all__ = ["PeerContract", "sink_at", "told", "until"]

MS = 1_000_000
PATIENCE_MS = 200.0
BOUND_S = 2.0
"""Ten time-outs: slack for a busy machine, and far below the 5 s of the libraries."""
NG = VerdictBlock(0x12345678, Verdict.NG, Reason.DEFECT, 7)
FULL = decode_head([0x8000 | 0x0137 * at for at in range(HEAD.words)], "high_first")._replace(
    test_constant=Head().test_constant, protocol_version=Head().protocol_version
)
"""Every word another one, the highest bit of each set."""
TIMING = Timing(
    deadline_ns=2000 * MS,
    margin_ns=100 * MS,
    poll_ns=2 * MS,
    ack_poll_ns=2 * MS,
    heartbeat_ns=100 * MS,
    reconnect_ns=200 * MS,
    ack_timeout_ns=2000 * MS,
)
REQUESTS: dict[str, Callable[[Plc], object]] = {
    "read_part": lambda plc: plc.read_part(),
    "read_head": lambda plc: plc.read_head(),
    "read_verdict": lambda plc: plc.read_verdict(),
    "write_head": lambda plc: plc.write_head(Head()),
    "write_verdict": lambda plc: plc.write_verdict(NG),
}
FOREIGN = {
    "http": b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
    "all bytes": bytes(range(256)),
    "one byte": b"\0",
    "zeros": bytes(64),
    "ISO confirm, then nonsense": bytes.fromhex("0300000b06d0000100010003"),
    "endless length": bytes.fromhex("0300ffff02f080") + bytes(20),
    "session, then nonsense": bytes.fromhex(
        "65000400010000000000000000000000000000000000000001000000"
    ),
    "EtherNet/IP, endless length": bytes.fromhex("6f00ffff") + bytes(60),
    "EtherNet/IP, partial transfer for ever": (
        bytes.fromhex("70001600") + bytes(38) + bytes.fromhex("0a000100cc000600c40001000000")
    ),
}


class PeerContract:
    """The contract of `inspectd.stages.sink.port.Plc` over a real wire."""

    @pytest.fixture
    def peer(self, kind: Kind) -> Iterator[Peer]:
        """A PLC with its program running."""
        with playing(kind) as peer:
            yield peer

    def test_it_is_connected_between_connect_and_close(self, peer: Peer) -> None:
        """The pair matches, both may be called twice, and a second connection is as good."""
        plc = peer.client()
        seen = [plc.is_connected]
        for _ in range(2):
            plc.connect()
            plc.connect()
            seen.append(plc.is_connected)
            plc.read_part()
            plc.close()
            plc.close()
            seen.append(plc.is_connected)
        assert seen == [False, True, False, True, False]

    def test_every_group_keeps_every_bit(self, peer: Peer) -> None:
        """Highest and sign bits of 16 and 32 bits come back as they were written."""
        with connected(peer) as plc:
            plc.write_head(FULL)
            assert plc.read_head() == FULL
            for trigger_id in (0, 1, 0x12345678, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF):
                block = NG._replace(trigger_id=trigger_id, sequence=0xFFFF)
                plc.write_verdict(block)
                assert plc.read_verdict() == block

    def test_the_block_outlives_the_connection(self, peer: Peer) -> None:
        """What was told stands there for the next process."""
        with connected(peer) as plc:
            plc.write_verdict(NG)
        with connected(peer) as plc:
            assert plc.read_verdict() == NG

    def test_a_verdict_is_acknowledged_by_its_sequence(self, peer: Peer) -> None:
        """The PLC's program takes the block and echoes; the reject state is echoed too."""
        with connected(peer) as plc:
            plc.write_verdict(NG)
            until(lambda: plc.read_part().acknowledged == NG.sequence)
            plc.write_verdict(VerdictBlock(trigger_id=5))
            until(lambda: plc.read_part().acknowledged == NO_SEQUENCE)

    @pytest.mark.parametrize("constant", ["words_exchanged", "bytes_exchanged", "absent"])
    def test_a_wrong_test_constant_is_found_at_the_first_contact(
        self, kind: Kind, constant: str
    ) -> None:
        """The fault says what stands there and which setting helps; the connection is closed."""
        with playing(kind, "--constant", constant) as peer:
            plc = peer.client()
            with pytest.raises(PlcFault, match=kind.constants[constant]):
                plc.connect()
            assert not plc.is_connected

    def test_a_block_beside_its_place_is_found_at_the_first_contact(self, kind: Kind) -> None:
        """Where registers are addressed, the fault says by how much."""
        if kind.shift_says is None:
            pytest.skip("its values have names, not addresses")
        with playing(kind, "--shift", "1") as peer:
            plc = peer.client()
            with pytest.raises(PlcFault, match=kind.shift_says):
                plc.connect()
            assert not plc.is_connected

    def test_an_error_answer_is_a_fault_that_names_the_remedy(self, peer: Peer) -> None:
        """Missing, short and differently made data: one sentence each, and nothing stays open."""
        for stranger in peer.kind.strangers:
            plc = stranger.client(peer.port)
            with pytest.raises(PlcFault, match=stranger.says):
                plc.connect()
            assert not plc.is_connected, stranger.label

    def test_nobody_listening_is_a_fault(self, kind: Kind) -> None:
        """No hang, no busy loop: one attempt, one sentence."""
        plc = kind.client(free_port(), PATIENCE_MS)
        with within(BOUND_S), pytest.raises(PlcFault, match="no connection; look at the PLC"):
            plc.connect()

    def test_a_request_without_a_connection_is_a_fault(self, kind: Kind) -> None:
        """No library reconnects behind our back: the block must be read first."""
        plc = kind.client(free_port(), PATIENCE_MS)
        for request in REQUESTS.values():
            with pytest.raises(PlcFault):
                request(plc)

    @pytest.mark.parametrize("request_name", REQUESTS)
    def test_a_connection_that_breaks_is_a_fault_and_can_be_made_again(
        self, peer: Peer, request_name: str
    ) -> None:
        """Closed by the other side, in between or in the middle of an answer."""
        with road_to(peer.port) as road:
            plc = peer.client(PATIENCE_MS * 5, road.port)
            for end_after in (0, 1, 5, 11):
                plc.connect()
                road.end_after = end_after
                with within(BOUND_S), pytest.raises(PlcFault):
                    REQUESTS[request_name](plc)
                assert not plc.is_connected
                road.end_after = None
            plc.connect()
            REQUESTS[request_name](plc)
            plc.close()

    @pytest.mark.parametrize("request_name", REQUESTS)
    def test_a_frozen_plc_costs_a_bounded_time(self, peer: Peer, request_name: str) -> None:
        """It takes our bytes and says nothing: the request, closing and connecting all end."""
        plc = peer.client(PATIENCE_MS)
        until(lambda: connects(plc))
        with peer.frozen():
            with within(BOUND_S), pytest.raises(PlcFault, match=r"raise plc\.timeout_ms"):
                REQUESTS[request_name](plc)
            assert not plc.is_connected
            with within(BOUND_S):
                plc.close()
            with within(BOUND_S), pytest.raises(PlcFault):
                plc.connect()
        until(lambda: connects(plc))
        plc.close()

    def test_closing_in_front_of_a_frozen_plc_is_bounded(self, peer: Peer) -> None:
        """Good manners at the end of a connection have a time-out too."""
        plc = peer.client(PATIENCE_MS)
        until(lambda: connects(plc))
        with peer.frozen(), within(BOUND_S):
            plc.close()
        assert not plc.is_connected

    def test_slow_answers_are_taken_while_they_are_in_time(self, peer: Peer) -> None:
        """A PLC with a long scan is no fault; one beyond the time-out is."""
        with road_to(peer.port) as road:
            plc = peer.client(PATIENCE_MS * 3, road.port)
            plc.connect()
            road.delay_s = PATIENCE_MS / 1000
            plc.write_verdict(NG)
            assert plc.read_verdict() == NG
            road.delay_s = PATIENCE_MS * 5 / 1000
            with within(BOUND_S), pytest.raises(PlcFault):
                plc.read_verdict()
            assert not plc.is_connected

    def test_an_answer_that_trickles_is_bounded_as_a_whole(self, peer: Peer) -> None:
        """A byte now and then must not keep the sink for minutes."""
        with road_to(peer.port) as road:
            plc = peer.client(PATIENCE_MS, road.port)
            until(lambda: connects(plc))
            road.byte_by_byte_s = PATIENCE_MS / 1000 * 0.7
            with within(BOUND_S), pytest.raises(PlcFault):
                plc.read_head()
            assert not plc.is_connected

    @pytest.mark.parametrize("said", FOREIGN)
    def test_a_peer_that_speaks_something_else_is_a_fault_and_no_traceback(
        self, kind: Kind, said: str
    ) -> None:
        """Whatever comes back becomes one sentence, within its time."""
        with speaking(FOREIGN[said]) as port:
            plc = kind.client(port, PATIENCE_MS)
            with within(BOUND_S), pytest.raises(PlcFault):
                plc.connect()
            assert not plc.is_connected

    def test_an_answer_that_comes_twice_does_not_confirm_the_next_request(self, peer: Peer) -> None:
        """A stale confirmation would call a verdict told that the PLC has never seen."""
        with road_to(peer.port) as road:
            for name in ("read_part", "write_head", "write_verdict"):
                plc = peer.client(PATIENCE_MS, road.port)
                until(lambda plc=plc: connects(plc))  # type: ignore[misc]
                road.spoil = lambda answer: answer + answer
                assert outcome(REQUESTS[name], plc) in {"value", "fault"}
                road.spoil = lambda answer: answer
                with peer.frozen(), pytest.raises(PlcFault):
                    plc.write_verdict(NG._replace(sequence=9))
                plc.close()

    @pytest.mark.timeout(120)
    def test_spoilt_answers_are_faults_or_values_and_never_anything_else(self, peer: Peer) -> None:
        """Flipped, missing and added bytes anywhere: no traceback, no hang, and it recovers."""
        chance = random.Random(20261201)  # noqa: S311 - the same every time
        with road_to(peer.port) as road:
            plc = peer.client(PATIENCE_MS / 4, road.port)
            outcomes: set[str] = set()
            for _ in range(60):
                road.spoil = lambda answer: answer
                until(lambda: connects(plc))
                road.spoil = lambda answer: spoilt(answer, chance)
                for request in (*REQUESTS.values(), connects):
                    with within(BOUND_S):
                        outcomes.add(outcome(request, plc))
            road.spoil = lambda answer: answer
            assert outcomes == {"value", "fault"}
            until(lambda: connects(plc))
            plc.write_verdict(NG)
            assert plc.read_verdict() == NG

    def test_a_write_that_is_carried_out_after_its_time_out_is_told_once(self, peer: Peer) -> None:
        """The frozen PLC applies it when it thaws; the read-back knows it by its sequence."""
        conversation = conversing(peer.client(PATIENCE_MS))
        until(lambda: conversation.greet(time.monotonic_ns()) is not None)
        ticket = Ticket(0, 77).decided(Verdict.NG, Reason.DEFECT, time.monotonic_ns())
        with peer.frozen():
            assert not conversation.tell(ticket, conversation.draw())
            assert conversation.trouble
            assert conversation.doubt_lasts_until_ns(77)
            assert conversation.greet(conversation.next_attempt_ns) is None
        greetings: list[Any] = []

        def has_greeted() -> bool:
            greeting = conversation.greet(conversation.next_attempt_ns)
            greetings.extend(() if greeting is None else (greeting,))
            return greeting is not None

        until(has_greeted)
        assert greetings[0].doubtful.trigger_id == ticket.trigger_id
        if not greetings[0].is_applied:  # the PLC threw the bytes away with the connection
            assert conversation.tell(ticket, conversation.draw())
        until(lambda: _is_acknowledged(conversation))
        conversation.close()
        report = peer.report()
        assert report["unknown"] == [77]  # it never fired; taken exactly once all the same
        assert report["duplicates"] == []

    @pytest.mark.parametrize("delay_s", [0.0, 0.01], ids=["quick", "slow"])
    def test_every_trigger_gets_its_verdict_once_and_in_order(
        self, kind: Kind, delay_s: float
    ) -> None:
        """The sink over the real wire against the PLC's own book."""
        with playing(kind, "--parts", "10", "--rate-hz", "4") as peer, road_to(peer.port) as road:
            road.delay_s = delay_s
            assert told(sink_at(peer.client(port=road.port), 10)) == 10
            check_book(peer.report(), 10)

    def test_a_freeze_and_a_broken_connection_cost_no_order(self, kind: Kind) -> None:
        """Verdicts may be late or lost to the PLC's window, never twice and never backwards."""
        with playing(kind, "--parts", "24", "--rate-hz", "8") as peer, road_to(peer.port) as road:
            step = sink_at(peer.client(PATIENCE_MS, road.port), 24)
            told(step, limit=6)
            with peer.frozen():
                time.sleep(0.5)
            told(step, limit=6)
            road.end_after = 3
            told(step)
            report = peer.report()
        for key in ("duplicates", "out_of_order", "unknown", "missing"):
            assert report[key] == []
        assert report["fired"] == report["answered"]
        assert report["counts"]["OK"] >= 12


@contextmanager
def connected(peer: Peer) -> Iterator[Plc]:
    """A client that is connected."""
    plc = peer.client()
    plc.connect()
    try:
        yield plc
    finally:
        plc.close()


@contextmanager
def within(limit_s: float) -> Iterator[None]:
    """What is done in here must have ended by then."""
    start = time.monotonic()
    yield
    took_s = time.monotonic() - start
    assert took_s < limit_s, f"it took {took_s:.2f} s"


def until(is_true: Callable[[], bool], limit_s: float = 20) -> None:
    """Wait until something holds."""
    end = time.monotonic() + limit_s
    while not is_true():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.005)


def spoilt(answer: bytes, chance: random.Random) -> bytes:
    """An answer with one thing wrong."""
    at = chance.randrange(len(answer))
    how = chance.randrange(4)
    if how == 0:
        return answer[:at]
    if how == 1:
        return answer[:at] + chance.randbytes(chance.randrange(1, 9)) + answer[at:]
    if how == 2:
        return answer + answer
    return answer[:at] + bytes((answer[at] ^ 1 << chance.randrange(8),)) + answer[at + 1 :]


def outcome(request: Callable[[Plc], object], plc: Plc) -> str:
    """What became of a request; anything but a fault goes on."""
    try:
        request(plc)
    except PlcFault:
        return "fault"
    return "value"


def connects(plc: Plc) -> bool:
    """Whether a connection can be had, and then it is."""
    with contextlib.suppress(PlcFault):
        plc.connect()
    return plc.is_connected


def conversing(plc: Plc) -> Conversation:
    """A conversation that counts and logs nothing."""
    return Conversation(
        plc,
        reconnect_ns=TIMING.reconnect_ns,
        ack_timeout_ns=TIMING.ack_timeout_ns,
        clock=time.monotonic_ns,
        count=lambda _counter, _amount: None,
        log=lambda *_words, **_fields: None,
    )


def sink_at(plc: Plc, parts: int) -> SinkStep:
    """A real sink in real time."""
    context = Context(
        arenas={},
        clock=time.monotonic_ns,
        count=lambda _counter, _amount: None,
        log=lambda *_words, **_fields: None,
        is_ready=lambda _role, _station: True,
        is_line_healthy=lambda _station: True,
        part_limit=parts,
    )
    return SinkStep(0, Manner(timing=TIMING, is_plc_triggered=True), conversing(plc), context)


def told(step: SinkStep, limit: int | None = None, limit_s: float = 40) -> int:
    """Judge every part OK at once until the sink is drained, or so many went; answer how many."""
    count = 0
    end = time.monotonic() + limit_s
    while not step.is_drained() and (limit is None or count < limit):
        assert time.monotonic() < end, "the sink did not finish"
        now_ns = time.monotonic_ns()
        wake_at_ns = step.wake_at_ns()
        if wake_at_ns is None or wake_at_ns > now_ns:
            time.sleep(0.0005)
            continue
        for out in step.wake(now_ns):
            if out.kind is Message.FIRE:
                step.feed(
                    Message.VERDICT, out.ticket.decided(Verdict.OK, Reason.NONE, now_ns), now_ns
                )
            else:
                count += bool(out.ticket.stamps[Stamp.SENT]) or limit is not None
    if step.is_drained():
        step.close()
    return count


def check_book(report: dict[str, Any], parts: int) -> None:
    """Every part fired has one verdict, in order; OK, unless the machine was too busy to look.

    A trigger that comes before the last one was looked at is told as FAULT (TRIGGER_MISSED).
    """
    assert report["fired"] == report["answered"] == parts
    for key in ("missing", "duplicates", "out_of_order", "unknown"):
        assert report[key] == []
    others = {one["reason"] for one in report["verdicts"] if one["verdict"] != "OK"}
    assert others <= {"TRIGGER_MISSED"}, report["verdicts"]
    assert report["counts"]["OK"] >= parts // 2, report["verdicts"]
    assert [answer["trigger_id"] for answer in report["verdicts"]] == list(range(1, parts + 1))


def _is_acknowledged(conversation: Conversation) -> bool:
    part = conversation.read_part()
    return part is not None and not conversation.handshake.is_waiting
