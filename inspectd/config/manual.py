"""The manual of the station file, written from the schema: `python -m inspectd.config.manual`.

The words come from the docstrings of the schema and of the rules, so the page cannot say something
else than the program does; a test compares `docs/station-file.md` with what this module writes.
"""

import ast
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from inspectd.config import crossrules, diskrules, schema
from inspectd.config.complaint import CrossRule
from inspectd.config.derive import line_shape
from inspectd.config.groups import Group, Key, ListOf, Maybe, OneOf
from inspectd.config.shapes import Shape, plain

__all__ = ["manual", "schema_modules", "words_of_keys"]

_HEAD = """\
# The station file

*Written by `python -m inspectd.config.manual` from `inspectd/config/schema/`; do not edit.*

One YAML file describes one line: its stations, models, engine and record.
`stations/example.yaml` shows every key in use.
`inspectd check FILE` says every fault at once, each with line, column, key and remedy,
and ends with 0 (right) or 2 (wrong).

## How it is read

- Unknown keys, keys given twice and missing keys are faults. Nothing is guessed.
- Units are in the names: `_ms`, `_hz`, `_px`, `_mm`, `_um`, `_mb`. Limits are included,
  unless the text says "above".
- Paths that do not begin with `/` start at the folder of the station file.
  `~` and `$VARIABLES` are not expanded.
- A whole number is fine where a number is wanted, a fraction is not where a whole number is wanted.
  `true` and `false` are no numbers. `.nan` and `.inf` are refused.
- Readers of YAML disagree on some unquoted values, and inspectd refuses these instead of choosing:
  `yes`, `no`, `on`, `off` (text or truth), `010` (8 or 10), `1e3` (text or number), `1_000`,
  `12:30` (text or 750), `2026-01-31` (text or date).
  Put them in quotes where a text is wanted, write plain digits where a number is.
- A key with nothing after its colon is a fault. `null` says "none" where none is allowed.
- Anchors, aliases, merge keys (`&name`, `*name`, `<<`) and tags (`!name`) are refused:
  what a station does stands at the station, and a change to one never reaches another unseen.
- One document in a file, UTF-8, at most 1 MB.
- The recipe digest in every record is the first 12 digits of `sha256sum FILE`:
  any change of the file, comments too, is another recipe.
"""


def manual() -> str:
    """Answer the page, Markdown."""
    parts = [_HEAD, "## Keys\n"]
    words = words_of_keys()
    groups = list(_groups(line_shape(), "", set()))
    parts += [_section(title, group, words) for title, group in groups]
    titles = {group.cls: title for title, group in groups}
    parts.append("## Rules between keys")
    parts.append("\n".join(_rules(crossrules.RULES, titles)) + "\n")
    parts.append("## What must be on the disk")
    parts.append("\n".join(_rules(diskrules.DISK_RULES, titles)) + "\n")
    return "\n".join(parts)


def words_of_keys() -> dict[tuple[str, str], str]:
    """Answer the docstring of every key of the schema, by class and key, on one line."""
    words: dict[tuple[str, str], str] = {}
    sources = (inspect.getsource(module) for module in schema_modules())
    for cls in (statement for source in sources for statement in ast.parse(source).body):
        if not isinstance(cls, ast.ClassDef):
            continue
        for first, second in zip(cls.body, cls.body[1:], strict=False):
            text = _docstring(second)
            if isinstance(first, ast.AnnAssign) and isinstance(first.target, ast.Name) and text:
                words[cls.name, first.target.id] = text
    return words | _inherited(words)


def _inherited(words: dict[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    """Answer the words of keys that a class has from another one of the schema."""
    return {
        (cls.__name__, name): text
        for cls in vars(schema).values()
        if isinstance(cls, type)
        for base in cls.__mro__[1:]
        for (owner, name), text in words.items()
        if owner == base.__name__
    }


def schema_modules() -> list[ModuleType]:
    """The files of the schema."""
    return [
        importlib.import_module(f"{schema.__name__}.{found.name}")
        for found in pkgutil.iter_modules(schema.__path__)
    ]


def _docstring(statement: ast.stmt) -> str:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return " ".join(str(statement.value.value).split())
    return ""


def _groups(shape: Shape, at: str, seen: set[str]) -> Iterator[tuple[str, Group]]:
    """Walk all groups, outer before inner, each once, with the key where it is found."""
    if isinstance(shape, ListOf):
        yield from _groups(shape.item, f"{at}[]", seen)
    elif isinstance(shape, Maybe):
        yield from _groups(shape.inner, at, seen)
    elif isinstance(shape, OneOf):
        for kind, group in shape.groups:
            yield from _group(group, at, f"`{at}` with `kind: {kind}`", seen)
    elif isinstance(shape, Group):
        yield from _group(shape, at, f"`{at}`" if at else "The top of the file", seen)


def _group(group: Group, at: str, title: str, seen: set[str]) -> Iterator[tuple[str, Group]]:
    if group.cls.__name__ in seen:
        return
    seen.add(group.cls.__name__)
    yield title, group
    for key in group.keys:
        yield from _groups(key.shape, f"{at}.{key.name}" if at else key.name, seen)


def _section(title: str, group: Group, words: dict[tuple[str, str], str]) -> str:
    lines = [f"### {title}\n", inspect.cleandoc(group.cls.__doc__ or "") + "\n"]
    lines += ["| key | value | default | meaning |", "| --- | --- | --- | --- |"]
    for key in group.keys:
        if not key.is_by_loader:
            lines.append(_row(key, words.get((group.cls.__name__, key.name), "")))
    return "\n".join(lines) + "\n"


def _row(key: Key, meaning: str) -> str:
    default = "must be given" if key.is_needed else _default(key.default)
    return f"| `{key.name}` | {key.shape.expected} | {default} | {meaning} |".replace("|  |", "| |")


def _default(value: Any) -> str:
    if value is None or value == ():
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, float):
        return f"`{plain(value)}`"
    if isinstance(value, tuple):
        return f"`[{', '.join(map(str, value))}]`"
    if isinstance(value, str | int):
        return f"`{value}`" if value != "" else "empty"
    return "`{}`"


def _rules(rules: Iterable[tuple[type[Any], CrossRule]], titles: dict[type[Any], str]) -> list[str]:
    """List the rules under the group that they are about."""
    lines: list[str] = []
    for cls, rule in rules:
        heading = f"\n{titles[cls]}:\n"
        lines += [] if heading in lines else [heading]
        lines += [f"- {' '.join(inspect.cleandoc(rule.__doc__ or '').split())}"]
    return lines


if __name__ == "__main__":
    sys.stdout.write(manual())
