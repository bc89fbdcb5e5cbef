"""The plan of a campaign: a function of its seed."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.chaos.kinds import KINDS, Kind, chosen
from inspectd.chaos.plan import PAUSE_S, describe, plan
from inspectd.frame import Role


@given(st.integers(0, 1 << 40), st.integers(0, 120), st.integers(1, 3))
def test_the_same_seed_gives_the_same_faults(seed: int, count: int, stations: int) -> None:
    """And a longer campaign begins as the shorter one: a breach is found again by its number."""
    short = plan(seed, count, KINDS, stations)
    assert plan(seed, count + 50, KINDS, stations)[:count] == short
    assert [fault.number for fault in short] == list(range(1, count + 1))


@given(st.integers(0, 1 << 40))
def test_every_kind_has_its_share(seed: int) -> None:
    """However long: no kind is done more than once more often than another."""
    counts = Counter(fault.kind.name for fault in plan(seed, 500, KINDS, 1))
    assert set(counts) == {kind.name for kind in KINDS}
    assert max(counts.values()) - min(counts.values()) <= 1


@given(st.integers(0, 1 << 40))
def test_times_keep_to_the_table(seed: int) -> None:
    """Nothing lasts longer than its kind says, and no station is invented."""
    for fault in plan(seed, 100, KINDS, 2):
        shortest, longest = fault.kind.lasts_s
        assert shortest - 0.001 <= fault.lasts_s <= longest + 0.001
        assert PAUSE_S[0] <= fault.pause_s <= PAUSE_S[1]
        assert fault.station in (0, 1)


def test_kinds_have_names_of_their_own() -> None:
    """A report names them."""
    names = [kind.name for kind in KINDS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.NOBODY])
def test_every_process_is_killed_or_known(role: Role) -> None:
    """A role that every line has must be struck."""
    killed = {kind.role for kind in KINDS if kind.name.startswith("kill-")}
    on_demand = int(role) > Role.SUPERVISOR
    assert role in killed or on_demand


def test_kinds_are_chosen_by_name_or_family() -> None:
    """And a name that nobody has is answered, not passed over."""
    kinds, unknown = chosen(["wire", "flood", "nonsense"])
    assert {kind.name for kind in kinds} >= {"wire-reset", "wire-garble", "flood"}
    assert all(kind.name.startswith(("wire-", "flood")) for kind in kinds)
    assert unknown == ("nonsense",)


def test_a_fault_is_described_in_a_line() -> None:
    """Number, kind, how long, where."""
    kind = Kind(name="x", action=KINDS[0].action, lasts_s=(1.0, 1.0))
    (fault,) = plan(1, 1, [kind], 1)
    assert describe(fault) == "#1 x for 1.00 s (station 0)"
