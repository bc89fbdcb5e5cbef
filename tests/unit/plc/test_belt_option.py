"""`plc-sim --belt`: whose belt is played."""

from pathlib import Path

import pytest

from inspectd.config.schema import OutputReject
from inspectd.errors import UsageFault
from inspectd.plc.belt import plan_of
from inspectd.plc.simulator import _reject_of, main

STATIONS = Path(__file__).parents[3] / "stations"


def test_the_first_station_with_a_module_is_played() -> None:
    """Or the one that is named."""
    assert _reject_of(STATIONS / "example.yaml", None).distance_mm == 200
    assert _reject_of(STATIONS / "example.yaml", "seals").belt_speed_mm_s == 200


@pytest.mark.parametrize("name", ["etching", "labels", "nobody"])
def test_a_station_without_a_module_is_no_belt(name: str) -> None:
    """GPIO lines, an ejector of the PLC, no such station."""
    with pytest.raises(UsageFault, match="no belt to play"):
        _reject_of(STATIONS / "example.yaml", name)


def test_a_file_without_a_belt_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    """And nothing is started."""
    assert main(["--port", "0", "--belt", str(STATIONS / "demo.yaml")]) != 0
    assert "name one with reject.kind: output" in capsys.readouterr().err


def test_the_belt_is_the_one_of_the_station_file() -> None:
    """Speed, lengths, valve, watchdog; a part is half as long as what the output serves."""
    reject = _reject_of(STATIONS / "example.yaml", "capper")
    assert isinstance(reject, OutputReject)
    plan = plan_of(reject)
    assert (plan.speed_mm_s, plan.ejector_mm, plan.eye_mm) == (400, 200, 150)
    assert (plan.zone_mm, plan.part_mm) == (40, 20)
    assert (plan.valve_ns, plan.watchdog_ns, plan.bin_after_ns) == (20e6, 100e6, 300e6)
