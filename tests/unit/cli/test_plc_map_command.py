"""`inspectd plc-map`: what it prints for each fieldbus."""

import argparse
from pathlib import Path

import pytest

from inspectd.cli import plc_map
from inspectd.errors import UsageFault

HEAD = """\
line: press
engine: {kind: scripted}
models:
  - {name: caps, path: .}
record: {folder: .}
stations:
"""
STATION = """\
  - name: NAME
    cycle_ms: 100
    deadline_ms: 200
    budget: {camera_ms: 40, gate_ms: 40, infer_ms: 60, judge_ms: 20, sink_ms: 40}
    trigger: {kind: timer, rate_hz: 10}
    camera: {kind: replay, path: ., width_px: 640, height_px: 480}
    model: caps
    rules:
      - {kind: count, name: there, label: Cap, min_score: 0.5, min: 1}
    plc: PLC
"""
MODBUS = "{kind: modbus, host: plc1}"
S7 = "{kind: s7, host: plc2, db: 100}"
LOGIX = "{kind: ethernet_ip, host: plc3}"
ABSENT = "{kind: none}"


def printed(
    folder: Path, capsys: pytest.CaptureFixture[str], plcs: list[str], *options: str
) -> str:
    """What the command prints about a line with these PLCs, a station each."""
    file = folder / "line.yaml"
    stations = (
        STATION.replace("NAME", f"s{index}").replace("PLC", plc) for index, plc in enumerate(plcs)
    )
    file.write_text(HEAD + "".join(stations), encoding="utf-8")
    parser = argparse.ArgumentParser()
    plc_map.add_arguments(parser)
    assert plc_map.run(parser.parse_args([str(file), *options])) == 0
    return capsys.readouterr().out


def test_each_station_has_a_page_and_the_codes_are_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever the fieldbus; a station without a PLC has none."""
    page = printed(tmp_path, capsys, [MODBUS, S7, LOGIX, ABSENT])
    assert "## Station s0: holding registers 0 to 63" in page
    assert "## Station s1: DB100 bytes 0 to 127" in page
    assert "## Station s2: tags Inspectd_*" in page
    assert "Station s3" not in page
    assert "### Reasons" in page


@pytest.mark.parametrize("plc", [S7, LOGIX])
def test_the_codes_stand_behind_pages_of_every_fieldbus(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], plc: str
) -> None:
    """A number alone says nothing."""
    page = printed(tmp_path, capsys, [plc])
    assert page.count("### Verdicts") == 1
    assert page.index("### Verdicts") > page.index("trigger_id")


def test_each_fieldbus_has_its_own_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Registers, bytes and tags have other columns; Logix reads only its own."""
    table = printed(tmp_path, capsys, [LOGIX], "--csv")
    assert table.startswith('remark,"CSV-Import-Export"')
    table = printed(tmp_path, capsys, [MODBUS, S7], "--csv")
    assert table.startswith("station,peer,device_id")
    assert "s1,plc2:102,0,1,DB100.DBD0,UDInt,test_constant,vision," in table


def test_the_source_holds_the_data_blocks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And nothing of other fieldbuses."""
    source = printed(tmp_path, capsys, [MODBUS, S7], "--scl")
    assert 'DATA_BLOCK "Inspectd_100"' in source
    assert "plc1" not in source


def test_a_source_without_s7_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence, with what to do."""
    with pytest.raises(UsageFault, match=r"no station has `plc\.kind: s7`; leave out --scl"):
        printed(tmp_path, capsys, [MODBUS], "--scl")


def test_a_line_without_a_plc_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is no map to print."""
    with pytest.raises(UsageFault, match="no station has a PLC"):
        printed(tmp_path, capsys, [ABSENT])
