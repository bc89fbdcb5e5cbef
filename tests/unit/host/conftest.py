"""Lines for the tests of the host."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from inspectd.config.load import load
from inspectd.config.schema import Line

_DEMO = Path(__file__).parents[3] / "stations" / "demo.yaml"


@pytest.fixture(scope="session")
def line_of() -> Callable[[int], Line]:
    """Answer the demo line with so many stations."""
    demo = load(_DEMO)

    def made(stations: int) -> Line:
        return replace(demo, stations=demo.stations[:1] * stations)

    return made
