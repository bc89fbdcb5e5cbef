"""From a station file to a `Line`, or to every fault of the file at once.

    bytes -> text -> nodes with places -> objects of the schema -> rules between keys -> Line
             (`parse`)                  (`derive`, `groups`)     (`crossrules`, `diskrules`)

Loading has no effects and reads nothing but the station file; with `must_exist` it also looks
whether the files and folders that it names are there.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from inspectd.config.complaint import CrossRule
from inspectd.config.crossrules import RULES
from inspectd.config.derive import line_shape
from inspectd.config.diskrules import DISK_RULES
from inspectd.config.nodes import WHOLE_FILE
from inspectd.config.parse import parse
from inspectd.config.reading import Positions, Reading
from inspectd.config.schema import Line
from inspectd.errors import StationFault, StationFaults

__all__ = ["LARGEST_BYTES", "ExtraCheck", "digest_of", "line_of", "load", "load_with_positions"]

LARGEST_BYTES = 1024 * 1024
"""A station file is a few kilobytes; what is larger is some other file."""

ExtraCheck: TypeAlias = Callable[[Line], Iterable[tuple[str, str]]]
"""A check of a higher floor, e.g. what the models say of the line: it answers (dotted key, what is
wrong and its remedy); the loader knows the places."""


def load(
    path: str | os.PathLike[str], *, must_exist: bool = True, extra: Sequence[ExtraCheck] = ()
) -> Line:
    """Read a station file.

    Args:
        path: The file.
        must_exist: Whether the files and folders that it names must be there.
        extra: Checks of higher floors, made when everything else is right.

    Raises:
        StationFaults: With every fault, in file order.
    """
    return load_with_positions(path, must_exist=must_exist, extra=extra)[0]


def load_with_positions(
    path: str | os.PathLike[str], *, must_exist: bool = True, extra: Sequence[ExtraCheck] = ()
) -> tuple[Line, Positions]:
    """Read a station file, and keep where its keys stand; see `load`."""
    file = os.fspath(path)
    line, positions = line_of(_bytes_of(file), file, must_exist=must_exist)
    faults = [
        StationFault(file, *positions.of(key), key, what)
        for check in extra
        for key, what in check(line)
    ]
    if faults:
        raise StationFaults(_in_file_order(faults))
    return line, positions


def line_of(data: bytes, file: str, *, must_exist: bool = True) -> tuple[Line, Positions]:
    """Read the bytes of a station file; `file` is its name and the start of relative paths.

    Raises:
        StationFaults: With every fault, in file order.
    """
    absolute = Path(os.path.abspath(file))  # noqa: PTH100  links are kept as they are
    root, faults = parse(_text_of(data, file), file)
    reading = Reading(file, str(absolute.parent), faults)
    if root is None:
        raise StationFaults(tuple(faults))
    reading.places[""] = root.place
    line = line_shape().read(root, "", reading)
    positions = Positions(reading.places)
    rules = [*RULES, *(DISK_RULES if must_exist else ())]
    faults.extend(_complaints(rules, reading, positions))
    if faults or not isinstance(line, Line):
        raise StationFaults(_in_file_order(faults))
    return replace(line, file=str(absolute), digest=digest_of(data)), positions


def digest_of(data: bytes) -> str:
    """Answer the recipe digest: what `sha256sum FILE | cut -c1-12` prints."""
    return hashlib.sha256(data).hexdigest()[:12]


def _complaints(
    rules: Iterable[tuple[type[Any], CrossRule]], reading: Reading, positions: Positions
) -> Iterator[StationFault]:
    """Ask every rule about every object of its class that is whole."""
    for cls, rule in rules:
        for key, built in reading.built:
            if not isinstance(built, cls):
                continue
            for complaint in rule(built):
                at = ".".join(part for part in (key, complaint.key) if part)
                place = positions.of(at)
                yield StationFault(reading.file, *place, at, complaint.what)


def _in_file_order(faults: Iterable[StationFault]) -> tuple[StationFault, ...]:
    return tuple(sorted(faults, key=lambda fault: (fault.line, fault.column)))


def _bytes_of(file: str) -> bytes:
    path = Path(file)
    try:
        if path.is_dir():
            raise _whole_file(file, "this is a folder; name a station file in it")
        if path.exists() and not path.is_file():
            raise _whole_file(file, "this is no ordinary file; name a station file")
        with path.open("rb") as stream:
            data = stream.read(LARGEST_BYTES + 1)
    except FileNotFoundError:
        raise _whole_file(file, "there is no such file; correct the path") from None
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or str(error)
        raise _whole_file(file, f"cannot be read ({words}); correct path or rights") from None
    if len(data) > LARGEST_BYTES:
        raise _whole_file(file, f"larger than {LARGEST_BYTES} bytes; name a station file")
    return data


def _text_of(data: bytes, file: str) -> str:
    """Decode; a byte order mark (Windows editors write one) is let pass."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        good = data[: error.start].decode("utf-8", "ignore")
        line, column = good.count("\n") + 1, len(good) - good.rfind("\n")
        what = "a byte here is not UTF-8; save the file as UTF-8"
        fault = StationFault(file, line, column, WHOLE_FILE, what)
        raise StationFaults((fault,)) from None


def _whole_file(file: str, what: str) -> StationFaults:
    return StationFaults((StationFault(file, 1, 1, WHOLE_FILE, what),))
