"""Which entry is served by which edge, and what `inspectd check` says of it."""

import builtins
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inspectd.config.schema import Forward, Line, MqttForward, MqttTls, PostgresqlForward
from inspectd.errors import ForwardFault
from inspectd.forward.mqtt import MqttReceiver
from inspectd.forward.postgresql import PostgresqlReceiver
from inspectd.forward.receivers import check, receiver_of
from inspectd.forward.secret import password_of
from inspectd.forward.table import ddl
from tests.unit.record.conftest import Desk

_BROKER = MqttForward(kind="mqtt", name="broker", host="nowhere")
_TABLE = PostgresqlForward(kind="postgresql", name="table", dsn="host=nowhere user=hall")


def line(tmp_path: Path, *entries: Forward) -> Line:
    """A line with receivers."""
    desk = Desk(tmp_path)
    desk.arena.close()
    return replace(desk.line(), forward=entries)


@pytest.fixture
def without_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a plain installation."""
    original = builtins.__import__

    def refuse(name: str, *rest: Any, **more: Any) -> Any:
        if name.partition(".")[0] in {"aiomqtt", "psycopg"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return original(name, *rest, **more)

    for module in ("inspectd.forward.mqtt", "inspectd.forward.postgresql"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setattr(builtins, "__import__", refuse)


def test_each_kind_has_its_edge() -> None:
    """The module's name is the kind."""
    assert isinstance(receiver_of(_BROKER, "l"), MqttReceiver)
    assert isinstance(receiver_of(_TABLE, "l"), PostgresqlReceiver)


@pytest.mark.usefixtures("without_libraries")
def test_a_missing_extra_is_one_sentence_with_the_command(tmp_path: Path) -> None:
    """At `inspectd check`, with its place; and for the process that meets it."""
    found = list(check(line(tmp_path, _BROKER, _TABLE)))
    assert [key for key, _ in found] == ["forward[0].kind", "forward[1].kind"]
    assert found[0][1].endswith("pip install 'inspectd[mqtt]'")
    assert found[1][1].endswith("pip install 'inspectd[postgresql]'")
    with pytest.raises(ForwardFault, match=r"receiver broker: aiomqtt cannot be loaded"):
        receiver_of(_BROKER, "l")


def test_what_is_right_has_no_complaint(tmp_path: Path) -> None:
    """Nothing is connected for it."""
    assert list(check(line(tmp_path, _BROKER, _TABLE))) == []


def test_missing_certificates_are_told_by_their_key(tmp_path: Path) -> None:
    """They are looked for where the file is checked."""
    broker = replace(_BROKER, tls=MqttTls(ca_file="/nowhere.pem"))
    ((key, what),) = check(line(tmp_path, broker))
    assert key == "forward[0].tls.ca_file"
    assert what.startswith("no file at /nowhere.pem; ")


def test_a_password_is_the_first_line_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spaces belong to it, the end of the line does not; a variable is taken as it is."""
    (tmp_path / "secret").write_bytes(b" se same \r\nsecond\n")
    assert password_of("x", str(tmp_path / "secret"), "") == " se same "
    monkeypatch.setenv("WORD", "barley")
    assert password_of("x", "", "WORD") == "barley"
    assert password_of("x", "", "") is None


def test_a_password_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    """Somebody named a key or a picture."""
    (tmp_path / "secret").write_bytes(b"\xff\xfe\xfd")
    with pytest.raises(ForwardFault, match="it is not UTF-8"):
        password_of("x", str(tmp_path / "secret"), "")


@pytest.mark.parametrize(
    ("dsn", "writer"),
    [
        ("host=a user=hall dbname=b", '"hall"'),
        ("host=a user = 'hall-3'", '"hall-3"'),
        ("postgresql://hall@db/x", '"hall"'),
        ("service=mes", "WRITER"),
    ],
)
def test_the_sql_gives_its_rights_to_who_writes(dsn: str, writer: str) -> None:
    """The role of the dsn, or a word to be filled in."""
    assert f"UPDATE ON a.parts TO {writer};" in ddl("a.parts", dsn)
    assert "CREATE INDEX parts_by_time ON a.parts" in ddl("a.parts", dsn)


@pytest.mark.slow
def test_a_line_without_receivers_loads_neither_library() -> None:
    """They are no dependencies of a plain installation."""
    script = (
        "import sys, inspectd.cli.check, inspectd.cli.forward, inspectd.forward.step\n"
        "sys.exit(bool({'aiomqtt', 'paho', 'psycopg'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
