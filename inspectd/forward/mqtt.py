"""EDGE aiomqtt: an MQTT broker as a receiver of events.

    <prefix>/<line>/status             online or offline, retained; offline also as our last will
    <prefix>/<line>/<station>/state    a word of OPC 40100-1, retained: Preoperational, Operational,
                                       Error or Halted
    <prefix>/<line>/<station>/event    an event, JSON, quality of service 1

An event counts as delivered when the broker has acknowledged it. Protocol 5 is what lets a broker
say that a topic is not allowed; 3.1.1 brokers acknowledge and drop.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import aiomqtt

from inspectd.config.schema import MqttForward, MqttTls
from inspectd.errors import ForwardFault
from inspectd.forward.event import Outgoing, as_json
from inspectd.forward.receiver import Delivered
from inspectd.forward.secret import password_of

__all__ = ["MqttReceiver", "build", "complaints"]

WINDOW = 20
"""Messages on the way at once: the default of mosquitto, and within what MQTT 5 brokers allow."""
ANSWER_S = 8.0
"""For one acknowledgement."""
_CLOSE_S = 2.0
_FAILURES_FROM = 0x80
"""Reason codes from here on mean no (MQTT 5.0, 2.4)."""
_PROTOCOLS = {"mqtt_5": aiomqtt.ProtocolVersion.V5, "mqtt_3": aiomqtt.ProtocolVersion.V311}
_CLOSED = "the connection was closed"

_REMEDIES: tuple[tuple[str, str], ...] = (
    ("not authori", "see `user`, the password, `topic_prefix` and the broker's access list"),
    ("bad user", "correct `user` and the password"),
    ("taken over", "another client uses the same `client_id`: give each its own"),
    ("hostname mismatch", "give as `host` the name that stands in the broker's certificate"),
    ("ip address mismatch", "give as `host` the name that stands in the broker's certificate"),
    ("certificate verify failed", "give the authority of the broker as `tls.ca_file`"),
    ("certificate required", "the broker wants our certificate: give `tls.cert_file`"),
    ("alert", "the broker refuses our certificate or TLS version: see `tls` and its log"),
    ("wrong version number", "the broker speaks no TLS at this port: correct `port`"),
    ("protocol version", "an old broker: try `protocol: mqtt_3`"),
    ("packet too large", "lower `max_payload_kb` to what the broker takes"),
    ("name or service not known", "correct `host`, or see the name server"),
    ("refused", "see whether the broker runs, and `host` and `port`"),
)
"""Words in an error, and what helps. The first that fits counts."""
_REMEDY = "see whether the broker runs and can be reached; events wait in the record"
_REMEDY_CLOSED = (
    "see the broker's log; when it comes again and again, another client uses the same `client_id`"
)


def build(entry: MqttForward, line: str) -> "MqttReceiver":
    """Make the receiver of an entry."""
    return MqttReceiver(entry, line)


def complaints(_entry: MqttForward) -> Iterator[tuple[str, str]]:
    """What this library has against an entry: nothing that the station file's rules leave over."""
    yield from ()


class _Message(NamedTuple):
    """What is published at once with others."""

    topic: str
    payload: bytes
    is_retained: bool = False


class _Notes(logging.Handler):
    """Keeps the library's last error: the only place where it names an error of TLS."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.last = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.last = record.getMessage()


class _Client(aiomqtt.Client):
    """Also remembers why a message was not taken, and why a connection ended before it began."""

    def __init__(self, *args: Any, **fields: Any) -> None:
        self.notes = _Notes()
        logger = logging.Logger("mqtt")  # of its own: nothing of it goes to the house's log  # noqa: LOG001
        logger.addHandler(self.notes)
        super().__init__(*args, logger=logger, **fields)
        self.refusal = ""
        self.pending_calls_threshold = 2 * WINDOW

    def _on_publish(
        self, client: Any, userdata: Any, mid: int, reason_code: Any, properties: Any
    ) -> None:
        if reason_code.value >= _FAILURES_FROM:
            self.refusal = str(reason_code)
        super()._on_publish(client, userdata, mid, reason_code, properties)

    def _on_disconnect(
        self, client: Any, userdata: Any, flags: Any, reason_code: Any, properties: Any = None
    ) -> None:
        if not self._connected.done():
            self._connected.set_exception(aiomqtt.MqttCodeError(reason_code))
        super()._on_disconnect(client, userdata, flags, reason_code, properties)

    def cut(self) -> None:
        """Let the connection end without a word; the library lets go of what belongs to it."""
        connection = self._client.socket()
        if isinstance(connection, socket.socket):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class MqttReceiver:
    """One broker."""

    def __init__(self, entry: MqttForward, line: str) -> None:
        """Args: entry: of the station file. line: its name."""
        self._entry = entry
        self._where = f"{entry.name} ({entry.host}:{entry.port})"
        self._root = f"{entry.topic_prefix}/{line}"
        self._client_id = entry.client_id or f"inspectd-{line}-{entry.name}"
        self._client: _Client | None = None
        self._watch: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """See `Receiver.open`."""
        client = self._made()
        try:
            await client.__aenter__()
        except (aiomqtt.MqttError, ValueError) as error:
            client.cut()
            raise self._fault(error, client.notes.last) from error
        self._client = client
        self._watch = asyncio.create_task(_watched(client))
        await self._published([_Message(f"{self._root}/status", b"online", is_retained=True)])

    async def deliver(self, events: Sequence[Outgoing]) -> Delivered:
        """See `Receiver.deliver`; a window at a time, so that a slow broker gets ahead."""
        done = 0
        for at in range(0, len(events), WINDOW):
            window = events[at : at + WINDOW]
            try:
                await self._published([self._message(event) for event in window])
            except ForwardFault:
                if done:
                    break  # what went well counts; the next delivery meets the fault again
                raise
            done += len(window)
        return Delivered(done)

    async def tell(self, states: Mapping[str, str]) -> None:
        """See `Receiver.tell`."""
        await self._published(
            [
                _Message(f"{self._root}/{name}/state", state.encode(), is_retained=True)
                for name, state in states.items()
            ]
        )

    async def close(self) -> None:
        """See `Receiver.close`; says goodbye when the connection is well."""
        client, watch = self._client, self._watch
        self._client = self._watch = None
        if client is None or watch is None:
            return
        try:
            if not watch.done():
                await asyncio.wait_for(self._farewell(client), _CLOSE_S)
        except (aiomqtt.MqttError, asyncio.TimeoutError, OSError, ValueError):
            pass  # the broker says it for us: our last will
        finally:
            client.cut()
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)

    # ---------------------------------------------------------------- within

    def _made(self) -> _Client:
        entry = self._entry
        return _Client(
            entry.host,
            entry.port,
            username=entry.user or None,
            password=password_of(self._where, entry.password_file, entry.password_env),
            identifier=self._client_id,
            protocol=_PROTOCOLS[entry.protocol],
            clean_session=None if entry.protocol == "mqtt_5" else True,
            keepalive=entry.keepalive_s,
            timeout=ANSWER_S,
            tls_context=self._tls(entry.tls) if entry.tls else None,
            will=aiomqtt.Will(f"{self._root}/status", b"offline", qos=1, retain=True),
            max_queued_incoming_messages=1,
            max_inflight_messages=WINDOW,
        )

    def _tls(self, tls: MqttTls) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context(cafile=tls.ca_file or None)
            if tls.cert_file:
                context.load_cert_chain(tls.cert_file, tls.key_file, password=_no_passphrase)
        except (OSError, ValueError) as error:
            what = f"the TLS files cannot be used ({error})"
            raise ForwardFault(
                self._where, what, "correct `tls`: PEM, key without a passphrase"
            ) from error
        return context

    def _message(self, event: Outgoing) -> _Message:
        payload = as_json(event, self._entry.max_payload_kb * 1000)
        return _Message(f"{self._root}/{event.station}/event", payload)

    async def _published(self, messages: Sequence[_Message]) -> None:
        """Publish, and wait until all are acknowledged or the connection is gone."""
        client, watch = self._client, self._watch
        if client is None or watch is None:
            raise self._fault(ConnectionError("not connected"))
        client.refusal = ""
        publishing = asyncio.gather(
            *(
                _publish(client, one.topic, one.payload, is_retained=one.is_retained)
                for one in messages
            ),
            return_exceptions=True,
        )
        either: set[asyncio.Future[Any]] = {publishing, watch}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not publishing.done():
                publishing.cancel()
        if watch.done():
            raise self._fault(watch.exception() or ConnectionError(_CLOSED), client.notes.last)
        for error in await publishing:
            if isinstance(error, BaseException):
                raise self._fault(error)
        if client.refusal:
            topic = messages[0].topic
            raise self._fault(ConnectionError(f"{client.refusal}, topic {topic}"))

    async def _farewell(self, client: _Client) -> None:
        await _publish(client, f"{self._root}/status", b"offline", is_retained=True)
        await client.__aexit__(None, None, None)

    def _fault(self, error: BaseException, note: str = "") -> ForwardFault:
        words = str(error.__cause__ or error) or type(error).__name__
        if "Unspecified error" in words:
            words = note or _CLOSED
        lower = words.lower().replace("_", " ")
        general = _REMEDY_CLOSED if words == _CLOSED else _REMEDY
        remedy = next((remedy for part, remedy in _REMEDIES if part in lower), general)
        return ForwardFault(self._where, f"the broker does not take events ({words})", remedy)


def _publish(
    client: _Client, topic: str, payload: bytes, *, is_retained: bool
) -> Coroutine[Any, Any, None]:
    return client.publish(topic, payload, qos=1, retain=is_retained)


async def _watched(client: _Client) -> None:
    """Throw away what a broker sends unasked; ends with the connection, and with its reason."""
    async for _ in client.messages:
        pass


def _no_passphrase() -> str:
    raise ValueError("the key has a passphrase")
