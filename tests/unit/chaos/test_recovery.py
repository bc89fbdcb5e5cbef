"""The table of a campaign: counts, breaches and times per kind."""

from hypothesis import given
from hypothesis import strategies as st

from inspectd.chaos.audit import Breach
from inspectd.chaos.kinds import KINDS
from inspectd.chaos.recovery import Done, rank, table

S = 1_000_000_000


def _done(number: int, kind: str, recovery_s: float | None) -> Done:
    recovered = 0 if recovery_s is None else int(5 * S + recovery_s * S)
    return Done(number, kind, 5 * S, 6 * S, recovered, 5 * S)


def test_a_row_per_kind_with_its_breaches_and_times() -> None:
    """In the order of the table; a fault without recovery has no time, but is counted."""
    done = [
        _done(1, "kill-gate", 0.5),
        _done(2, "kill-camera", 0.25),
        _done(3, "kill-gate", 1.5),
        _done(4, "kill-gate", None),
    ]
    breaches = [Breach("no_recovery", 0, "", 4), Breach("leak", 0, "", 0)]
    camera, gate = table(KINDS, done, breaches)
    assert (camera.kind, camera.count, camera.breaches, camera.p50_s) == ("kill-camera", 1, 0, 0.25)
    assert (gate.count, gate.breaches, gate.p50_s, gate.p99_s) == (3, 1, 0.5, 1.5)


@given(st.lists(st.floats(0, 100), min_size=1), st.floats(0.01, 1))
def test_a_percentile_is_a_value_that_occurred(values: list[float], share: float) -> None:
    """And at least that share of the values is not above it."""
    found = rank(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values)
