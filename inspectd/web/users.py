"""EDGE argon2: the people who may use the view, in a file of one line each.

    NAME:RIGHT:HASH      such as anna:operator:$argon2id$v=19$...

The file holds no password, only what proves one; still it is for the owner's eyes (mode 600). It is
read again when it changes, so a user who is taken out is out at once.
"""

import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from inspectd.errors import UsageFault
from inspectd.web.sessions import Right

__all__ = ["PASSWORD_MIN_CHARS", "User", "Users", "hashed", "parse", "store"]

PASSWORD_MIN_CHARS = 10
PASSWORD_MAX_CHARS = 256
"""A longer one is not even hashed."""
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,32}")
_HASHER = PasswordHasher(time_cost=3, memory_cost=65536, parallelism=1)
"""64 MiB and some 0.1 s each; only one is computed at a time."""
_NOBODY = _HASHER.hash("nobody has this password")


@dataclass(frozen=True, slots=True)
class User:
    """One person."""

    name: str
    right: Right
    hash: str


def hashed(password: str) -> str:
    """The hash of a new password.

    Raises:
        UsageFault: it is too short or too long.
    """
    if not PASSWORD_MIN_CHARS <= len(password) <= PASSWORD_MAX_CHARS:
        what = f"has {len(password)} characters"
        remedy = f"choose {PASSWORD_MIN_CHARS} to {PASSWORD_MAX_CHARS}"
        raise UsageFault(what, "password", remedy)
    return _HASHER.hash(password)


def parse(text: str, where: str) -> dict[str, User]:
    """Users by name.

    Raises:
        UsageFault: a line is not as it should be; which, and why.
    """
    users: dict[str, User] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        user = _user(line, f"{where}:{number}")
        if user.name in users:
            raise UsageFault("this name stood there before", f"{where}:{number}", "keep one")
        users[user.name] = user
    return users


def store(path: Path, users: Mapping[str, User]) -> None:
    """Write a file of users, whole or not at all, readable for its owner alone."""
    rows = [f"{one.name}:{one.right.name.lower()}:{one.hash}\n" for one in users.values()]
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.writelines(rows)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


class Users:
    """The file, followed."""

    def __init__(self, path: Path) -> None:
        """Args: path: `web.users_file`."""
        self._path = path
        self._stamp: tuple[int, int, int] | None = None
        self._users: dict[str, User] = {}

    def all(self) -> Mapping[str, User]:
        """Users by name, as the file says now.

        Raises:
            UsageFault: it cannot be read, or a line is wrong.
        """
        try:
            stat = self._path.stat()
            stamp = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
            if stamp != self._stamp:
                self._users = parse(self._path.read_text(encoding="utf-8"), str(self._path))
                self._stamp = stamp
        except (OSError, UnicodeDecodeError) as error:
            remedy = "write it with `inspectd web-user add`"
            raise UsageFault(f"cannot be read ({error})", str(self._path), remedy) from error
        return self._users

    def proved(self, name: str, password: str) -> User | None:
        """The user of this name and password. Takes as long for a name that does not exist."""
        user = self.all().get(name)
        if len(password) > PASSWORD_MAX_CHARS:
            return None
        try:
            _HASHER.verify(user.hash if user else _NOBODY, password)
        except (Argon2Error, InvalidHashError):
            return None
        return user


def _user(line: str, where: str) -> User:
    name, _, rest = line.strip().partition(":")
    right, _, text = rest.partition(":")
    if not _NAME.fullmatch(name):
        raise UsageFault(f"{name!r} is no name", where, "use letters, digits, _ . and -")
    if right.upper() not in Right.__members__:
        known = ", ".join(one.name.lower() for one in Right)
        raise UsageFault(f"{right!r} is no right", where, f"write one of {known}")
    if not text.startswith("$argon2"):
        raise UsageFault("has no password hash", where, "write it with `inspectd web-user add`")
    return User(name, Right[right.upper()], text)
