"""What a station file may say about OPC UA."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from inspectd.config.load import line_of
from inspectd.errors import StationFaults

EXAMPLE = Path(__file__).parents[3] / "stations" / "demo.yaml"
NAME = "s=Vision.{name}"
SECURED = {"certificate": "a.pem", "private_key": "a.key.pem", "trusted": "plc.der"}
USER = {"name": "vision", "password_env": "PLC_PASSWORD"}
CLIENT = {"kind": "opcua", "endpoint": "opc.tcp://10.0.0.5:4840", "nodes": NAME}
SERVER = {"kind": "opcua_server"}


def faults_of(*plcs: dict[str, Any]) -> list[tuple[str, str]]:
    """Key and words of every fault of a line whose stations have these PLCs."""
    document = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    station = document["stations"][0]
    document["stations"] = [
        {**station, "name": f"s{index}", "plc": plc} for index, plc in enumerate(plcs)
    ]
    text = json.dumps(document).encode()
    try:
        line_of(text, str(EXAMPLE), must_exist=False)
    except StationFaults as faults:
        return [(fault.key, fault.what) for fault in faults.faults]
    return []


@pytest.mark.parametrize(
    "plc",
    [
        CLIENT,
        {**CLIENT, "nodes": "ns=4;s=Vision.{group}.{name}"},
        {**CLIENT, "nodes": 'ns={ns};s="Vision"."{group}"."{name}"', "namespace_uri": "urn:plc"},
        {**CLIENT, "nodes": "/{ns}:Vision/{ns}:{name}", "namespace_uri": "urn:plc"},
        {**CLIENT, "nodes": "/2:Vision/2:{station}/2:{name}"},
        {**CLIENT, "endpoint": "opc.tcp://[::1]:4840/path", "user": USER},
        {**CLIENT, "security": SECURED, "user": USER},
        SERVER,
        {**SERVER, "host": "::1", "user": USER},
        {**SERVER, "host": "0.0.0.0", "security": SECURED, "user": USER},
    ],
)
def test_what_can_work_is_no_fault(plc: dict[str, Any]) -> None:
    """Node ids, paths, certificates and users in all combinations that make sense."""
    assert faults_of(plc) == []


@pytest.mark.parametrize(
    ("plc", "key", "says"),
    [
        ({**CLIENT, "endpoint": "http://10.0.0.5:4840"}, "endpoint", "write opc.tcp://HOST:PORT"),
        ({**CLIENT, "endpoint": "opc.tcp://10.0.0.5"}, "endpoint", "write opc.tcp://HOST:PORT"),
        ({**CLIENT, "endpoint": "opc.tcp://a:b"}, "endpoint", "write opc.tcp://HOST:PORT"),
        ({**CLIENT, "endpoint": "opc.tcp://u:p@a:1"}, "endpoint", "give `user`"),
        ({**CLIENT, "nodes": "s=Vision"}, "nodes", "put `{name}` into it"),
        ({**CLIENT, "nodes": "s={part}.{name}"}, "nodes", "may stand in braces"),
        ({**CLIENT, "nodes": "Vision.{name}"}, "nodes", "neither a node id"),
        ({**CLIENT, "nodes": "/2:Vision//{name}"}, "nodes", "neither a node id"),
        ({**CLIENT, "nodes": "ns={ns};s={name}"}, "namespace_uri", "give it"),
        ({**CLIENT, "namespace_uri": "urn:plc"}, "namespace_uri", "take it out"),
        ({**CLIENT, "user": USER}, "user", "readable for all; give `security`"),
        ({**CLIENT, "user": {"name": "a"}, "security": SECURED}, "user", "exactly one of"),
        (
            {**CLIENT, "user": {**USER, "password_file": "p"}, "security": SECURED},
            "user",
            "exactly one of",
        ),
        ({**CLIENT, "heartbeat_ms": 50}, "heartbeat_ms", "below timeout_ms"),
        ({**SERVER, "host": "0.0.0.0", "user": USER}, "host", "needs `security`"),
        ({**SERVER, "host": "10.0.0.1", "security": SECURED}, "host", "needs `user`"),
        (
            {**SERVER, "host": "vision.local", "security": SECURED, "user": USER},
            "host",
            "listen on an address",
        ),
    ],
)
def test_what_cannot_work_or_is_open_to_all_is_a_fault(
    plc: dict[str, Any], key: str, says: str
) -> None:
    """One sentence at the key, which ends with the remedy."""
    found = [(at, what) for at, what in faults_of(plc) if at.startswith("stations[0].plc")]
    assert [at for at, _ in found] == [f"stations[0].plc.{key}"]
    assert says in found[0][1]


def test_two_stations_need_different_nodes_in_one_server() -> None:
    """`{station}` in the pattern makes them so."""
    ((key, what),) = faults_of(CLIENT, CLIENT)
    assert (key, "put `{station}` into both" in what) == ("stations[1].plc.nodes", True)
    apart = {**CLIENT, "nodes": "s={station}.{name}"}
    assert faults_of(apart, apart) == []


def test_two_servers_of_a_line_need_different_ports() -> None:
    """They are two processes."""
    ((key, what),) = faults_of(SERVER, SERVER)
    assert (key, "choose another" in what) == ("stations[1].plc.port", True)
    assert faults_of(SERVER, {**SERVER, "port": 4841}) == []
