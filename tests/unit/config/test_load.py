"""What loading a right station file answers."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspectd.config.load import digest_of, line_of, load, load_with_positions
from inspectd.config.schema import Gate, Line, ModbusPlc, ReplayCamera
from inspectd.errors import StationFaults

TEXT = """\
line: press
engine: {kind: paddle}
models:
  - {name: caps, path: models/caps}
record:
  folder: /var/lib/press
  keep_days: 30
stations:
  - name: one
    cycle_ms: 100
    deadline_ms: 200.5
    budget: {camera_ms: 40, gate_ms: 40, infer_ms: 60, judge_ms: 20, sink_ms: 40}
    trigger: {kind: timer, rate_hz: 10}
    camera: {kind: replay, path: ../pictures/./a, width_px: 0x10, height_px: 480}
    model: caps
    rules:
      - {kind: count, name: there, label: Cap, min_score: 0.5, min: 1, region: [0, 0, 8, 8]}
    plc: {kind: modbus, simulator: null}
"""


def line_in(text: str = TEXT, file: str = "/etc/inspectd/press.yaml") -> Line:
    """Load a text as if it stood in `file`."""
    return line_of(text.encode(), file, must_exist=False)[0]


def changed(old: str, new: str) -> Line:
    """Load the text with one piece replaced."""
    assert TEXT.count(old) == 1
    return line_in(TEXT.replace(old, new))


def test_values_have_the_types_of_the_schema() -> None:
    """A whole number becomes a float where the schema says so; lists become tuples."""
    station = line_in().stations[0]
    assert type(station.cycle_ms) is float
    assert station.deadline_ms == 200.5
    assert station.camera.width_px == 16
    assert station.rules[0].region == (0, 0, 8, 8)


def test_keys_that_are_not_given_have_their_defaults() -> None:
    """What may be left out is what the schema says."""
    station = line_in().stations[0]
    assert station.slots == 8
    assert station.gate == Gate()
    assert isinstance(station.plc, ModbusPlc)
    assert station.plc.port == 502
    assert station.plc.simulator is None


def test_relative_paths_start_at_the_station_file() -> None:
    """The folder of the file counts, not the folder that the command was called from."""
    line = line_in()
    assert line.models[0].path == "/etc/inspectd/models/caps"
    assert line.stations[0].camera.path == "/etc/pictures/a"
    assert line.record.folder == "/var/lib/press"


def test_a_path_that_is_left_out_stays_empty() -> None:
    """No labels are no labels, not the folder of the station file."""
    camera = line_in().stations[0].camera
    assert isinstance(camera, ReplayCamera)
    assert camera.labels == ""


def test_home_and_variables_are_not_expanded() -> None:
    """A `$` is a letter like others; `./~x` names a thing that begins with `~`."""
    line = changed("/var/lib/press", '"./~x/$HOME"')
    assert line.record.folder == "/etc/inspectd/~x/$HOME"


def test_the_line_knows_its_file_and_digest() -> None:
    """Both are set by the loader: absolute path, first 12 digits of the SHA-256 of the file."""
    line = line_in()
    assert line.file == "/etc/inspectd/press.yaml"
    assert line.digest == hashlib.sha256(TEXT.encode()).hexdigest()[:12]


def test_quoted_words_are_texts_whatever_they_look_like() -> None:
    """Quotes settle what readers of YAML would disagree on."""
    line = changed("label: Cap", 'label: "no"')
    assert getattr(line.stations[0].rules[0], "label", None) == "no"


def test_a_byte_order_mark_and_windows_line_ends_are_let_pass() -> None:
    """Editors on Windows write both; nothing but the digest differs."""
    data = b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode()
    line, positions = line_of(data, "/etc/inspectd/press.yaml", must_exist=False)
    assert line.stations == line_in().stations
    assert positions.of("stations[0].deadline_ms") == (11, 18)


def test_deep_json_is_a_station_file_too() -> None:
    """JSON is YAML: programs may write station files."""
    text = '{"line": "press", "engine": {"kind": "scripted", "base_ms": 1.5}, "oops": [1, 2]}'
    with pytest.raises(StationFaults) as refused:
        line_in(text)
    keys = [fault.key for fault in refused.value.faults]
    assert sorted(keys) == ["models", "oops", "record", "stations"]


@pytest.mark.parametrize(
    ("key", "row", "start"),
    [
        ("line", 1, "press"),
        ("models[0].path", 4, "models/caps"),
        ("record", 5, "record:"),
        ("record.folder", 6, "/var"),
        ("stations[0]", 9, "name:"),
        ("stations[0].deadline_ms", 11, "200.5"),
        ("stations[0].budget", 12, "{camera_ms"),
        ("stations[0].rules[0].region[3]", 17, "8]}"),
        ("stations[0].plc.port", 18, "{kind"),
        ("stations[0].gate.glare.level", 9, "name:"),
        ("memory_max_mb", 1, "line"),
    ],
)
def test_every_key_has_a_position(key: str, row: int, start: str) -> None:
    """A value is found where it stands, a block group at its key, a default at its group."""
    positions = line_of(TEXT.encode(), "x.yaml", must_exist=False)[1]
    line, column = positions.of(key)
    assert line == row
    assert TEXT.splitlines()[line - 1][column - 1 :].startswith(start)


def test_files_must_exist_unless_told_otherwise(tmp_path: Path) -> None:
    """A start needs its files; a look at a file from elsewhere does not."""
    path = tmp_path / "line.yaml"
    path.write_text(TEXT.replace("/var/lib/press", "var"), encoding="utf-8")
    assert load(path, must_exist=False).line == "press"
    with pytest.raises(StationFaults) as refused:
        load(path)
    keys = [fault.key for fault in refused.value.faults]
    assert keys == ["models[0].path", "stations[0].camera.path"]


def test_extra_checks_speak_of_keys_and_get_their_places(tmp_path: Path) -> None:
    """Higher floors add checks without knowing anything of YAML; faults come in file order."""
    path = tmp_path / "line.yaml"
    path.write_text(TEXT, encoding="utf-8")

    def of_models(line: Line) -> Iterable[tuple[str, str]]:
        yield "stations[0].rules[0].label", f"no such class in {line.models[0].name}; choose"
        yield "models[0].path", "not a model; correct"

    with pytest.raises(StationFaults) as refused:
        load_with_positions(path, must_exist=False, extra=[of_models])
    assert [str(fault) for fault in refused.value.faults] == [
        f"{path}:4:24: models[0].path: not a model; correct",
        f"{path}:17:43: stations[0].rules[0].label: no such class in caps; choose",
    ]


@pytest.mark.slow
@given(st.binary(), st.binary())
def test_the_digest_tells_files_apart(one: bytes, other: bytes) -> None:
    """The same bytes have the same digest, other bytes another; 12 hex digits."""
    assert (digest_of(one) == digest_of(other)) is (one == other)
    assert len(digest_of(one)) == 12
    assert int(digest_of(one), 16) >= 0


@pytest.mark.slow
@settings(max_examples=30)
@given(st.text("abc #", max_size=20))
def test_a_remark_changes_the_digest_and_nothing_else(remark: str) -> None:
    """Any change of the file is another recipe, but only the text of keys makes the line."""
    plain, other = line_in(), line_in(f"{TEXT}# {remark}\n")
    assert plain.digest != other.digest
    assert plain.stations == other.stations


@pytest.mark.slow
@given(st.floats(min_value=0.001, max_value=3650))
def test_numbers_survive_the_way_through_the_file(number: float) -> None:
    """A number written with all its digits comes back the same."""
    written = f"{number:.20f}"
    text = TEXT.replace("keep_days: 30", f"keep_days: {written}")
    assert line_in(text).record.keep_days == float(written)
