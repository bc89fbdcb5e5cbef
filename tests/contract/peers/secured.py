"""An OPC UA server that wants certificates and a password, in this process, for tests."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from asyncua import Server, ua
from asyncua.common.utils import ServiceError
from asyncua.crypto.permission_rules import User, UserRole

from inspectd.config.schema import OpcuaPlc, OpcuaSecurity, OpcuaUser
from inspectd.plc.nodes import WORD_ORDER, type_name, values_of
from inspectd.plc.registers import PLC, PlcPart, encode_plc
from inspectd.stages.sink.selfsigned import Pair, make
from tests.contract.peers.opcua_server import NAMESPACE, NODES, add_values
from tests.contract.peers.peer import free_port

__all__ = ["PASSWORD", "Secured", "pair_in", "serving"]

PASSWORD = "out of the file"  # noqa: S105 - of a test
_USER = "vision"
_SERVER_URI = "urn:plc:server"


@dataclass
class Secured:
    """A server at work, and the folder with everybody's certificates."""

    folder: Path
    port: int
    server: Any
    loop: asyncio.AbstractEventLoop
    index: int = 0
    refusal: list[int] = field(default_factory=list)
    """A status code that every session is refused with."""

    def keys(self, **other: Any) -> OpcuaPlc:
        """What the station file says of it, unless told otherwise."""
        ours = self.folder / "vision"
        keys: dict[str, Any] = {
            "endpoint": f"opc.tcp://127.0.0.1:{self.port}",
            "nodes": NODES,
            "namespace_uri": NAMESPACE,
            "security": security(self.folder, trusted=self.folder / "plc.pem"),
            "user": OpcuaUser(name=_USER, password_file=str(self.folder / "password")),
            "timeout_ms": 1000,
            "connect_timeout_ms": 3000,
        }
        assert ours.with_suffix(".pem").exists()
        return OpcuaPlc(kind="opcua", **{**keys, **other})

    def within(self, work: Any) -> Any:
        """Do something in the server's event loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(20)

    @property
    def sessions(self) -> int:
        """How many clients have one."""
        return len(self.server.iserver._external_sessions)

    def set(self, value_of: str, data: ua.DataValue) -> None:
        """Put a value into a node, e.g. `plc.plc_heartbeat`."""
        node = ua.NodeId(f"Vision.{value_of}", self.index)
        self.within(self.server.write_attribute_value(node, data))


def pair_in(folder: Path, name: str, **other: Any) -> Pair:
    """Make a pair and write it; answers it as well."""
    made: dict[str, Any] = {"uri": f"urn:test:{name}", "hosts": ["127.0.0.1"], "days": 2, **other}
    pair = make(name, made["uri"], made["hosts"], made["days"], made.get("first"))
    (folder / f"{name}.pem").write_bytes(pair.certificate_pem)
    (folder / f"{name}.key.pem").write_bytes(pair.key_pem)
    (folder / f"{name}.key.pem").chmod(0o600)
    return pair


def security(folder: Path, *, trusted: Path, ours: str = "vision", **other: Any) -> OpcuaSecurity:
    """Our own files, and whom we trust."""
    return OpcuaSecurity(
        certificate=str(folder / f"{ours}.pem"),
        private_key=str(folder / f"{ours}.key.pem"),
        trusted=str(trusted),
        **other,
    )


class _Users:
    """One user with one password."""

    def get_user(
        self, _server: Any, username: str | None = None, password: str | None = None, **_: Any
    ) -> User | None:
        """Admit or refuse."""
        is_right = (username, password) == (_USER, PASSWORD)
        return User(role=UserRole.User) if is_right else None


@contextmanager
def serving(
    folder: Path,
    *,
    hosts: tuple[str, ...] = ("127.0.0.1",),
    first: datetime | None = None,
    is_secured: bool = True,
) -> Iterator[Secured]:
    """A server with a certificate for these hosts, valid for two days from `first` on."""
    plc = pair_in(folder, "plc", uri=_SERVER_URI, hosts=hosts, first=first)
    pair_in(folder, "vision")
    pair_in(folder, "stranger")
    (folder / "password").write_text(PASSWORD + "\n")
    (folder / "password").chmod(0o600)
    made = Secured(folder, free_port(), None, asyncio.new_event_loop())
    listening, stopping = threading.Event(), asyncio.Event()

    async def validate(*_of_client: Any) -> None:
        if made.refusal:
            raise ServiceError(made.refusal[0])

    async def play() -> None:
        server = Server(user_manager=_Users())
        await server.init()
        server.set_endpoint(f"opc.tcp://127.0.0.1:{made.port}")
        if is_secured:
            server.set_security_policy([ua.SecurityPolicyType.Basic256Sha256_SignAndEncrypt])
            await server.load_certificate(plc.certificate_der, "der")
            await server.load_private_key(plc.key_pem, None, "pem")
        else:
            server.set_security_policy([ua.SecurityPolicyType.NoSecurity])
        await server.set_application_uri(_SERVER_URI)
        made.index = await server.register_namespace(NAMESPACE)
        await add_values(server, made.index)
        await _be_a_plc(server, made.index)
        server.iserver.certificate_validator = validate
        server.iserver.min_session_timeout_ms = 1000
        await server.start()
        made.server = server
        listening.set()
        await stopping.wait()
        await server.stop()

    thread = threading.Thread(target=lambda: made.loop.run_until_complete(play()))
    thread.start()
    try:
        assert listening.wait(60), "asyncua does not listen"
        yield made
    finally:
        made.loop.call_soon_threadsafe(stopping.set)
        thread.join(20)
        made.loop.close()


async def _be_a_plc(server: Any, index: int) -> None:
    values = values_of(PLC, encode_plc(PlcPart(), WORD_ORDER))
    for register, value in zip(PLC.registers, values, strict=True):
        variant = ua.Variant(value, ua.VariantType[type_name(register)])
        node = ua.NodeId(f"Vision.{PLC.name}.{register.name}", index)
        await server.write_attribute_value(node, ua.DataValue(variant))
