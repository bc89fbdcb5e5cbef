"""The page to read first, kept honest."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import inspectd
from inspectd.config.schema import ClockEncoder, Line, ModbusIo, OutputReject
from inspectd.frame import Role
from inspectd.host.build import STEPS
from inspectd.host.journey import JOURNEY, LINE_WIDE, ON_DEMAND, STAGES, STATION_WIDE, crew_of
from inspectd.host.patience import PATIENCE

_ROOT = Path(inspectd.__file__).parent


def test_the_folders_of_the_stages_are_the_journey() -> None:
    """`ls inspectd/stages` shows them in the order in which a part meets them."""
    folders = sorted(p.name for p in (_ROOT / "stages").iterdir() if (p / "__init__.py").exists())
    everywhere = [role.name.lower() for role in STAGES]
    on_demand = {role.name.lower() for role in ON_DEMAND}
    assert [name for name in folders if name not in on_demand] == everywhere
    assert set(folders) <= {*everywhere, *on_demand}


def test_every_process_has_a_step_and_a_patience(line_of: Callable[[int], Line]) -> None:
    """Whoever is on the board can be started, watched and stopped."""
    always = {role for role, _ in crew_of(line_of(1))}
    assert always == set(STATION_WIDE) | set(LINE_WIDE)
    assert set(STEPS) == set(PATIENCE) == always | set(ON_DEMAND)


def test_every_process_is_there_once(line_of: Callable[[int], Line]) -> None:
    """Two for the line, four for each station."""
    assert len(set(crew_of(line_of(3)))) == len(crew_of(line_of(3))) == 2 + 4 * 3


def test_everybody_can_be_heard() -> None:
    """Each process of the line is a receiver of some leg, and each leg is between processes."""
    roles = set(STATION_WIDE) | set(LINE_WIDE)
    assert roles <= {leg.receiver for leg in JOURNEY} <= roles | set(ON_DEMAND)
    assert {leg.sender for leg in JOURNEY} == roles - {Role.RECORD}


def test_a_station_has_an_ejector_process_only_if_it_drives_one(
    line_of: Callable[[int], Line],
) -> None:
    """By default the PLC moves the ejector, and no process more is started."""
    line = line_of(2)
    clock = ClockEncoder(kind="time")
    io = ModbusIo(kind="modbus", host="x", coil=0, watchdog_ms=10)
    ejector = OutputReject(
        kind="output",
        distance_mm=900,
        belt_speed_mm_s=100,
        pulse_ms=10,
        lead_ms=0,
        io=io,
        encoder=clock,
    )
    second = replace(line.stations[1], reject=ejector)
    own = replace(line, stations=(line.stations[0], second))
    assert set(crew_of(own)) - set(crew_of(line)) == {(Role.REJECT, 1)}
