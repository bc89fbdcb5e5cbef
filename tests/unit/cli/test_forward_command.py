"""`inspectd forward`: how far receivers are, their table, sending by hand."""

from pathlib import Path

import pytest

from inspectd.__main__ import main
from inspectd.config.load import load
from inspectd.host.lock import only_run
from tests.receivers.peers import Broker, Listener, free_port, until
from tests.receivers.records import recorded
from tests.unit.config.test_crossrules import TEXT


def station_file(folder: Path, port: int = 1) -> str:
    """A line with a broker and a table."""
    file = folder / "line.yaml"
    entries = f"""\
forward:
  - {{kind: mqtt, name: broker, host: 127.0.0.1, port: {port}}}
  - {{kind: postgresql, name: db, dsn: host=nowhere user=hall, table: quality.parts}}
"""
    text = TEXT.replace("record: {folder: .}", "record: {folder: record}") + entries
    file.write_text(text, encoding="utf-8")
    assert len(load(file, must_exist=False).forward) == 2
    return str(file)


def test_the_sql_is_printed_for_the_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing else, so that it can be piped."""
    assert main(["forward", station_file(tmp_path), "--ddl"]) == 0
    said = capsys.readouterr().out
    assert said.count("CREATE TABLE quality.parts") == 1
    assert 'TO "hall"' in said


def test_wrong_wishes_are_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2, with what is known."""
    file = station_file(tmp_path)
    assert main(["forward", file, "--name", "nobody"]) == 2
    assert "known: broker, db" in capsys.readouterr().err
    assert main(["forward", file, "--name", "broker", "--ddl"]) == 2
    assert "no table to make" in capsys.readouterr().err
    assert main(["forward", file, "--database", "x"]) == 2
    assert "add --send" in capsys.readouterr().err
    assert main(["forward", file]) == 2
    assert "run the line once" in capsys.readouterr().err


def test_places_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A receiver that was never reached waits for everything."""
    recorded(tmp_path / "record", range(3))
    assert main(["forward", station_file(tmp_path), "--name", "broker"]) == 0
    assert capsys.readouterr().out == "broker (mqtt): sent up to 0, 3 waiting\n"


def test_sending_by_hand_waits_for_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 1 and one sentence when the receiver is away, or when the line runs."""
    recorded(tmp_path / "record", range(3))
    file = station_file(tmp_path, free_port())
    assert main(["forward", file, "--send", "--name", "broker"]) == 1
    assert "see whether the broker runs" in capsys.readouterr().err
    with only_run(tmp_path / "record"):
        assert main(["forward", file, "--send"]) == 1
    assert "another run keeps its record here" in capsys.readouterr().err


@pytest.mark.slow
def test_what_waits_is_sent_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also out of a database that was moved aside."""
    broker = Broker(tmp_path)
    listener = Listener(broker.port)
    try:
        file = station_file(tmp_path, broker.port)
        recorded(tmp_path / "record", range(3))
        send = ["forward", file, "--send", "--name", "broker"]
        assert main(send) == 0
        assert capsys.readouterr().out == "broker (mqtt): 3 sent\n"
        recorded(tmp_path / "old", range(5, 9))
        aside = str(tmp_path / "old" / "events.sqlite")
        assert main([*send, "--database", aside]) == 0
        assert capsys.readouterr().out == "broker (mqtt): 4 sent\n"
        assert main([*send, "--database", aside]) == 0
        assert capsys.readouterr().out == "broker (mqtt): 0 sent\n"
        until(lambda: len(listener.on("/event")) == 7)
    finally:
        listener.close()
        broker.kill()
