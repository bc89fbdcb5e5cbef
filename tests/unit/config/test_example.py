"""The station files of the repository load, and the example explains every key."""

import dataclasses
import inspect
import itertools
import re
from pathlib import Path
from typing import Any

import pytest

from inspectd.config import schema
from inspectd.config.load import line_of, load
from inspectd.config.reading import Positions
from inspectd.config.schema import Line

STATIONS = Path(__file__).parents[3] / "stations"
EXAMPLE = STATIONS / "example.yaml"
_OTHER_ENGINE = r"^# engine:\n(?:#   .*\n)+"


def with_other_engines(text: str) -> list[str]:
    """The example with each alternative engine, its comment signs off, instead of the active one.

    An alternative is a comment that begins with `# engine:`.
    """
    block = _OTHER_ENGINE
    without = re.sub(rf"^engine:\n(?:  .*\n)+|{block}", "", text, flags=re.MULTILINE)
    blocks = re.findall(block, text, flags=re.MULTILINE)
    return [without + re.sub(r"^# ", "", block, flags=re.MULTILINE) for block in blocks]


def with_other_plcs(text: str) -> list[str]:
    """The same for the PLC of the first station, whose alternatives begin with `    # plc:`.

    They have no simulator, so nothing else is simulated then.
    """
    text = re.sub(_OTHER_ENGINE, "", text, flags=re.MULTILINE)
    text = text.replace("simulated: true", "simulated: false").replace("port: 0", "port: 502")
    block = r"^    # plc:\n(?:    #   .*\n)+"
    without = re.sub(block, "", text, flags=re.MULTILINE)
    parts = re.split(r"^    plc:\n(?:      .*\n)+", without, maxsplit=1, flags=re.MULTILINE)
    blocks = re.findall(block, text, flags=re.MULTILINE)
    return [re.sub(r"^    # ", "    ", one, flags=re.MULTILINE).join(parts) for one in blocks]


def owner_of(cls: type[Any], key: str) -> str:
    """The class that declares a key, which may be one that `cls` has it from."""
    return next(one.__name__ for one in cls.__mro__ if key in inspect.get_annotations(one))


def keys_of(value: Any, at: str, positions: Positions) -> set[tuple[str, str]]:
    """Class and key of everything that stands in the file itself (defaults left out)."""
    found: set[tuple[str, str]] = set()
    if isinstance(value, tuple):
        for index, one in enumerate(value):
            found |= keys_of(one, f"{at}[{index}]", positions)
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            key = f"{at}.{field.name}" if at else field.name
            if key in positions.places:
                found.add((owner_of(type(value), field.name), field.name))
            found |= keys_of(getattr(value, field.name), key, positions)
    return found


def keys_of_the_schema() -> set[tuple[str, str]]:
    """Class and key of everything that a station file may say."""
    return {
        (owner_of(cls, field.name), field.name)
        for cls in vars(schema).values()
        if isinstance(cls, type) and dataclasses.is_dataclass(cls)
        for field in dataclasses.fields(cls)
        if not field.metadata["by_loader"]
    }


@pytest.mark.parametrize("path", sorted(STATIONS.glob("*.yaml")), ids=lambda path: str(path.name))
def test_every_station_file_of_the_repository_loads(path: Path) -> None:
    """They are examples; pictures that are not shipped may be missing."""
    assert isinstance(load(path, must_exist=False), Line)


def test_the_example_shows_every_key() -> None:
    """Every key of every class of the schema stands in the example, and no other loads."""
    text = EXAMPLE.read_text(encoding="utf-8")
    shown: set[tuple[str, str]] = set()
    for one in (text, *with_other_engines(text), *with_other_plcs(text)):
        line, positions = line_of(one.encode(), str(EXAMPLE), must_exist=False)
        shown |= keys_of(line, "", positions)
    assert keys_of_the_schema() - shown == set()
    assert shown - keys_of_the_schema() == set()


def test_the_example_explains_every_key_once() -> None:
    """The first time a key of a class comes, a remark stands above it or above its group."""
    rows = EXAMPLE.read_text(encoding="utf-8").splitlines()
    names = {name for _, name in keys_of_the_schema()}
    explained = set()
    for above, row in itertools.pairwise(rows):
        key = re.match(r" *(?:# )? *(?:- )?(\w+):", row)
        if key and above.lstrip("# ").strip() and re.match(r" *(?:# )? *#", above):
            explained.add(key[1])
    assert names - explained <= {"name", "height_px", "path", "folder", "how", "kind"} - explained


def test_the_defaults_in_the_example_are_true() -> None:
    """Where a remark says `Default X`, X is the default of the schema."""
    text = EXAMPLE.read_text(encoding="utf-8")
    text = "\n".join(
        (text.split("# Instead,")[0], *with_other_engines(text), *with_other_plcs(text))
    )
    claims = re.findall(r"Default (-?[\d.]+|\w+)[:.,; ].*\n(?: *#.*\n)*#? *(?:- )?(\w+):", text)
    defaults: dict[str, set[str]] = {}
    for cls in vars(schema).values():
        if isinstance(cls, type) and dataclasses.is_dataclass(cls):
            for field in dataclasses.fields(cls):
                defaults.setdefault(field.name, set()).add(str(field.default).removesuffix(".0"))
    assert len(claims) > 20
    for value, name in claims:
        expected = {"empty": "", "true": "True", "false": "False"}.get(value, value.rstrip("."))
        assert expected in defaults[name], (name, value)
