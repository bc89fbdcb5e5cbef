"""EDGE asyncua server: the station's values as nodes that the PLC reads, writes and subscribes to.

The group `plc` can be written by clients, everything else is read-only. Written against asyncua
2.1, whose weak points are covered here: users would be made administrators by their name, the
certificate of a session is not the one that signs (so it is the channel's that is checked), and
anybody may hold a connection (so their number is bounded, and idle ones are closed).
"""

import hmac
import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from typing import Any

from asyncua import Server, ua
from asyncua.common.callback import CallbackType
from asyncua.common.utils import ServiceError
from asyncua.crypto import uacrypto
from asyncua.crypto.permission_rules import User, UserRole
from cryptography import x509

from inspectd.config.schema import Line, OpcuaServerPlc, OpcuaUser
from inspectd.errors import PortBusy
from inspectd.plc.nodemap import SERVED_NAMESPACE
from inspectd.plc.nodes import type_name, values_of, words_of
from inspectd.plc.registers import GROUPS, PLC, Group
from inspectd.stages.sink.certificates import Identity, identity_of, objection_to, trusted_in
from inspectd.stages.sink.opcua_vision import VisionSystem
from inspectd.stages.sink.password import password_of

__all__ = ["StationServer"]

_SESSION_MIN_MS, _SESSION_MAX_MS = 1_000, 30_000
_ACTIVATION_S = 10.0
"""A connection that has not logged in by then is closed."""
_SUBSCRIPTIONS_PER_CLIENT = 10


class StationServer:
    """The server of one station; lives in one event loop."""

    def __init__(
        self, line: Line, station: int, log: Callable[..., None], on_plc: Callable[[], None]
    ) -> None:
        """Keep what it is for; nothing is opened before `start`.

        Args:
            line: The station file.
            station: Index of the station.
            log: `log(level, event, **fields)`.
            on_plc: Called when the PLC has written.
        """
        logging.getLogger("asyncua").setLevel(logging.CRITICAL + 1)
        ours = line.stations[station]
        assert isinstance(ours.plc, OpcuaServerPlc)  # noqa: S101 - the role exists for these only
        self._keys, self._name, self._log, self._on_plc = ours.plc, ours.name, log, on_plc
        self._uri = f"urn:inspectd:{line.line}:{ours.name}"
        self._identity: Identity | None = None
        self._server: Any = None
        self._nodes: dict[str, list[ua.NodeId]] = {}
        self._words = {group.name: [0] * group.words for group in GROUPS}
        self._writer: User | None = None
        """Who wrote the PLC's part last."""
        self.vision: VisionSystem | None = None
        self._recipe = line.digest
        self._is_simulated = ours.camera.kind == "replay"

    @property
    def endpoint(self) -> str:
        """Where clients connect."""
        host = f"[{self._keys.host}]" if ":" in self._keys.host else self._keys.host
        return f"opc.tcp://{host}:{self._keys.port}"

    async def start(self) -> None:
        """Make everything and listen.

        Raises:
            PortBusy: Somebody else has the port.
            UsageFault: A certificate or password cannot be used.
        """
        users = self._users()
        self._server = Server(user_manager=users)
        self._bound(self._server.iserver)
        await self._server.init()
        self._server.set_endpoint(self.endpoint)
        self._server.socket_address = (self._keys.host, self._keys.port)
        self._server.set_server_name(f"inspectd {self._name}")
        await self._secure(self._server)
        await self._server.set_application_uri(self._uri)
        index = await self._server.register_namespace(SERVED_NAMESPACE)
        await self._make_values(index)
        self.vision = VisionSystem(
            self._server,
            recipe=self._recipe,
            station=self._name,
            is_simulated=self._is_simulated,
        )
        await self.vision.build(index)
        self._server.subscribe_server_callback(CallbackType.PostWrite, self._note_write)
        try:
            await self._server.start()
        except OSError as error:
            raise PortBusy(self.endpoint, "end its owner, or change plc.port") from error

    async def stop(self) -> None:
        """Say goodbye to all clients and close."""
        if self._server is not None and self._server.bserver is not None:
            await self._server.stop()

    @property
    def is_plc_there(self) -> bool:
        """Whether the client that wrote the PLC's part last is still logged in."""
        sessions = self._server.iserver._external_sessions.values()  # noqa: SLF001 - no other way
        return any(one.user is self._writer and one.is_activated() for one in sessions)

    def words(self, group: Group) -> tuple[int, ...]:
        """A group as it stands."""
        return tuple(self._words[group.name])

    async def put(self, group: Group, words: Sequence[int]) -> None:
        """Write the first words of a group into its nodes: whole, in the order of the table.

        Nothing is read or written by a client in between: the event loop is not given away.
        """
        known = self._words[group.name]
        now = datetime.now(timezone.utc)
        before = values_of(group, known)
        known[: len(words)] = words
        values = values_of(group, words)
        for node, register, old, value in zip(
            self._nodes[group.name], group.registers, before, values, strict=False
        ):
            if old != value:
                variant = ua.Variant(value, ua.VariantType[type_name(register)])
                stamped = ua.DataValue(Value=variant, SourceTimestamp=now)
                await self._server.write_attribute_value(node, stamped)

    def _users(self) -> "_Users":
        keys = self._keys
        trusted: tuple[x509.Certificate, ...] = ()
        if keys.security is not None:
            self._identity = identity_of(keys.security.certificate, keys.security.private_key)
            self._uri = self._identity.uri
            trusted = trusted_in(keys.security.trusted)
        password = "" if keys.user is None else password_of(keys.user)
        return _Users(keys.user, password, trusted if self._identity else None, self._log)

    def _bound(self, internal: Any) -> None:
        """Limit what clients can hold."""
        internal.min_session_timeout_ms = _SESSION_MIN_MS
        internal.max_session_timeout_ms = _SESSION_MAX_MS
        internal.max_connections = self._keys.clients_max
        internal.max_subscriptions = _SUBSCRIPTIONS_PER_CLIENT * self._keys.clients_max
        internal.max_pending_activation_seconds = _ACTIVATION_S
        internal.allow_remote_admin = False
        internal.match_discovery_source_ip = True

    async def _secure(self, server: Server) -> None:
        is_named = self._keys.user is not None
        server.set_identity_tokens(
            [ua.UserNameIdentityToken if is_named else ua.AnonymousIdentityToken]
        )
        if self._identity is None:
            server.set_security_policy([ua.SecurityPolicyType.NoSecurity])
            return
        server.set_security_policy([ua.SecurityPolicyType.Basic256Sha256_SignAndEncrypt])
        server.iserver.certificate = self._identity.certificate
        server.iserver.private_key = self._identity.private_key

    async def _make_values(self, index: int) -> None:
        """One object a station, one a group, one variable a value; ids as `plc-map` prints them."""
        root = await self._server.nodes.objects.add_object(
            ua.NodeId(self._name, index), ua.QualifiedName(self._name, index)
        )
        for group in GROUPS:
            place = f"{self._name}.{group.name}"
            folder = await root.add_object(
                ua.NodeId(place, index), ua.QualifiedName(group.name, index)
            )
            self._nodes[group.name] = []
            for register in group.registers:
                node = await folder.add_variable(
                    ua.NodeId(f"{place}.{register.name}", index),
                    ua.QualifiedName(register.name, index),
                    ua.Variant(0, ua.VariantType[type_name(register)]),
                )
                if group.writer == "PLC":
                    await node.set_writable()
                self._nodes[group.name].append(node.nodeid)

    def _note_write(self, event: Any, _service: Any) -> None:
        """Take over what a client wrote."""
        if not event.is_external:
            return
        ours = set(self._nodes[PLC.name])
        written = {
            value.NodeId
            for value, code in zip(
                event.request_params.NodesToWrite, event.response_params, strict=True
            )
            if code.is_good()
        }
        if not written & ours:
            return
        self._writer = event.user
        space = self._server.iserver.aspace
        values = [
            space.read_attribute_value(node, ua.AttributeIds.Value).Value.Value or 0
            for node in self._nodes[PLC.name]
        ]
        self._words[PLC.name] = words_of(PLC, values)
        self._on_plc()


class _Users:
    """Who may log in: each login is a `User` of its own, never an administrator."""

    def __init__(
        self,
        user: OpcuaUser | None,
        password: str,
        trusted: tuple[x509.Certificate, ...] | None,
        log: Callable[..., None],
    ) -> None:
        self._user, self._password, self._trusted, self._log = user, password, trusted, log

    def get_user(
        self,
        iserver: Any,  # noqa: ARG002 - of asyncua
        username: str | None = None,
        password: str | None = None,
        certificate: Any = None,
    ) -> User | None:
        """Admit or refuse a login; `certificate` is the one that signed it."""
        if self._trusted is not None:
            theirs = uacrypto.x509_from_der(certificate)
            now = datetime.now(timezone.utc)
            objection = (
                "it has no certificate"
                if theirs is None
                else objection_to(theirs, self._trusted, now)
            )
            if objection:
                self._log("warning", "opcua_login_refused", why=objection)
                raise ServiceError(ua.StatusCodes.BadCertificateUntrusted)
        if self._user is None:
            return User(role=UserRole.User)
        is_known = username == self._user.name
        is_right = hmac.compare_digest((password or "").encode(), self._password.encode())
        if is_known and is_right:
            return User(role=UserRole.User, name=username)
        self._log("warning", "opcua_login_refused", why="wrong user name or password")
        return None
