"""The reference page is what the schema says."""

import dataclasses
from pathlib import Path

from inspectd.config import schema
from inspectd.config.manual import manual, words_of_keys

PAGE = Path(__file__).parents[3] / "docs" / "station-file.md"


def test_the_page_is_up_to_date() -> None:
    """Remedy: `python -m inspectd.config.manual > docs/station-file.md`."""
    assert PAGE.read_text(encoding="utf-8") == manual()


def test_every_key_has_words() -> None:
    """A key without a docstring in the schema has no place in it; `kind` explains itself."""
    words = words_of_keys()
    for cls in vars(schema).values():
        if isinstance(cls, type) and dataclasses.is_dataclass(cls):
            for field in dataclasses.fields(cls):
                assert field.name == "kind" or words.get((cls.__name__, field.name))


def test_every_key_is_in_the_page() -> None:
    """Every key that may be given has a row; what the loader sets has none."""
    text = manual()
    for cls in vars(schema).values():
        if isinstance(cls, type) and dataclasses.is_dataclass(cls):
            for field in dataclasses.fields(cls):
                assert (f"| `{field.name}` |" in text) is not field.metadata["by_loader"]
