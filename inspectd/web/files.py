"""What the browser is given besides data: pages, scripts, styles, words; all in this package.

Read once and served from memory by exact name: no path of a request ever reaches the disk.
"""

from collections.abc import Mapping
from importlib.resources import files
from typing import NamedTuple

__all__ = ["PAGES", "File", "load"]

PAGES: tuple[str, ...] = ("line", "events", "review", "charts", "system")
"""Each has `<name>.js`; `/` is the first."""
_TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}


class File(NamedTuple):
    """One file."""

    body: bytes
    media_type: str


def load() -> Mapping[str, File]:
    """Every file of `static`, by its name."""
    found = {}
    for one in files("inspectd.web").joinpath("static").iterdir():
        kind = _TYPES.get(one.name.rpartition(".")[2])
        if one.is_file() and kind:
            found[one.name] = File(one.read_bytes(), kind)
    return found
