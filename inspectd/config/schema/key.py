"""How a key of the station file is declared, and the types that several groups share."""

from dataclasses import field
from typing import Any, TypeAlias

__all__ = ["Region", "key"]

Region: TypeAlias = tuple[int, int, int, int]

_REQUIRED: Any = object()


def key(
    default: Any = _REQUIRED,
    *,
    ge: float | None = None,
    gt: float | None = None,
    le: float | None = None,
    nonempty: bool = False,
    is_path: bool = False,
    is_name: bool = False,
    by_loader: bool = False,
) -> Any:
    """Declare a key of the station file: its default (none: the key must be given) and its limits.

    `is_path`: relative to the folder of the station file; the loader makes it absolute.
    `is_name`: letters, digits, `_` and `-`, at most 32 (it goes into file names and metrics).
    `by_loader`: set by the loader; refused in a file.
    """
    metadata = {
        "ge": ge,
        "gt": gt,
        "le": le,
        "nonempty": nonempty,
        "is_path": is_path,
        "is_name": is_name,
        "by_loader": by_loader,
    }
    if default is _REQUIRED:
        return field(metadata=metadata)
    return field(default=default, metadata=metadata)
