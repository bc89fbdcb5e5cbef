"""The book of the simulated PLC: everything that happens to a part, in the order it happened."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.frame import Reason, Verdict
from inspectd.plc.book import Entry, Happening, What, as_lines, read_line
from inspectd.plc.program import PlcProgram, Program
from inspectd.plc.registers import Head, StatusBit, VerdictBlock

MS = 1_000_000


@given(
    st.integers(0, 1 << 62),
    st.lists(
        st.builds(
            Happening,
            st.text(max_size=9),
            st.integers(0, (1 << 32) - 1),
            st.text(max_size=9),
            st.text(max_size=9),
            st.integers(0, 65535),
        )
    ),
)
def test_what_is_written_is_read_back(at_ns: int, happenings: list[Happening]) -> None:
    """One line each, whatever the words are."""
    lines = as_lines(at_ns, happenings).splitlines()
    assert [read_line(line) for line in lines] == [Entry(at_ns, one) for one in happenings]


@pytest.mark.parametrize("line", ["", "{}", "[1]", '[1,"fired",2]', "nonsense"])
def test_what_is_no_line_of_a_book_is_refused(line: str) -> None:
    """A line that was cut off by a kill must not be taken for another one."""
    with pytest.raises(ValueError, match=r".*"):
        read_line(line)


def test_a_part_is_booked_from_eye_to_gate() -> None:
    """Ready, fired, taken, passed; then the heartbeat stops, and parts go by unasked."""
    plc = PlcProgram(Program(rate_hz=10, window_ms=50, stale_ms=200))
    seen: list[Happening] = []
    block = VerdictBlock()
    for scan in range(80):
        head = Head(StatusBit.READY, min(scan, 10))
        done = plc.scan(scan * 10 * MS, head, block)
        if done.part.trigger_counter == 1 and not block.sequence:
            block = VerdictBlock(1, Verdict.OK, Reason.NONE, 9)
        seen.extend(done.happened)
    words = [(one.what, one.trigger_id) for one in seen]
    assert words[:4] == [(What.READY, 0), (What.FIRED, 1), (What.TAKEN, 1), (What.PASSED, 1)]
    assert (What.REJECTED, 2) in words
    assert words.index((What.UNREADY, 0)) < words.index((What.UNASKED, 0))


def test_the_rate_can_be_changed_and_stopped() -> None:
    """Rate 0 fires nothing; a new rate counts from the moment it is set."""
    plc = PlcProgram(Program(rate_hz=100))
    counter = 0
    paused = plc.scan(0, Head(), VerdictBlock())
    for scan in range(100):
        counter = plc.scan(scan * 5 * MS, Head(StatusBit.READY, scan), VerdictBlock()).part[0]
    plc.set_rate(0)
    for scan in range(100, 200):
        paused = plc.scan(scan * 5 * MS, Head(StatusBit.READY, scan), VerdictBlock())
        assert paused.part.trigger_counter == counter
    plc.set_rate(50)
    last = paused.part
    for scan in range(200, 300):
        last = plc.scan(scan * 5 * MS, Head(StatusBit.READY, scan), VerdictBlock()).part
    assert counter + 24 <= last.trigger_counter <= counter + 26
