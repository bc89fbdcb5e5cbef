"""Rejected parts are looked for in the bin."""

from hypothesis import given
from hypothesis import strategies as st

from inspectd.stages.reject.confirmation import Confirmation

MS = 1_000_000


def bin_sensor() -> Confirmation:
    """A part is there within 500 ms; three that are not are a fault."""
    return Confirmation(window_ns=500 * MS, early_ns=50 * MS, unconfirmed_max=3)


@given(st.lists(st.booleans(), max_size=40))
def test_so_many_in_a_row_are_a_fault(seen: list[bool]) -> None:
    """Each one that is seen begins the count anew; the fault itself stays."""
    sensor, is_faulty, in_a_row = bin_sensor(), False, 0
    for index, is_seen in enumerate(seen):
        at_ns = index * 1000 * MS
        sensor.expect(at_ns)
        if is_seen:
            sensor.see(at_ns + 100 * MS)
        assert sensor.missed(at_ns + 501 * MS) == (not is_seen)
        in_a_row = 0 if is_seen else in_a_row + 1
        is_faulty = is_faulty or in_a_row >= 3
        assert (sensor.in_a_row, sensor.is_faulty) == (in_a_row, is_faulty)
    assert len(sensor) == 0


def test_a_part_is_expected_until_the_end_of_its_window() -> None:
    """Not a moment less."""
    sensor = bin_sensor()
    sensor.expect(0)
    assert sensor.due_at_ns() == 500 * MS
    assert sensor.missed(500 * MS) == 0
    assert sensor.missed(500 * MS + 1) == 1
    assert sensor.due_at_ns() is None


def test_a_part_may_be_seen_a_little_before_it_is_thought_to_be_there() -> None:
    """Positions are not exact; a sighting of long ago was something else."""
    sensor = bin_sensor()
    sensor.see(100 * MS)
    sensor.expect(149 * MS)
    assert len(sensor) == 0
    sensor.see(200 * MS)
    sensor.expect(260 * MS)
    assert len(sensor) == 1


def test_several_on_their_way_are_seen_one_after_the_other() -> None:
    """The bin may lie further away than the next part."""
    sensor = bin_sensor()
    for index in range(4):
        sensor.expect(index * 100 * MS)
    for index in range(4):
        sensor.see(450 * MS + index * 100 * MS)
    assert sensor.missed(2000 * MS) == 0


def test_a_fault_stays_until_somebody_resets_it() -> None:
    """A later sighting does not say that the ejector works."""
    sensor = bin_sensor()
    for index in range(3):
        sensor.expect(index * MS)
    assert sensor.missed(1000 * MS) == 3
    sensor.expect(1000 * MS)
    sensor.see(1001 * MS)
    assert sensor.is_faulty
    sensor.reset()
    assert not sensor.is_faulty


def test_what_could_not_be_seen_is_not_missed() -> None:
    """While the module was away nobody looked."""
    sensor = bin_sensor()
    sensor.expect(0)
    sensor.forget()
    assert sensor.missed(1000 * MS) == 0
