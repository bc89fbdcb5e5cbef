"""The file of users."""

import stat
from pathlib import Path

import pytest

from inspectd.errors import UsageFault
from inspectd.web.sessions import Right
from inspectd.web.users import User, Users, hashed, parse, store

pytestmark = pytest.mark.slow


def test_a_stored_user_is_proved_by_the_password_only(tmp_path: Path) -> None:
    """The file holds no password and is its owner's alone."""
    path = tmp_path / "users"
    store(path, {"anna": User("anna", Right.OPERATOR, hashed("correct horse"))})
    users = Users(path)
    proved = users.proved("anna", "correct horse")
    assert proved is not None
    assert proved.right is Right.OPERATOR
    assert users.proved("anna", "correct horsf") is None
    assert users.proved("nobody", "nobody has this password") is None
    assert users.proved("anna", "x" * 100_000) is None
    assert "correct" not in path.read_text(encoding="utf-8")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_changed_file_counts_at_once(tmp_path: Path) -> None:
    """Whoever is taken out is out."""
    path = tmp_path / "users"
    one = User("anna", Right.VIEWER, hashed("correct horse"))
    store(path, {"anna": one})
    users = Users(path)
    assert "anna" in users.all()
    store(path, {})
    assert "anna" not in users.all()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("anna", "'' is no right"),
        ("anna:boss:$argon2id$x", "'boss' is no right"),
        ("anna:viewer:secret", "has no password hash"),
        ("a/b:viewer:$argon2id$x", "'a/b' is no name"),
        ("anna:viewer:$argon2a\nanna:viewer:$argon2b", "stood there before"),
    ],
)
def test_a_wrong_line_is_named(text: str, words: str) -> None:
    """File and line; and never what stands there in the place of a password."""
    with pytest.raises(UsageFault, match=words) as caught:
        parse(text, "users")
    assert "users:" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_password_has_a_least_length() -> None:
    """Ten characters."""
    with pytest.raises(UsageFault, match="has 5 characters"):
        hashed("short")
