"""EDGE asyncua client: the station's values in the PLC's OPC UA server.

asyncua is asynchronous, the sink is not: the wire has an event loop of its own, which runs only
while a request is under way, and each request has its time. What goes on beside requests (the
renewal of the secure channel) moves on with them. The PLC takes a verdict when the sequence
changes: one Write carries the group, the sequence last, and every value's status is looked at.
"""

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from asyncua import Client, ua

from inspectd.config.schema import OpcuaPlc
from inspectd.errors import PlcFault, UsageFault
from inspectd.plc.nodes import WORD_ORDER, type_name, values_of, words_of
from inspectd.plc.registers import TEST_CONSTANT, Group, WordOrder
from inspectd.stages.sink.block import MAP, BlockPeer
from inspectd.stages.sink.constant import Finding
from inspectd.stages.sink.opcua_session import (
    Place,
    connect,
    disconnect,
    find_places,
    is_good,
    type_trouble,
)

__all__ = ["OpcuaPeer", "OpcuaWire"]

_T = TypeVar("_T")

CHANNEL_LIFETIME_MS = 3_600_000
"""The secure channel is renewed after three quarters of it, or of what the server allows."""
_RENEW_AT = 0.75
"""OPC 10000-4, 5.5.2.1."""
_CLOSE_S = 0.2
_NO_CONNECTION = "no connection"
_ANSWER = "look at the PLC and the network between, or raise plc.timeout_ms"
_REMEDIES = {
    "BadTooManySessions": "close other clients: small PLCs have about 5 sessions, and forget one "
    "that did not say goodbye only after its time-out",
    "BadUserAccessDenied": "check plc.user, its password, and its rights in the PLC",
    "BadIdentityTokenRejected": "check plc.user and its password",
    "BadIdentityTokenInvalid": "check plc.user and its password",
    "BadSecurityPolicyRejected": "give plc.security: the PLC wants certificates",
    "BadSecurityModeRejected": "give plc.security: the PLC wants certificates",
    "BadSecurityChecksFailed": "have the PLC trust our certificate (plc.security.certificate)",
    "BadCertificateUntrusted": "have the PLC trust our certificate (plc.security.certificate)",
    "BadCertificateInvalid": "the PLC cannot use our certificate (plc.security.certificate)",
    "BadCertificateTimeInvalid": "our certificate is out of date by the PLC's clock: look at both",
    "BadCertificateUriInvalid": "make our certificate anew with `inspectd opcua-cert`",
    "BadNotWritable": "let this client write the values of vision (groups head and verdict)",
    "BadTypeMismatch": MAP,
    "BadNodeIdUnknown": MAP,
}


class OpcuaPeer(BlockPeer):
    """A PLC with an OPC UA server."""

    def __init__(
        self, keys: OpcuaPlc, station: str, *, channel_lifetime_ms: int = CHANNEL_LIFETIME_MS
    ) -> None:
        """Keep the keys; nothing is opened before `connect`.

        Args:
            keys: Of the station file.
            station: Its name, which may stand in the nodes.
            channel_lifetime_ms: Of the secure channel, as it is asked for.
        """
        super().__init__(OpcuaWire(keys, station, channel_lifetime_ms))


class OpcuaWire:
    """Groups as nodes, one Read or Write each; see `inspectd.stages.sink.wire.Wire`."""

    def __init__(self, keys: OpcuaPlc, station: str, channel_lifetime_ms: int) -> None:
        logging.getLogger("asyncua").setLevel(logging.CRITICAL + 1)  # faults reach us as values
        self._keys, self._station = keys, station
        self._channel_lifetime_ms = channel_lifetime_ms
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Client | None = None
        self._renewal: asyncio.Task[None] | None = None
        self._places: dict[str, list[Place]] = {}

    @property
    def peer(self) -> str:
        """See `Wire.peer`."""
        return self._keys.endpoint

    @property
    def word_order(self) -> WordOrder:
        """See `Wire.word_order`; no word of a value is ever seen by the PLC."""
        return WORD_ORDER

    @property
    def is_open(self) -> bool:
        """See `Wire.is_open`."""
        return self._client is not None

    def open(self) -> None:
        """See `Wire.open`: channel, session, and where the values lie."""
        self.close()
        self._loop = asyncio.new_event_loop()
        self._run(_NO_CONNECTION, self._open(), self._keys.connect_timeout_ms)

    def read(self, group: Group) -> list[int]:
        """See `Wire.read`: one Read of all values, from the device."""
        complaint = f"no answer to reading the group {group.name}"
        places = self._places_of(group, complaint)
        wanted = [
            ua.ReadValueId(NodeId=one.node, AttributeId=ua.AttributeIds.Value) for one in places
        ]
        answers = self._ask(
            complaint, lambda client: client.uaclient.read(ua.ReadParameters(NodesToRead=wanted))
        )
        self._expect(complaint, places, answers)
        for place, answer in zip(places, answers, strict=True):
            trouble = type_trouble(place, answer)
            if trouble:
                self._refuse(f"{complaint}: {trouble}", MAP)
        return words_of(group, [int(answer.Value.Value) for answer in answers])

    def write(self, group: Group, words: list[int]) -> None:
        """See `Wire.write`: one Write, in the order of the table."""
        complaint = f"no confirmation of writing the group {group.name}"
        values = values_of(group, words)
        places = self._places_of(group, complaint)[: len(values)]
        wanted = [_written(place, value) for place, value in zip(places, values, strict=True)]
        answers = self._ask(
            complaint, lambda client: client.uaclient.write(ua.WriteParameters(NodesToWrite=wanted))
        )
        self._expect(complaint, places, answers)
        for place, code in zip(places, answers, strict=True):
            if not is_good(code):
                self._refuse(f"{complaint}: {place}: {code.name}", _REMEDIES.get(code.name, MAP))

    def close(self) -> None:
        """See `Wire.close`; the session is given back, so that the PLC has it for the next one."""
        loop, self._loop = self._loop, None
        client, self._client = self._client, None
        renewal, self._renewal = self._renewal, None
        if loop is None:
            return
        try:
            loop.run_until_complete(asyncio.wait_for(_end(client, renewal), _CLOSE_S))
        except Exception:  # noqa: BLE001, S110 - the connection is gone in any case
            pass
        finally:
            for task in asyncio.all_tasks(loop):
                task.cancel()
            loop.run_until_complete(asyncio.sleep(0))
            loop.close()

    def explain(self, finding: Finding) -> tuple[str, str]:
        """See `Wire.explain`; types are checked before, so it is the value that is wrong."""
        return (
            f"its test constant is {finding.found:#010x}, not {TEST_CONSTANT:#010x}",
            f"let the PLC write its test constant when it starts; {MAP}",
        )

    async def _open(self) -> None:
        client = await connect(self._keys, self._channel_lifetime_ms)
        self._client = client
        self._places = await find_places(client, self._keys, self._station)
        self._renewal = asyncio.ensure_future(_keep_channel(client))

    def _places_of(self, group: Group, complaint: str) -> list[Place]:
        if self._client is None:
            raise PlcFault(self.peer, complaint, "there is no connection: connect first")
        return self._places[group.name]

    def _ask(self, complaint: str, request: Any) -> Any:
        """Make one request over the open connection."""
        if self._renewal is not None and self._renewal.done():
            self._refuse(f"{complaint}: the secure channel could not be renewed", _ANSWER)
        return self._run(complaint, request(self._client), self._keys.timeout_ms)

    def _run(self, complaint: str, work: Coroutine[Any, Any, _T], limit_ms: float) -> _T:
        """Do something within its time; whatever goes wrong closes the connection."""
        assert self._loop is not None  # noqa: S101 - `open` made it
        try:
            return self._loop.run_until_complete(asyncio.wait_for(work, limit_ms / 1000))
        except PlcFault:
            self.close()
            raise
        except UsageFault as fault:
            self.close()
            what = f"{complaint}: {fault.where}: {fault.what}"
            raise PlcFault(self.peer, what, fault.remedy) from fault
        except Exception as error:
            self.close()
            raise PlcFault(self.peer, *_words_for(complaint, error, limit_ms)) from error

    def _expect(self, complaint: str, places: Sequence[Place], answers: Sequence[Any]) -> None:
        if len(answers) != len(places):
            self._refuse(f"{complaint}: asked for {len(places)} values, got {len(answers)}", MAP)

    def _refuse(self, what: str, remedy: str) -> None:
        self.close()
        raise PlcFault(self.peer, what, remedy)


async def _end(client: Client | None, renewal: "asyncio.Task[None] | None") -> None:
    if renewal is not None:
        renewal.cancel()
    if client is not None:
        await disconnect(client)


async def _keep_channel(client: Client) -> None:
    """Renew the secure channel in time; ends with the first renewal that fails."""
    while True:
        await asyncio.sleep(client.secure_channel_timeout * _RENEW_AT / 1000)
        try:
            await client.open_secure_channel(renew=True)
        except (ua.UaError, OSError, asyncio.TimeoutError):
            return


def _written(place: Place, value: int) -> ua.WriteValue:
    """A value without status and times: some PLCs refuse what they cannot keep."""
    kind = ua.VariantType[type_name(place.register)]
    bare = ua.DataValue(Value=ua.Variant(value, kind), StatusCode=None)
    return ua.WriteValue(NodeId=place.node, AttributeId=ua.AttributeIds.Value, Value=bare)


def _words_for(complaint: str, error: Exception, limit_ms: float) -> tuple[str, str]:
    """Say what went wrong, and what to do about it."""
    if isinstance(error, asyncio.TimeoutError):
        return f"{complaint} within {limit_ms:g} ms", _ANSWER
    if isinstance(error, ua.UaStatusCodeError):
        name = ua.StatusCode(error.code).name
        return f"{complaint}: {name}", _REMEDIES.get(name, _ANSWER)
    if isinstance(error, OSError) and complaint == _NO_CONNECTION:
        return complaint, "look at the PLC, its address and port"
    words = str(error) or type(error).__name__
    return f"{complaint}: {words}", _ANSWER
