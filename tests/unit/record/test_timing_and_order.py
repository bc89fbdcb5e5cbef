"""Percentiles that occurred, and the order of verdicts."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.record.order import order_of
from inspectd.record.reading import Part
from inspectd.record.timing import budgets_ms, percentile, times_ms


def part(trigger_id: int, sent_ns: int = 1, **values: Any) -> Part:
    """An event with few facts."""
    facts: dict[str, Any] = {
        "sequence": 1,
        "station": "cam-1",
        "part_id": "",
        "verdict": "OK",
        "reason": "NONE",
        "judged": "",
        "deadline_ns": 0,
        "fired_ns": 0,
        "decided_ns": sent_ns,
        "batch": 1,
        "archive": None,
        "detail": "{}",
        **dict.fromkeys(f"{name}_ms" for name in ("camera", "gate", "infer", "judge", "sink")),
        "total_ms": None,
    }
    return Part(trigger_id=trigger_id, sent_ns=sent_ns, **{**facts, **values})


def ids(*triggers: int) -> list[Part]:
    """Parts whose verdicts left one after the other."""
    return [part(trigger, place + 1) for place, trigger in enumerate(triggers)]


@given(st.lists(st.floats(0, 1e6), min_size=1), st.sampled_from([0.5, 0.9, 0.99, 1.0]))
def test_a_percentile_is_the_smallest_value_that_enough_do_not_exceed(
    values: list[float], share: float
) -> None:
    """By its definition, for any values."""
    ordered = sorted(values)
    found = percentile(ordered, share)
    need = share * len(ordered) - 1e-9
    assert found in ordered
    assert sum(value <= found for value in ordered) >= need
    assert all(sum(one <= value for one in ordered) < need for value in ordered if value < found)


def test_the_p99_of_200_is_the_third_largest() -> None:
    """198 of 200 parts were not slower."""
    assert percentile([float(i) for i in range(1, 201)], 0.99) == 198


def test_times_are_held_against_the_budget(desk: Any) -> None:
    """Only parts that were there count; those over the budget are counted."""
    station = desk.line().stations[0]
    slow, fast, unfit = part(1, infer_ms=12.5), part(2, infer_ms=9.0), part(3)
    times = times_ms([slow, fast, unfit], budgets_ms(station))
    assert times["infer"] == {
        "count": 2,
        "p50": 9.0,
        "p99": 12.5,
        "max": 12.5,
        "budget": 10,
        "over_budget": 1,
    }
    assert times["camera"]["p50"] is None
    assert times["total"]["budget"] == 50


def test_without_a_station_file_no_budget_is_known() -> None:
    """The times are there all the same."""
    times = times_ms([part(1, infer_ms=1.0)], budgets_ms(None))
    assert (times["infer"]["max"], times["infer"]["over_budget"]) == (1.0, None)


def test_ids_that_count_up_are_complete_also_over_the_wrap() -> None:
    """32 bits are over after a year; nothing is amiss then."""
    assert order_of(ids(2**32 - 2, 2**32 - 1, 0, 1))["is_complete"]
    assert order_of([])["is_complete"]


@pytest.mark.parametrize(
    ("triggers", "kind", "found"),
    [
        ((1, 2, 5), "missing", [3, 4]),
        ((1, 2, 2, 3), "repeated", [2]),
        ((1, 2, 4, 3), "stepped_back", [3]),
    ],
)
def test_whatever_breaks_the_order_is_named(
    triggers: tuple[int, ...], kind: str, found: list[int]
) -> None:
    """Counted, with the ids."""
    order = order_of(ids(*triggers))
    assert order[kind]["ids"] == found
    assert order[kind]["count"] == len(found)
    assert not order["is_complete"]


def test_many_missing_ids_are_counted_but_not_all_listed() -> None:
    """A hundred thousand lost parts need no hundred thousand lines."""
    missing = order_of(ids(1, 100_002))["missing"]
    assert (missing["count"], len(missing["ids"])) == (100_000, 20)


def test_the_order_is_that_in_which_verdicts_left() -> None:
    """A record process that was restarted may have got them in another one."""
    assert order_of([part(2, 20), part(1, 10), part(3, 30)])["is_complete"]
    assert not order_of([part(1, 20), part(2, 10)])["is_complete"]


def test_a_verdict_that_no_plc_confirmed_is_named() -> None:
    """It was decided, but nobody was told."""
    order = order_of([part(1, 1), part(2, 0, decided_ns=2), part(3, 3)])
    assert order["never_sent"] == {"count": 1, "ids": [2]}
    assert not order["is_complete"]
