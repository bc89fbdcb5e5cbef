"""EDGE asyncua client: a session with the PLC's server, and where the values lie in it.

Written against asyncua 2.1. Its own watchdog and reconnection stay off: a connection is given up at
the first failure, and the sink decides when to try again. The server's certificate is checked here,
before anything is encrypted for it, so that the fault says which check failed.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import NamedTuple
from urllib.parse import urlparse

from asyncua import Client, ua
from asyncua.crypto import uacrypto
from asyncua.crypto.security_policies import SecurityPolicyBasic256Sha256

from inspectd.config.schema import OpcuaPlc, OpcuaSecurity
from inspectd.errors import PlcFault
from inspectd.plc.nodes import place_of, type_name
from inspectd.plc.registers import GROUPS, Register
from inspectd.stages.sink.certificates import identity_of, objection_to, trusted_in
from inspectd.stages.sink.password import password_of

__all__ = ["Place", "connect", "disconnect", "find_places", "is_good", "type_trouble"]

_SECURED = ua.MessageSecurityMode.SignAndEncrypt
_GOODBYE_S = 0.05
"""So long an answer to a goodbye is waited for. It is sent in any case: a PLC that was frozen frees
the session when it thaws."""
_MAP = "compare the PLC's nodes with `inspectd plc-map`"
_STATUS_BITS = 0xFFFF0000
"""The lower half of a status code are remarks (OPC 10000-4, 7.39)."""


class Place(NamedTuple):
    """Where one value lies."""

    register: Register
    text: str
    """As the station file says it, for people."""
    node: ua.NodeId

    def __str__(self) -> str:
        return f"node {self.text}"


async def connect(keys: OpcuaPlc, channel_lifetime_ms: int) -> Client:
    """Open a secure channel and a session; the caller bounds the time.

    Raises:
        PlcFault: The server is not what the station file says; or what asyncua raises.
        UsageFault: One of our own files cannot be used.
    """
    client = Client(keys.endpoint, timeout=keys.connect_timeout_ms / 1000)
    client.name = client.description = "inspectd"
    client.application_uri = "urn:inspectd:client"
    client.session_timeout = int(keys.session_timeout_ms)
    client.secure_channel_timeout = channel_lifetime_ms
    user = keys.user
    password = None if user is None else password_of(user)
    if keys.security is not None:
        await _secure(client, keys, keys.security)
    try:
        await client.connect_socket()
        await client.send_hello()
        await client.open_secure_channel()
        await client.create_session()
        await client.activate_session(user.name if user else None, password)
    except BaseException:
        await disconnect(client)
        raise
    return client


async def disconnect(client: Client) -> None:
    """Close session, channel and socket, as far as they are open; waits 0.05 s at most."""
    with contextlib.suppress(ua.UaError, OSError, asyncio.TimeoutError):
        await asyncio.wait_for(client.uaclient.close_session(delete_subscriptions=True), _GOODBYE_S)
    with contextlib.suppress(ua.UaError, OSError):
        await client.uaclient.close_secure_channel()
    client.disconnect_socket()
    await asyncio.sleep(0)  # the transport leaves the loop


async def _secure(client: Client, keys: OpcuaPlc, security: OpcuaSecurity) -> None:
    """Choose the server's encrypted endpoint, and believe its certificate or say why not."""
    ours = identity_of(security.certificate, security.private_key)
    trusted = trusted_in(security.trusted)
    finder = Client(keys.endpoint, timeout=keys.connect_timeout_ms / 1000)
    offered = await finder.connect_and_get_server_endpoints()
    endpoint = _secured_among(offered, keys.endpoint)
    try:
        theirs = uacrypto.x509_from_der(endpoint.ServerCertificate)
    except ValueError as error:
        what = f"its certificate cannot be read ({error})"
        raise PlcFault(keys.endpoint, what, "have the PLC make a new one") from error
    if theirs is None:
        raise PlcFault(keys.endpoint, "it has no certificate", "have the PLC make one")
    objection = objection_to(
        theirs,
        trusted,
        datetime.now(timezone.utc),
        host=(urlparse(keys.endpoint).hostname or "") if security.check_host else "",
        uri=endpoint.Server.ApplicationUri or "",
    )
    if objection:
        raise PlcFault(keys.endpoint, objection, _remedy_for(objection))
    client.application_uri = ours.uri
    client.security_policy = SecurityPolicyBasic256Sha256(
        theirs, ours.certificate, ours.private_key, _SECURED
    )
    client.uaclient.set_security(client.security_policy)


def _secured_among(offered: Sequence[ua.EndpointDescription], peer: str) -> ua.EndpointDescription:
    for endpoint in offered:
        is_secured = endpoint.SecurityMode == _SECURED
        if is_secured and endpoint.SecurityPolicyUri == SecurityPolicyBasic256Sha256.URI:
            return endpoint
    names = {f"{(one.SecurityPolicyUri or '').rpartition('#')[2]}" for one in offered}
    raise PlcFault(
        peer,
        f"it offers no Basic256Sha256 with SignAndEncrypt, only {', '.join(sorted(names))}",
        "switch the policy on in the PLC's server",
    )


def _remedy_for(objection: str) -> str:
    if "not trusted" in objection:
        return "when it is the PLC's, put it into plc.security.trusted"
    if "not for the host" in objection:
        return "have the PLC make one with its address, or set plc.security.check_host: false"
    return "have the PLC make a new one, and put it into plc.security.trusted"


async def find_places(client: Client, keys: OpcuaPlc, station: str) -> dict[str, list[Place]]:
    """Find the node of every value, by group, and make sure that each has the right type.

    Raises:
        PlcFault: A node is missing or of another type; or what asyncua raises.
    """
    namespace = ""
    if keys.namespace_uri:
        known = await client.get_namespace_array()
        if keys.namespace_uri not in known:
            what = f"it has no namespace {keys.namespace_uri}, only {', '.join(known)}"
            raise PlcFault(keys.endpoint, what, "correct plc.namespace_uri")
        namespace = str(known.index(keys.namespace_uri))
    wanted = [(group, register) for group in GROUPS for register in group.registers]
    texts = [
        place_of(keys.nodes, station=station, group=group, register=register, namespace=namespace)
        for group, register in wanted
    ]
    nodes = await (_by_path if keys.nodes.startswith("/") else _by_id)(client, keys, texts)
    places: dict[str, list[Place]] = {group.name: [] for group in GROUPS}
    for (group, register), text, node in zip(wanted, texts, nodes, strict=True):
        places[group.name].append(Place(register, text, node))
    await _check_types(client, keys, [place for group in places.values() for place in group])
    return places


async def _by_id(_client: Client, keys: OpcuaPlc, texts: Sequence[str]) -> list[ua.NodeId]:
    try:
        return [ua.NodeId.from_string(text) for text in texts]
    except ua.UaError as error:
        raise PlcFault(keys.endpoint, str(error), "correct plc.nodes") from error


async def _by_path(client: Client, keys: OpcuaPlc, texts: Sequence[str]) -> list[ua.NodeId]:
    answers = await client.uaclient.translate_browsepaths_to_nodeids([_path(one) for one in texts])
    nodes: list[ua.NodeId] = []
    for text, answer in zip(texts, answers, strict=True):
        if not is_good(answer.StatusCode) or len(answer.Targets) != 1:
            name = answer.StatusCode.name if not is_good(answer.StatusCode) else "no single node"
            raise PlcFault(keys.endpoint, f"path {text}: {name}", f"correct plc.nodes; {_MAP}")
        nodes.append(answer.Targets[0].TargetId)
    return nodes


def _path(text: str) -> ua.BrowsePath:
    """A path such as `/2:Vision/2:head/2:status`, from the folder Objects."""
    elements = [
        ua.RelativePathElement(
            ReferenceTypeId=ua.NodeId(ua.ObjectIds.HierarchicalReferences),
            IsInverse=False,
            IncludeSubtypes=True,
            TargetName=ua.QualifiedName.from_string(part),
        )
        for part in text.strip("/").split("/")
    ]
    start = ua.NodeId(ua.ObjectIds.ObjectsFolder)
    return ua.BrowsePath(StartingNode=start, RelativePath=ua.RelativePath(Elements=elements))


async def _check_types(client: Client, keys: OpcuaPlc, places: Sequence[Place]) -> None:
    wanted = [ua.ReadValueId(NodeId=one.node, AttributeId=ua.AttributeIds.Value) for one in places]
    answers = await client.uaclient.read(ua.ReadParameters(NodesToRead=wanted))
    for place, answer in zip(places, answers, strict=True):
        trouble = type_trouble(place, answer)
        if trouble:
            raise PlcFault(keys.endpoint, trouble, _MAP)


def type_trouble(place: Place, answer: ua.DataValue) -> str:
    """Say why a value that was read cannot be used; empty: it can."""
    if not is_good(answer.StatusCode):
        name = "" if answer.StatusCode is None else answer.StatusCode.name
        return f"{place}: {name}"
    wanted = type_name(place.register)
    variant = answer.Value
    found = "nothing" if variant is None else variant.VariantType.name
    if variant is None or found != wanted or variant.is_array:
        shape = "an array of " if variant is not None and variant.is_array else ""
        return f"{place} is {shape}{found}, not {wanted}"
    return ""


def is_good(code: ua.StatusCode | None) -> bool:
    """Whether a status is Good, and nothing less: not Uncertain, not "completes later"."""
    return code is None or code.value & _STATUS_BITS == 0
