"""The PLC by OPC UA: inspectd as the client of its server, or as the server."""

from dataclasses import dataclass
from typing import Literal

from inspectd.config.schema.fieldbus import FieldbusPlc
from inspectd.config.schema.key import key

__all__ = ["OpcuaPlc", "OpcuaSecurity", "OpcuaServerPlc", "OpcuaUser"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpcuaSecurity:
    """Signed and encrypted messages (Basic256Sha256, SignAndEncrypt), with certificates."""

    certificate: str = key(nonempty=True, is_path=True)
    """Our own certificate, PEM or DER (`inspectd opcua-cert` makes one)."""
    private_key: str = key(nonempty=True, is_path=True)
    """Its key, PEM or DER without a password; readable by inspectd's user only."""
    trusted: str = key(nonempty=True, is_path=True)
    """Whom to believe: a certificate, or a folder of them. Each is the other side's own one, or
    that of the authority that signed it."""
    check_host: bool = key(True)
    """The client refuses a server whose certificate names other hosts than the endpoint. false for
    PLCs whose certificates name none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpcuaUser:
    """A user name with its password, which never stands in the station file."""

    name: str = key(nonempty=True)
    """The user."""
    password_file: str = key("", is_path=True)
    """The first line of this file is the password; readable by inspectd's user only."""
    password_env: str = key("")
    """Instead: the environment variable that holds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpcuaPlc(FieldbusPlc):
    """Verdicts by OPC UA into the PLC's server: each group in one Write, the sequence last."""

    kind: Literal["opcua"] = key()
    endpoint: str = key(nonempty=True)
    """Of the PLC's server, e.g. `opc.tcp://192.168.0.10:4840`."""
    nodes: str = key(nonempty=True)
    """Where the values lie, one node each: a node id, e.g. `ns={ns};s=Vision.{group}.{name}`, or a
    path from the folder Objects, e.g. `/{ns}:Vision/{ns}:{group}/{ns}:{name}`. `{name}` must stand
    in it; `{group}`, `{station}` and `{ns}` may. `inspectd plc-map` lists the nodes."""
    namespace_uri: str = key("")
    """Whose index `{ns}` stands for; the index itself may change when the PLC is restarted."""
    security: OpcuaSecurity | None = key(None)
    """Certificates; none: messages are neither signed nor encrypted."""
    user: OpcuaUser | None = key(None)
    """Who logs in; none: anonymous."""
    connect_timeout_ms: float = key(2000.0, gt=0, le=3000)
    """For all of connecting: small PLCs take long for their certificates."""
    session_timeout_ms: float = key(10000.0, ge=1000, le=60000)
    """The PLC forgets a session that was silent for so long: after a hard end of inspectd, its few
    sessions are free again after that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpcuaServerPlc(FieldbusPlc):
    """Verdicts by OPC UA from our own server, in a process of its own; the PLC is the client."""

    kind: Literal["opcua_server"] = key()
    host: str = key("127.0.0.1", nonempty=True)
    """Address to listen on. Other than loopback needs `security` and `user`."""
    port: int = key(4840, ge=1, le=65535)
    """TCP port; stations have one each."""
    security: OpcuaSecurity | None = key(None)
    """Certificates; none: messages are neither signed nor encrypted, on loopback only."""
    user: OpcuaUser | None = key(None)
    """Who may log in; none: anybody, on loopback only."""
    clients_max: int = key(5, ge=1, le=50)
    """Connections at a time, the PLC's included."""
