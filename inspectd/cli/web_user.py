"""`inspectd web-user`: who may use the operator's view."""

import argparse
import getpass
import sys
from pathlib import Path

from inspectd.errors import Exit, UsageFault

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("what", choices=("add", "remove", "list"), help="add also changes")
    parser.add_argument("file", type=Path, help="the `web.users_file` of the station file")
    parser.add_argument("name", nargs="?", default="", help="letters, digits, _ . and -")
    parser.add_argument(
        "--role", choices=("viewer", "operator", "engineer"), default="viewer", help="%(default)s"
    )


def run(args: argparse.Namespace) -> int:
    """Add, remove or list; the password comes from the terminal, or as a line from a pipe.

    Raises:
        UsageFault: Name, password or file cannot be used, or the extra is not installed.
    """
    try:
        from inspectd.web import users  # noqa: PLC0415 - optional
        from inspectd.web.sessions import Right  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        what = f"this needs the package {missing.name}, which is not installed"
        raise UsageFault(what, "web-user", "pip install 'inspectd[web]'") from None
    known = dict(users.Users(args.file).all()) if args.file.exists() else {}
    if args.what == "list":
        for user in known.values():
            print(f"{user.name} ({user.right.name.lower()})")
        return Exit.OK
    if args.what == "remove":
        if known.pop(args.name, None) is None:
            raise UsageFault(f"has no user {args.name!r}", str(args.file), "see `list`")
        users.store(args.file, known)
        return Exit.OK
    line = f"{args.name}:{args.role}:$argon2"
    users.parse(line, "web-user")
    known[args.name] = users.User(args.name, Right[args.role.upper()], users.hashed(_password()))
    users.store(args.file, known)
    print(f"{args.name} ({args.role}) may log in")
    return Exit.OK


def _password() -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    first = getpass.getpass("password: ")
    if getpass.getpass("again: ") != first:
        raise UsageFault("the two are not the same", "password", "try again")
    return first
