"""EDGE: where a password comes from, read anew for each connection."""

import os
from pathlib import Path

from inspectd.errors import ForwardFault

__all__ = ["password_of"]

_LONGEST = 4096


def password_of(receiver: str, file: str, variable: str) -> str | None:
    """Read the first line of a file, or an environment variable; None when neither is named.

    Raises:
        ForwardFault: it is not there. The password itself is never in a message.
    """
    if file:
        return _from_file(receiver, file)
    if not variable:
        return None
    password = os.environ.get(variable)
    if password is None:
        remedy = f"set {variable} for the service, or give `password_file`"
        raise ForwardFault(receiver, f"there is no environment variable {variable}", remedy)
    return password


def _from_file(receiver: str, file: str) -> str:
    try:
        with Path(file).open(encoding="utf-8") as stream:
            return stream.readline(_LONGEST).rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        words = getattr(error, "strerror", None) or "it is not UTF-8"
        what = f"the password file {file} cannot be read ({words})"
        remedy = "correct `password_file`, or let the user of inspectd read it"
        raise ForwardFault(receiver, what, remedy) from error
