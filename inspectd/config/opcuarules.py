"""Rules about OPC UA: endpoints, nodes, and what may leave the machine unencrypted; without I/O."""

import ipaddress
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlparse

from inspectd.config.complaint import Complaint, CrossRule
from inspectd.config.schema import Line, OpcuaPlc, OpcuaServerPlc, OpcuaUser

__all__ = ["RULES", "is_loopback"]

_MARKS = ("{name}", "{group}", "{station}", "{ns}")
_NODE_ID = re.compile(r"(ns=(\d+|\{ns\});)?s=.+")
_SEGMENT = re.compile(r"((\d+|\{ns\}):)?[^/:]+")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine itself, as far as its name says."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def endpoint_is_opc_tcp(plc: OpcuaPlc) -> Iterator[Complaint]:
    """`endpoint` is `opc.tcp://HOST:PORT` and perhaps a path, without a user or password."""
    remedy = "write opc.tcp://HOST:PORT"
    try:
        url = urlparse(plc.endpoint)
        is_whole = url.scheme == "opc.tcp" and bool(url.hostname) and bool(url.port)
    except ValueError:  # a port that is no number, an address that is none
        url, is_whole = None, False
    if url is None or not is_whole:
        yield Complaint("endpoint", f"no endpoint with scheme, host and port; {remedy}")
    elif "@" in url.netloc:
        yield Complaint("endpoint", "a user does not belong here; give `user`, and its password")


def nodes_can_be_found(plc: OpcuaPlc) -> Iterator[Complaint]:
    """`nodes` is a node id or a path that is another one for each value.

    `{name}` stands in it, no other braces than those of the four marks do, and `{ns}` goes with
    `namespace_uri`.
    """
    rest = plc.nodes
    for mark in _MARKS:
        rest = rest.replace(mark, "")
    if "{name}" not in plc.nodes:
        yield Complaint("nodes", "all values would be one node; put `{name}` into it")
    elif "{" in rest or "}" in rest:
        known = ", ".join(f"`{mark}`" for mark in _MARKS)
        yield Complaint("nodes", f"only {known} may stand in braces; correct it")
    elif not _is_place(plc.nodes):
        what = (
            "neither a node id such as ns=2;s=Vision.{name} nor a path such as /2:Vision/2:{name}; "
            "correct it"
        )
        yield Complaint("nodes", what)
    if "{ns}" in plc.nodes and not plc.namespace_uri:
        yield Complaint("namespace_uri", "`{ns}` in `nodes` stands for its index; give it")
    if plc.namespace_uri and "{ns}" not in plc.nodes:
        yield Complaint("namespace_uri", "`nodes` has no `{ns}` that would use it; take it out")


def user_has_one_password(user: OpcuaUser) -> Iterator[Complaint]:
    """`user` has `password_file` or `password_env`, and not both."""
    if bool(user.password_file) == bool(user.password_env):
        what = "no password, or two; give exactly one of password_file and password_env"
        yield Complaint("", what)


def password_is_encrypted(plc: OpcuaPlc) -> Iterator[Complaint]:
    """`user` goes with `security`, but on this machine itself."""
    try:
        host = urlparse(plc.endpoint).hostname or ""
    except ValueError:
        return
    if plc.user is not None and plc.security is None and not is_loopback(host):
        what = "the password would cross the network readable for all; give `security`"
        yield Complaint("user", what)


def server_is_closed_to_strangers(plc: OpcuaServerPlc) -> Iterator[Complaint]:
    """A server beyond loopback has `security` and `user`: whoever writes to it triggers parts."""
    if is_loopback(plc.host):
        return
    for name, given in (("security", plc.security), ("user", plc.user)):
        if given is None:
            what = f"a server on {plc.host} needs `{name}`; give it, or listen on 127.0.0.1"
            yield Complaint("host", what)


def server_has_an_address(plc: OpcuaServerPlc) -> Iterator[Complaint]:
    """`host` of a server is an address, or localhost: a name may mean another interface later."""
    if not is_loopback(plc.host):
        try:
            ipaddress.ip_address(plc.host)
        except ValueError:
            what = "listen on an address, e.g. that of the interface to the PLC; 0.0.0.0 is all"
            yield Complaint("host", what)


def stations_share_no_nodes(line: Line) -> Iterator[Complaint]:
    """Stations at the same OPC UA `endpoint` have other `nodes` each (`{station}` makes it so)."""
    taken: dict[tuple[str, str], str] = {}
    for index, station in enumerate(line.stations):
        plc = station.plc
        if not isinstance(plc, OpcuaPlc):
            continue
        place = (plc.endpoint.lower().rstrip("/"), plc.nodes.replace("{station}", station.name))
        if place in taken:
            what = f"the nodes of station {taken[place]} too; put `{{station}}` into both"
            yield Complaint(f"stations[{index}].plc.nodes", what)
        taken[place] = station.name


def stations_share_no_server_port(line: Line) -> Iterator[Complaint]:
    """Every OPC UA server of a line has a port of its own."""
    taken: dict[int, str] = {}
    for index, station in enumerate(line.stations):
        if not isinstance(station.plc, OpcuaServerPlc):
            continue
        if station.plc.port in taken:
            what = f"the port of station {taken[station.plc.port]} too; choose another"
            yield Complaint(f"stations[{index}].plc.port", what)
        taken[station.plc.port] = station.name


RULES: tuple[tuple[type[Any], CrossRule], ...] = (
    (OpcuaPlc, endpoint_is_opc_tcp),
    (OpcuaPlc, nodes_can_be_found),
    (OpcuaPlc, password_is_encrypted),
    (OpcuaServerPlc, server_is_closed_to_strangers),
    (OpcuaServerPlc, server_has_an_address),
    (OpcuaUser, user_has_one_password),
    (Line, stations_share_no_nodes),
    (Line, stations_share_no_server_port),
)
"""Every rule, with the class of the objects it is asked about."""


def _is_place(nodes: str) -> bool:
    if nodes.startswith("/"):
        return all(_SEGMENT.fullmatch(part) for part in nodes[1:].split("/"))
    return _NODE_ID.fullmatch(nodes) is not None
