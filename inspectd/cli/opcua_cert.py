"""`inspectd opcua-cert`: a certificate and key for OPC UA, signed by itself.

For inspectd's own side (`plc.security.certificate` and `private_key`), as client or as server. The
PLC is then told to trust the certificate, and `plc.security.trusted` names the PLC's.
"""

import argparse
import os
import socket
from pathlib import Path

from inspectd.errors import Exit, UsageFault

__all__ = ["add_arguments", "run"]

_DAYS_MAX = 7300


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("folder", type=Path, metavar="FOLDER", help="where the two files go; made when missing")
    add("--name", default="inspectd", help="of the files and of the application (%(default)s)")
    add(
        "--host",
        action="append",
        default=[],
        help="name or address of this machine, as the PLC sees it; may be given several times",
    )
    add("--days", type=int, default=1825, help="valid for so long (default %(default)s)")


def run(args: argparse.Namespace) -> int:
    """Write NAME.pem (certificate), NAME.der (the same, as PLC tools want it) and NAME.key.pem.

    Raises:
        UsageFault: A file is there already, cannot be written, or the extra is not installed.
    """
    try:
        from inspectd.stages.sink import selfsigned  # noqa: PLC0415 - optional
    except ModuleNotFoundError:
        what = "this needs the package cryptography, which is not installed"
        raise UsageFault(what, "opcua-cert", "pip install 'inspectd[opcua]'") from None
    if not 1 <= args.days <= _DAYS_MAX:
        raise UsageFault(f"got {args.days}", "--days", f"give a number from 1 to {_DAYS_MAX}")
    hosts = args.host or [socket.gethostname()]
    uri = f"urn:{hosts[0]}:{args.name}"
    made = selfsigned.make(args.name, uri, hosts, args.days)
    files = {
        args.folder / f"{args.name}.pem": made.certificate_pem,
        args.folder / f"{args.name}.der": made.certificate_der,
        args.folder / f"{args.name}.key.pem": made.key_pem,
    }
    for file in files:
        if file.exists():
            raise UsageFault("it is there already", str(file), "take it away, or give another name")
    try:
        args.folder.mkdir(parents=True, exist_ok=True)
        for file, data in files.items():
            _write(file, data, 0o600 if file.name.endswith(".key.pem") else 0o644)
    except OSError as error:
        raise UsageFault(
            error.strerror or str(error), error.filename or str(args.folder), "choose another"
        ) from error
    for file in files:
        print(file)
    print(f"application {uri}, hosts {', '.join(hosts)}, valid for {args.days} days")
    return Exit.OK


def _write(file: Path, data: bytes, mode: int) -> None:
    """Create a file with its rights from the first byte on."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
