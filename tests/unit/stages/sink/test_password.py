"""Where the password of a fieldbus user comes from."""

from pathlib import Path

import pytest

from inspectd.config.schema import OpcuaUser
from inspectd.errors import UsageFault
from inspectd.stages.sink.password import is_open_to_others, password_of

VARIABLE = "P"


def test_it_is_the_first_line_of_the_file(tmp_path: Path) -> None:
    """Editors end it with a newline."""
    file = tmp_path / "password"
    file.write_text("geheim ü\nremark\n", encoding="utf-8")
    assert password_of(OpcuaUser(name="a", password_file=str(file)), {}) == "geheim ü"


def test_it_is_the_value_of_the_variable() -> None:
    """As a service manager hands it over."""
    assert password_of(OpcuaUser(name="a", password_env=VARIABLE), {VARIABLE: "x"}) == "x"


def test_a_password_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    """It names the place and never the password."""
    file = tmp_path / "password"
    file.write_bytes(b"\xff")
    for user, says in (
        (OpcuaUser(name="a", password_env=VARIABLE), "P: this environment variable is not set"),
        (OpcuaUser(name="a", password_file=str(tmp_path / "no")), "No such file"),
        (OpcuaUser(name="a", password_file=str(file)), "it is not UTF-8"),
    ):
        with pytest.raises(UsageFault, match=says):
            password_of(user, {})
    file.write_text("\nx\n")
    with pytest.raises(UsageFault, match="its first line is empty"):
        password_of(OpcuaUser(name="a", password_file=str(file)), {})


def test_a_file_that_others_may_read_is_known(tmp_path: Path) -> None:
    """`inspectd check` refuses it."""
    file = tmp_path / "password"
    file.write_text("x")
    file.chmod(0o644)
    assert is_open_to_others(str(file))
    file.chmod(0o640)
    assert not is_open_to_others(str(file))
