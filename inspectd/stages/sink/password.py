"""The password of a fieldbus user: from a file or the environment, never from the station file."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from inspectd.config.schema import OpcuaUser
from inspectd.errors import UsageFault

__all__ = ["is_open_to_others", "password_of"]


def password_of(user: OpcuaUser, environment: Mapping[str, str] = os.environ) -> str:
    """Look the password up. It is in no message and in no log.

    Raises:
        UsageFault: There is none, or the file cannot be read.
    """
    if user.password_env:
        password = environment.get(user.password_env, "")
        if not password:
            raise UsageFault(
                "this environment variable is not set, or empty",
                user.password_env,
                f"give inspectd the password of {user.name} in it",
            )
        return password
    try:
        lines = Path(user.password_file).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        words = getattr(error, "strerror", None) or "it is not UTF-8"
        raise UsageFault(words, user.password_file, "correct path or rights") from None
    if not lines or not lines[0]:
        raise UsageFault("its first line is empty", user.password_file, "write the password there")
    return lines[0]


def is_open_to_others(path: str) -> bool:
    """Whether users other than the owner and the group may read a file."""
    return bool(Path(path).stat().st_mode & stat.S_IROTH)
