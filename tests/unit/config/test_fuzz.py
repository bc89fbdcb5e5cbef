"""Whatever stands in a file, loading it answers a line or faults, and never anything else."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspectd.config.load import line_of
from inspectd.config.schema import Line
from inspectd.errors import StationFault, StationFaults

EXAMPLE = (Path(__file__).parents[3] / "stations" / "example.yaml").read_text(encoding="utf-8")
ROWS = [row for row in EXAMPLE.splitlines() if row.strip() and not row.strip().startswith("#")]
TOKENS = [
    *":-,[]{}&*!|>%@`'\"#?~=\t\n",
    *("<<", "---", "...", "null", "true", "no", "on", "010", "0x1F", "1e3", ".inf", ".nan", "-1"),
    *("12:30", "2026-01-31", "&a", "*a", "!!int", "!x", "kind", "", "9" * 5000),
    *("\\U00110000", "\ud7ff", "\ud800", "\x85", "\u2028", "\ufeff", "\x00", "é"),
]


def holds(data: bytes) -> None:
    """Load, and hold the answer against what is promised."""
    answer = answer_to(data)
    if isinstance(answer, Line):
        assert answer.stations
        return
    assert answer
    for fault in answer:
        assert fault.line >= 1
        assert fault.column >= 1
        assert str(fault).isprintable()
    places = [(fault.line, fault.column) for fault in answer]
    assert places == sorted(places)


def answer_to(data: bytes) -> Line | tuple[StationFault, ...]:
    """Load bytes; whatever is raised but `StationFaults` fails the test."""
    try:
        return line_of(data, "fuzz.yaml", must_exist=False)[0]
    except StationFaults as refused:
        return refused.faults


@pytest.mark.slow
@given(st.binary(max_size=200))
def test_any_bytes_are_refused_with_faults(data: bytes) -> None:
    """Random bytes never raise anything but `StationFaults`."""
    holds(data)


@pytest.mark.slow
@given(st.text(max_size=200))
def test_any_text_is_refused_with_faults(text: str) -> None:
    """Random text, all of Unicode, never raises anything but `StationFaults`."""
    holds(text.encode("utf-8", "surrogatepass"))


@pytest.mark.slow
@given(st.lists(st.sampled_from(TOKENS), max_size=30), st.sampled_from(["", " ", "\n"]))
def test_any_yaml_is_refused_with_faults(tokens: list[str], glue: str) -> None:
    """The signs of YAML in any order never raise anything but `StationFaults`."""
    holds(glue.join(tokens).encode("utf-8", "surrogatepass"))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, len("\n".join(ROWS))),
            st.integers(0, 12),
            st.one_of(st.sampled_from(TOKENS), st.text(max_size=4)),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_a_damaged_example_is_a_line_or_faults(damages: list[tuple[int, int, str]]) -> None:
    """Pieces of the example replaced by others never raise anything but `StationFaults`."""
    text = "\n".join(ROWS)
    for start, length, other in damages:
        text = text[:start] + other + text[start + length :]
    holds(text.encode("utf-8", "surrogatepass"))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_an_example_with_other_rows_is_a_line_or_faults(data: st.DataObject) -> None:
    """Rows left out, doubled or swapped never raise anything but `StationFaults`."""
    rows = list(ROWS)
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(rows) - 1))
        to = data.draw(st.integers(0, len(rows) - 1))
        how = data.draw(st.sampled_from(["out", "double", "swap"]))
        if how == "out":
            del rows[at]
        elif how == "double":
            rows.insert(to, rows[at])
        else:
            rows[at], rows[to] = rows[to], rows[at]
    holds("\n".join(rows).encode())
