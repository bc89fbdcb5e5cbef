"""PLCs for tests: each kind of fieldbus says how its PLC is started and how we talk to it.

A kind that wants to pass the suite of `tests.contract.peers.suite` is one more `Kind`.
"""

import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inspectd.config.schema import OpcuaPlc
from inspectd.stages.sink.port import Plc
from tests.contract.peers.memory import BASE

__all__ = ["KINDS", "Kind", "Peer", "Stranger", "free_port", "playing"]

ROOT = Path(__file__).parents[3]
FETCHED = ROOT / "build" / "peers"
"""Where `make peers` puts what is no Python package of the test environment."""


@dataclass(frozen=True)
class Stranger:
    """A client whose keys do not fit the PLC, and what it must say about it."""

    label: str
    client: Callable[[int], Plc]
    says: str
    """A regular expression."""


@dataclass(frozen=True)
class Kind:
    """One kind of fieldbus, with one server that is a PLC of it."""

    name: str
    client: Callable[[int, float], Plc]
    """Our side, of a port and a time-out in milliseconds."""
    missing: Callable[[], str] = lambda: ""
    """Why it cannot be tried here; empty: it can."""
    environment: dict[str, str] = field(default_factory=dict)
    shift_says: str | None = None
    """What is said of a block one register beside its place, as a regular expression."""
    constants: dict[str, str] = field(default_factory=dict)
    """What is said of each wrong test constant, as regular expressions."""
    strangers: tuple[Stranger, ...] = ()


@dataclass
class Peer:
    """A PLC at work in a process of its own."""

    kind: Kind
    port: int
    player: "subprocess.Popen[str]"
    server: int
    """The process that serves; it may be the player."""
    clients: list[Plc] = field(default_factory=list)
    """Closed at the end, whatever the test came to."""

    def client(self, timeout_ms: float = 1000, port: int | None = None) -> Plc:
        """Our side of the wire, perhaps by way of another port."""
        client = self.kind.client(self.port if port is None else port, timeout_ms)
        self.clients.append(client)
        return client

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """The server stands still, its sockets stay open: as a PLC that hangs."""
        os.kill(self.server, signal.SIGSTOP)
        try:
            while not _stands_still(self.server):
                time.sleep(0.001)
            yield
        finally:
            os.kill(self.server, signal.SIGCONT)

    def report(self) -> dict[str, Any]:
        """End it; what its program has booked."""
        self.player.send_signal(signal.SIGTERM)
        out, _ = self.player.communicate(timeout=20)
        report: dict[str, Any] = json.loads(out)
        return report


@contextmanager
def playing(kind: Kind, *options: str) -> Iterator[Peer]:
    """A PLC of a kind, with its program running."""
    port = free_port()
    player = subprocess.Popen(
        [
            *(sys.executable, "-m", "tests.contract.peers.player"),
            *(kind.name, "--port", str(port), *options),
        ],
        cwd=ROOT,
        env={**os.environ, **kind.environment},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert player.stdout is not None
        said = player.stdout.readline()
        assert said.strip(), f"the PLC ({kind.name}) did not start; its own words are above"
        peer = Peer(kind, port, player, int(said))
        try:
            yield peer
        finally:
            for client in peer.clients:
                client.close()
    finally:
        player.kill()
        player.communicate()


def _stands_still(process: int) -> bool:
    """Whether every thread of a process has taken note of SIGSTOP."""
    stats = [path.read_text() for path in Path(f"/proc/{process}/task").glob("*/stat")]
    return all(stat.rpartition(")")[2].split()[0] == "T" for stat in stats)


def free_port() -> int:
    """A TCP port that nobody has at the moment."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def _modbus(port: int, timeout_ms: float, **other: Any) -> Plc:
    from inspectd.stages.sink.modbus import ModbusPeer  # noqa: PLC0415 - as others do

    keys: dict[str, Any] = {"device_id": 1, "base_register": BASE, "word_order": "high_first"}
    return ModbusPeer("127.0.0.1", port, timeout_ms=timeout_ms, **{**keys, **other})


def _s7(port: int, timeout_ms: float, **other: Any) -> Plc:
    from inspectd.stages.sink.s7 import S7Peer  # noqa: PLC0415 - optional

    keys: dict[str, Any] = {"rack": 0, "slot": 1, "db": 7, "start_byte": 4}
    return S7Peer("127.0.0.1", port, timeout_ms=timeout_ms, **{**keys, **other})


def _ethernet_ip(port: int, timeout_ms: float, tag_prefix: str = "Inspectd") -> Plc:
    from inspectd.stages.sink.ethernet_ip import EthernetIpPeer  # noqa: PLC0415 - optional

    return EthernetIpPeer("127.0.0.1", port, slot=0, tag_prefix=tag_prefix, timeout_ms=timeout_ms)


def _opcua(port: int, timeout_ms: float, **other: Any) -> Plc:
    from inspectd.stages.sink.opcua import OpcuaPeer  # noqa: PLC0415 - optional
    from tests.contract.peers.opcua_server import NAMESPACE, NODES  # noqa: PLC0415 - optional

    keys: dict[str, Any] = {"nodes": NODES, "namespace_uri": NAMESPACE, **other}
    endpoint = f"opc.tcp://127.0.0.1:{port}"
    made = OpcuaPlc(
        kind="opcua", endpoint=endpoint, timeout_ms=timeout_ms, connect_timeout_ms=1000, **keys
    )
    return OpcuaPeer(made, "one")


def _lacks(*modules: str) -> Callable[[], str]:
    def missing() -> str:
        absent = [one for one in modules if importlib.util.find_spec(one) is None]
        return f"not installed: {', '.join(absent)} (pip install --group test)" if absent else ""

    return missing


def _lacks_native() -> str:
    folder = FETCHED / "snap7-native" / "snap7"
    return "" if folder.is_dir() else "the native Snap7 server is not here: `make peers`"


def _lacks_npm() -> str:
    if shutil.which("node") is None:
        return "node is not installed"
    folder = FETCHED / "npm" / "node_modules" / "modbus-serial"
    return "" if folder.is_dir() else "modbus-serial of npm is not here: `make peers`"


def _lacks_npm_opcua() -> str:
    if shutil.which("node") is None:
        return "node is not installed"
    folder = FETCHED / "npm" / "node_modules" / "node-opcua"
    return "" if folder.is_dir() else "node-opcua of npm is not here: `make peers`"


_MODBUS_SAYS = {
    "words_exchanged": r"two words exchanged; set plc\.word_order: low_first",
    "bytes_exchanged": r"bytes exchanged within the words",
    "absent": r"hold 0x00000000, not 0x1a2b3c4d; let the PLC write its test constant",
}
_MODBUS_STRANGERS = (
    Stranger(
        "register beyond the last one",
        lambda port: _modbus(port, 1000, base_register=5000),
        "error answer 2; compare",
    ),
)
_S7_SAYS = {
    "words_exchanged": r"DB7\.DBD\d+ has its two words exchanged; let it be one UDInt",
    "bytes_exchanged": r"DB7\.DBD\d+ has its bytes exchanged",
    "absent": r"DB7\.DBD\d+ holds 0x00000000, not 0x1a2b3c4d; let the PLC write its test constant",
}
_S7_STRANGERS = (
    Stranger(
        "no such data block", lambda port: _s7(port, 1000, db=99), r"DB99 .*must exist \(plc\.db\)"
    ),
    Stranger(
        "data block too short",
        lambda port: _s7(port, 1000, db=8),
        r"DB8 .*reach to its last byte",
    ),
)
_TAG_SAYS = {
    "words_exchanged": r"_plc\[0\] holds 0x3c4d1a2b.*words are exchanged; write it as one DINT",
    "bytes_exchanged": r"_plc\[0\] holds 0x2b1a4d3c.*bytes are exchanged",
    "absent": r"_plc\[0\] holds 0x00000000, not 0x1a2b3c4d; let the PLC write its test constant",
}
_TAG_STRANGERS = (
    Stranger(
        "no such tag",
        lambda port: _ethernet_ip(port, 1000, "Nobody"),
        r"error answer `Path destination unknown`; the controller needs the tag Nobody_head : DINT",
    ),
    Stranger(
        "tags of another type",
        lambda port: _ethernet_ip(port, 1000, "Wrong"),
        r"Wrong_head is made of INT; make it DINT\[",
    ),
    Stranger(
        "tags too short",
        lambda port: _ethernet_ip(port, 1000, "Short"),
        r"error answer .*the controller needs the tag Short_head : DINT\[",
    ),
)
_NODE_SAYS = {
    "words_exchanged": r"its test constant is 0x3c4d1a2b, not 0x1a2b3c4d",
    "bytes_exchanged": r"its test constant is 0x2b1a4d3c, not 0x1a2b3c4d",
    "absent": r"its test constant is 0x00000000, not 0x1a2b3c4d; let the PLC write",
}
_NODE_STRANGERS = (
    Stranger(
        "no such node",
        lambda port: _opcua(port, 1000, nodes="ns={ns};s=Nobody.{name}"),
        r"node ns=\d+;s=Nobody\.test_constant: BadNodeIdUnknown; compare",
    ),
    Stranger(
        "no such path",
        lambda port: _opcua(port, 1000, nodes="/{ns}:Nobody/{ns}:{name}"),
        r"path /\d+:Nobody/\d+:test_constant: BadNoMatch; correct plc\.nodes",
    ),
    Stranger(
        "no such namespace",
        lambda port: _opcua(port, 1000, namespace_uri="urn:nobody"),
        r"no namespace urn:nobody, only .*correct plc\.namespace_uri",
    ),
)
_NODE_TYPES = (
    Stranger(
        "values of another type",
        lambda port: _opcua(port, 1000, nodes="ns={ns};s=Wrong.{name}"),
        r"node ns=\d+;s=Wrong\.test_constant is Int32, not UInt32; compare",
    ),
)

KINDS: tuple[Kind, ...] = (
    Kind(
        "opcua",
        _opcua,
        _lacks("asyncua"),
        constants=_NODE_SAYS,
        strangers=_NODE_STRANGERS + _NODE_TYPES,
    ),
    Kind(
        "opcua_npm",
        _opcua,
        _lacks_npm_opcua,
        {"NODE_PATH": str(FETCHED / "npm" / "node_modules")},
        constants=_NODE_SAYS,
        strangers=_NODE_STRANGERS,
    ),
    Kind(
        "modbus",
        _modbus,
        shift_says=r"change plc\.base_register by \+1",
        constants=_MODBUS_SAYS,
        strangers=_MODBUS_STRANGERS,
    ),
    Kind(
        "modbus_npm",
        _modbus,
        _lacks_npm,
        {"NODE_PATH": str(FETCHED / "npm" / "node_modules")},
        shift_says=r"change plc\.base_register by \+1",
        constants=_MODBUS_SAYS,
        strangers=_MODBUS_STRANGERS,
    ),
    Kind(
        "s7",
        _s7,
        _lacks("snap7"),
        shift_says=r"change plc\.start_byte by \+2",
        constants=_S7_SAYS,
        strangers=_S7_STRANGERS,
    ),
    Kind(
        "s7_native",
        _s7,
        _lacks_native,
        {"PYTHONPATH": str(FETCHED / "snap7-native")},
        shift_says=r"change plc\.start_byte by \+2",
        constants=_S7_SAYS,
        strangers=_S7_STRANGERS,
    ),
    Kind(
        "ethernet_ip",
        _ethernet_ip,
        _lacks("pylogix", "cpppo"),
        shift_says=r"holds 0x00000000, not 0x1a2b3c4d",
        constants=_TAG_SAYS,
        strangers=_TAG_STRANGERS,
    ),
)
