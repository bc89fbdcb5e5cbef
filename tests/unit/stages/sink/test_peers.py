"""Which peer a station gets, and what is said when its library is missing."""

import subprocess
import sys

import pytest

from inspectd.config.schema import AbsentPlc, EtherNetIpPlc, ModbusPlc, Plc, S7Plc
from inspectd.stages.sink.absent import NoPlc
from inspectd.stages.sink.modbus import ModbusPeer
from inspectd.stages.sink.peers import peer_of

S7 = S7Plc(kind="s7", host="192.0.2.1", db=5)
LOGIX = EtherNetIpPlc(kind="ethernet_ip", host="192.0.2.1")
ASK = """
import sys
sys.modules[{module!r}] = None
from types import SimpleNamespace
from inspectd.config.schema import EtherNetIpPlc, S7Plc
from inspectd.stages.sink import peers
plcs = (S7Plc(kind="s7", host="a", db=5), EtherNetIpPlc(kind="ethernet_ip", host="a"))
line = SimpleNamespace(stations=[SimpleNamespace(plc=plc) for plc in plcs])
print(peers.check(line))
"""


def test_each_kind_has_its_peer() -> None:
    """Nothing is opened yet, whatever the address."""
    assert isinstance(peer_of(AbsentPlc(kind="none")), NoPlc)
    assert isinstance(peer_of(ModbusPlc(kind="modbus")), ModbusPeer)


@pytest.mark.parametrize(("plc", "module"), [(S7, "snap7"), (LOGIX, "pylogix")])
def test_an_optional_fieldbus_is_made_without_a_connection(plc: Plc, module: str) -> None:
    """It is not connected before the sink asks for it."""
    pytest.importorskip(module)
    assert not peer_of(plc).is_connected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("snap7", "('stations[0].plc.kind', \"this fieldbus needs python-snap7 3.3, which is not "),
        ("pylogix", "('stations[1].plc.kind', \"this fieldbus needs pylogix, which is not "),
    ],
)
def test_a_missing_library_is_a_sentence_with_the_command(module: str, said: str) -> None:
    """At `inspectd check`, not when the line has started."""
    out = subprocess.run(
        [sys.executable, "-c", ASK.format(module=module)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert said in out
    extra = {"snap7": "s7", "pylogix": "ethernet-ip"}[module]
    assert f"pip install 'inspectd[{extra}]'" in out


@pytest.mark.slow
def test_a_modbus_station_needs_no_library_of_another_fieldbus() -> None:
    """Edges are imported by those that use them."""
    ask = (
        "import sys; from inspectd.config.schema import ModbusPlc;"
        "from inspectd.stages.sink.peers import peer_of; peer_of(ModbusPlc(kind='modbus'));"
        "print([name for name in ('snap7', 'pylogix', 'asyncua') if name in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
