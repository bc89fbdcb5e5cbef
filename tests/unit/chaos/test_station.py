"""The station file of a trial."""

from pathlib import Path

import pytest

from inspectd.chaos.station import places_of, trial_text
from inspectd.config.load import load
from inspectd.config.schema import ModbusPlc
from inspectd.errors import UsageFault

ROOT = Path(__file__).parents[3]
FORWARD = """
forward:
  - {name: plant, kind: mqtt, host: broker.example, port: 8883}
"""


def _trial(source: Path, folder: Path) -> Path:
    file = folder / "trial.yaml"
    text = trial_text(source, folder / "record", {0: 40001}, min_free_mb=3)
    file.write_text(text, encoding="utf-8")
    return file


def test_only_record_and_wires_differ(tmp_path: Path) -> None:
    """Every other value is the station file's own, and relative paths mean the same files."""
    source = ROOT / "stations" / "demo.yaml"
    given, trial = load(source), load(_trial(source, tmp_path))
    assert trial.record.folder == str(tmp_path / "record")
    assert trial.record.min_free_mb == 3
    plc = trial.stations[0].plc
    assert isinstance(plc, ModbusPlc)
    assert (plc.host, plc.port, plc.simulator) == ("127.0.0.1", 40001, None)
    ours, theirs = given.stations[0], trial.stations[0]
    assert (ours.gate, ours.rules, ours.trigger) == (theirs.gate, theirs.rules, theirs.trigger)
    assert Path(theirs.camera.labels).resolve() == Path(ours.camera.labels).resolve()
    assert Path(trial.models[0].path).resolve() == Path(given.models[0].path).resolve()


def test_nothing_outside_the_machine_is_reached(tmp_path: Path) -> None:
    """Receivers of events and an ejector of our own are left out; the PLC is the played one."""
    text = (ROOT / "stations" / "demo.yaml").read_text(encoding="utf-8")
    text = text.replace("../inspectd", f"{ROOT}/inspectd").replace(
        ": demo_frames/", f": {ROOT}/stations/demo_frames/"
    )
    text = text.replace(
        "    model: bottle_cap\n", "    reject: {kind: output}\n    model: bottle_cap\n"
    )
    source = tmp_path / "line.yaml"
    source.write_text(text + FORWARD, encoding="utf-8")
    made = _trial(source, tmp_path)
    assert "broker.example" not in made.read_text(encoding="utf-8")
    trial = load(made)
    assert trial.forward == ()
    assert trial.stations[0].reject.kind == "plc"


def test_a_station_without_a_modbus_plc_is_refused(tmp_path: Path) -> None:
    """A campaign plays the PLC: there must be one to play."""
    text = (ROOT / "stations" / "demo.yaml").read_text(encoding="utf-8")
    text = text.replace("{kind: plc, poll_ms: 2}", "{kind: timer, rate_hz: 5}")
    text = text[: text.index("    plc:")] + "    plc: {kind: none}\n"
    source = tmp_path / "line.yaml"
    source.write_text(text, encoding="utf-8")
    line = load(source, must_exist=False)
    with pytest.raises(UsageFault, match="not triggered by a Modbus PLC"):
        places_of(line)
