"""Which edge serves which entry of `forward`; its library is imported only when it is used."""

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path

from inspectd.config.schema import Forward, Line, MqttForward
from inspectd.errors import ForwardFault
from inspectd.forward.receiver import Receiver

__all__ = ["check", "receiver_of"]


def receiver_of(entry: Forward, line: str) -> Receiver:
    """Make the receiver of an entry; nothing is connected.

    Raises:
        ForwardFault: its library is not installed.
    """
    try:
        module = importlib.import_module(f"inspectd.forward.{entry.kind}")
    except ImportError as error:
        raise ForwardFault(entry.name, *_missing(entry, error)) from error
    build: Callable[[Forward, str], Receiver] = module.build
    return build(entry, line)


def check(line: Line) -> Iterator[tuple[str, str]]:
    """Look whether the receivers of a line can be served from here; for `inspectd check`."""
    for index, entry in enumerate(line.forward):
        key = f"forward[{index}]"
        try:
            module = importlib.import_module(f"inspectd.forward.{entry.kind}")
        except ImportError as error:
            yield f"{key}.kind", "; ".join(_missing(entry, error))
            continue
        yield from ((f"{key}.{name}", what) for name, what in module.complaints(entry))
        yield from ((f"{key}.{name}", what) for name, what in _missing_files(entry))


def _missing(entry: Forward, error: ImportError) -> tuple[str, str]:
    library = {"mqtt": "aiomqtt", "postgresql": "psycopg"}[entry.kind]
    return f"{library} cannot be loaded ({error})", f"pip install 'inspectd[{entry.kind}]'"


def _missing_files(entry: Forward) -> Iterator[tuple[str, str]]:
    if not isinstance(entry, MqttForward) or entry.tls is None:
        return
    for name in ("ca_file", "cert_file", "key_file"):
        path = getattr(entry.tls, name)
        if path and not Path(path).is_file():
            yield f"tls.{name}", f"no file at {path}; correct it, or put the file there"
