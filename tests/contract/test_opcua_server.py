"""Our own OPC UA server with asyncua's real client: values, states, logins, hard clients."""

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("asyncua", reason="pip install 'inspectd[opcua]'")

from asyncua import Client, ua

from inspectd.errors import PlcFault
from inspectd.frame import Reason, Verdict
from inspectd.plc.registers import Flag, Head, PlcPart, StatusBit, VerdictBlock
from inspectd.stages.sink.opcua_vision import NAMESPACE
from tests.contract.peers.ours import (
    STATION,
    Ours,
    open_sockets,
    raw_connection,
    served,
    until,
)

pytestmark = [pytest.mark.long, pytest.mark.timeout(120)]

READY = Head(status=StatusBit.READY)
NG = VerdictBlock(0x12345678, Verdict.NG, Reason.DEFECT, sequence=7)


@pytest.fixture(scope="module")
def ours() -> Iterator[Ours]:
    """One server; tests leave no sink and no client behind."""
    with served() as made:
        yield made


@pytest.fixture
def client(ours: Ours) -> Iterator[Client]:
    """A PLC that is logged in and has written its part."""
    client = ours.client()
    ours.within(client.connect())
    try:
        ours.within(ours.write_part(client, PlcPart(heartbeat=1)))
        yield client
    finally:
        with contextlib.suppress(Exception):
            ours.within(client.disconnect())


def state(ours: Ours, client: Client) -> tuple[str, str]:
    """Names of the vision system's two states."""

    async def look() -> tuple[str, str]:
        own = await client.get_namespace_index("urn:inspectd:values")
        vision = await client.get_namespace_index(NAMESPACE)
        system = client.get_node(ua.NodeId(f"{STATION}.VisionSystem", own))
        machine = await system.get_child(f"{vision}:VisionStateMachine")
        top = await (await machine.get_child("0:CurrentState")).read_value()
        mode = await machine.get_child([f"{vision}:AutomaticModeStateMachine", "0:CurrentState"])
        automatic = await mode.read_value()
        return str(top.Text), str(automatic.Text or "")

    answer: tuple[str, str] = ours.within(look())
    return answer


# ---------------------------------------------------------------- the link with the sink


def test_no_socket_is_left_when_a_sink_reconnects_at_once(ours: Ours) -> None:
    """Two connections before the server's loop has turned: the first is ended unserved."""
    sink = raw_connection(ours.run_id)
    until(lambda: bool(sink.recv(4096)))
    before = open_sockets()
    for _ in range(20):
        asyncio.run_coroutine_threadsafe(_stand_still(), ours.server_loop)
        sink.close()
        raw_connection(ours.run_id).close()  # accepted in the same turn as the next
        sink = raw_connection(ours.run_id)
        assert sink.recv(4096), "the last to come is served"
        until(lambda: open_sockets() == before)
    sink.close()
    until(lambda: open_sockets() == before - 2)


async def _stand_still() -> None:
    time.sleep(0.02)  # noqa: ASYNC251  the loop shall stand still


def test_a_stopped_server_leaves_no_socket() -> None:
    """Also with a sink connected, and a client."""
    before = open_sockets()
    with served("stopped") as made:
        client = made.client()
        made.within(client.connect())
        sink = raw_connection(made.run_id)
        assert sink.recv(4096)
        made.within(client.disconnect())
    sink.close()
    until(lambda: open_sockets() <= before)


def test_foreign_packets_end_the_sink_and_not_the_server(ours: Ours, client: Client) -> None:
    """It says so, and the next sink is served."""
    stranger = raw_connection(ours.run_id)
    stranger.send(b"\xff\xff\xff")
    until(lambda: _is_ended(stranger))
    stranger.close()
    assert "opcua_sink_lost" in ours.events()
    peer = ours.sink()
    peer.connect()
    peer.close()


def _is_ended(connection: socket.socket) -> bool:
    return connection.recv(4096) == b""


# ---------------------------------------------------------------- values


def test_a_sink_is_refused_until_a_plc_has_written_its_part(ours: Ours) -> None:
    """Logged in is not enough."""
    peer = ours.sink()
    with pytest.raises(PlcFault, match="no PLC is logged in"):
        peer.connect()
    client = ours.client()
    ours.within(client.connect())
    with pytest.raises(PlcFault, match="no PLC is logged in"):
        peer.connect()
    ours.within(ours.write_part(client, PlcPart()))
    peer.connect()
    ours.within(client.disconnect())
    with pytest.raises(PlcFault, match="no PLC is logged in"):  # noqa: PT012
        for _ in range(100):
            peer.read_part()
            time.sleep(0.01)
    assert not peer.is_connected


def test_a_client_with_another_constant_is_refused(ours: Ours, client: Client) -> None:
    """As on every fieldbus."""
    ours.within(ours.write_part(client, PlcPart(test_constant=1)))
    with pytest.raises(PlcFault, match="plc_test_constant is 0x00000001"):
        ours.sink().connect()


def test_verdict_and_head_arrive_and_the_acknowledgement_and_commands_come_back(
    ours: Ours, client: Client
) -> None:
    """Every value of every group, both ways."""
    peer = ours.sink()
    peer.connect()
    head = Head(StatusBit.READY | StatusBit.BUSY, 77, missed=0x12345678, active_recipe=3)
    peer.write_head(head)
    peer.write_verdict(NG)
    assert peer.read_head() == head
    assert peer.read_verdict() == NG

    async def look() -> list[Any]:
        names = ("trigger_id", "verdict", "reason", "sequence")
        return [await ours.read(client, f"verdict.{name}") for name in names]

    assert ours.within(look()) == [NG.trigger_id, NG.verdict, NG.reason, NG.sequence]
    assert ours.within(ours.read(client, "head.missed")) == 0x12345678
    part = PlcPart(
        trigger_counter=0xFFFF_FFFF,
        acknowledged=7,
        heartbeat=5,
        flags=Flag(1),
        command=2,
        command_argument=9,
        command_sequence=11,
    )
    ours.within(ours.write_part(client, part))
    until(lambda: peer.read_part() == part)
    peer.close()


def test_the_sequence_changes_after_everything_else(ours: Ours, client: Client) -> None:
    """Who is told of the sequence reads the whole verdict, however often."""
    peer = ours.sink()
    peer.connect()

    class Watch:
        def __init__(self) -> None:
            self.seen: list[tuple[int, int]] = []
            self.tasks: list[Any] = []

        def datachange_notification(self, _node: Any, value: int, _data: Any) -> None:
            self.tasks.append(asyncio.ensure_future(self.look(value)))

        async def look(self, sequence: int) -> None:
            self.seen.append((sequence, await ours.read(client, "verdict.trigger_id")))

    watch = Watch()

    async def subscribe() -> Any:
        subscription = await client.create_subscription(10, watch)
        await subscription.subscribe_data_change(await ours.node(client, "verdict.sequence"))
        return subscription

    subscription = ours.within(subscribe())
    for sequence in range(100, 130):
        peer.write_verdict(VerdictBlock(sequence, Verdict.OK, Reason.NONE, sequence=sequence))
        time.sleep(0.02)
    until(lambda: bool(watch.seen) and watch.seen[-1] == (129, 129))
    assert all(trigger_id >= sequence for sequence, trigger_id in watch.seen[1:])
    ours.within(subscription.delete())
    peer.close()


def test_a_client_can_write_nothing_but_the_plcs_part(ours: Ours, client: Client) -> None:
    """Not the verdict, not a state, and no value of another type."""
    peer = ours.sink()
    peer.connect()
    peer.write_verdict(NG)

    async def attempt(name: str, value: ua.Variant) -> str:
        try:
            await (await ours.node(client, name)).write_value(value)
        except ua.UaStatusCodeError as error:
            return type(error).__name__
        return "taken"

    ok = ua.Variant(1, ua.VariantType.UInt16)
    assert ours.within(attempt("verdict.verdict", ok)) in ("BadUserAccessDenied", "BadNotWritable")
    assert ours.within(attempt("head.status", ok)) in ("BadUserAccessDenied", "BadNotWritable")
    for wrong in (
        ua.Variant("1", ua.VariantType.String),
        ua.Variant(70_000, ua.VariantType.UInt32),
        ua.Variant([1, 2], ua.VariantType.UInt16),
        ua.Variant(None, ua.VariantType.Null),
    ):
        assert ours.within(attempt("plc.acknowledged", wrong)) != "taken", wrong
    assert peer.read_verdict() == NG
    assert peer.read_part().heartbeat == 1
    peer.close()


# ---------------------------------------------------------------- OPC 40100-1


def test_the_states_are_those_of_the_head(ours: Ours, client: Client) -> None:
    """Names of the companion specification, through a day of the line."""
    peer = ours.sink()
    peer.connect()
    for head, wanted in (
        (READY, ("Operational", "Ready")),
        (Head(StatusBit.READY | StatusBit.BUSY), ("Operational", "SingleExecution")),
        (Head(StatusBit.FAULT), ("Error", "")),
        (READY, ("Operational", "Ready")),
        (Head(StatusBit.BUSY), ("Operational", "Initialized")),
    ):
        peer.write_head(head)
        until(lambda: state(ours, client) == wanted)  # noqa: B023 - called at once
    peer.close()
    until(lambda: state(ours, client) == ("Error", ""))
    assert ours.within(ours.read(client, "head.status")) == int(StatusBit.FAULT)
    peer.connect()
    peer.write_head(READY)
    peer.write_head(Head(StatusBit(0)))
    peer.close()
    until(lambda: state(ours, client) == ("Halted", ""))
    assert ours.within(ours.read(client, "head.status")) == 0, "a goodbye is no fault"


# ---------------------------------------------------------------- hard clients


def test_a_slow_client_holds_no_verdict_up(ours: Ours, client: Client) -> None:
    """It subscribes to everything as fast as it can, and reads nothing of what it is sent."""
    host, port = "127.0.0.1", int(ours.endpoint.rpartition(":")[2])
    deaf = socket.create_connection((host, port))
    lazy = ours.client()
    ours.within(lazy.connect())

    async def subscribe() -> None:
        subscription = await lazy.create_subscription(1, _Nothing())
        nodes = [await ours.node(lazy, f"verdict.{name}") for name in ("sequence", "trigger_id")]
        await subscription.subscribe_data_change(nodes)
        lazy.uaclient.protocol.transport.pause_reading()

    ours.within(subscribe())
    peer = ours.sink()
    peer.connect()
    slowest_s = 0.0
    for sequence in range(1, 400):
        began_s = time.monotonic()
        peer.write_verdict(VerdictBlock(sequence, Verdict.OK, Reason.NONE, sequence=sequence))
        slowest_s = max(slowest_s, time.monotonic() - began_s)
    assert slowest_s < 0.9, "each was confirmed well within its time-out"
    peer.close()
    deaf.close()
    lazy.uaclient.protocol.transport.resume_reading()
    ours.within(lazy.disconnect())


class _Nothing:
    def datachange_notification(self, *_of_change: Any) -> None:
        """Nobody cares."""


def test_bytes_that_are_no_opc_ua_harm_nobody(ours: Ours, client: Client) -> None:
    """Rubbish, half a hello, a length of four gigabytes: the next client is served."""
    peer = ours.sink()
    peer.connect()
    port = int(ours.endpoint.rpartition(":")[2])
    for rubbish in (
        b"GET / HTTP/1.1\r\n\r\n",
        b"HELF\xff\xff\xff\xff" + bytes(100),
        b"HELF\x20\0\0\0" + b"\0" * 8,
        b"OPNF" + os.urandom(200),
        b"MSGC\x08\0\0\0",
        bytes(5000),
    ):
        with socket.create_connection(("127.0.0.1", port), timeout=2) as stranger:
            stranger.send(rubbish)
        peer.write_verdict(NG)
    ours.turn()
    assert ours.within(ours.read(client, "verdict.sequence")) == NG.sequence
    peer.close()


def test_a_plc_that_comes_again_is_served_again(ours: Ours) -> None:
    """Ten lives of a client, one sink each time; the sink hears of each end."""
    for life in range(1, 6):
        client = ours.client()
        ours.within(client.connect())
        ours.within(ours.write_part(client, PlcPart(heartbeat=life)))
        peer = ours.sink()
        peer.connect()
        assert peer.read_part().heartbeat == life
        peer.write_verdict(NG._replace(sequence=life))
        assert ours.within(ours.read(client, "verdict.sequence")) == life
        ours.within(client.disconnect())
        until(lambda: not _is_there(peer))  # noqa: B023 - called at once


def _is_there(peer: Any) -> bool:
    try:
        peer.read_part()
    except PlcFault:
        return False
    return True
