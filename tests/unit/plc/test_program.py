"""The simulated PLC's program, scan by scan."""

from inspectd.frame import Reason, Verdict
from inspectd.plc.program import PlcProgram, Program
from inspectd.plc.registers import Flag, Head, StatusBit, VerdictBlock

MS = 1_000_000
NONE = VerdictBlock()


def _ready(beat: int) -> Head:
    return Head(StatusBit.READY, beat)


def _fired(plc: PlcProgram, parts: int) -> int:
    """Scan with a beating, ready vision until so many parts are fired; answer the time."""
    now_ns = 0
    for beat in range(1, 10_000):
        now_ns += 5 * MS
        if plc.scan(now_ns, _ready(beat), NONE).part.trigger_counter == parts:
            return now_ns
    raise AssertionError


def test_nothing_is_fired_before_vision_is_ready_and_beats() -> None:
    """The belt starts at the first Ready with a living heartbeat and the right test constant."""
    plc = PlcProgram(Program(rate_hz=100))
    for now in range(10):
        assert plc.scan(now * 50 * MS, Head(StatusBit.READY, 7), NONE).part.trigger_counter == 0
    for now in range(10, 20):
        head = _ready(now)._replace(test_constant=1)
        assert plc.scan(now * 50 * MS, head, NONE).part.trigger_counter == 0


def test_a_verdict_is_taken_when_its_sequence_changes_and_echoed() -> None:
    """The same block read twice is one verdict."""
    plc = PlcProgram(Program(rate_hz=10, parts=1))
    now_ns = _fired(plc, 1)
    block = VerdictBlock(1, Verdict.NG, Reason.DEFECT, 41)
    first, second = plc.scan(now_ns + MS, _ready(1), block), plc.scan(now_ns + 2, _ready(2), block)
    assert first.part.acknowledged == second.part.acknowledged == 41
    assert first.taken is not None
    assert second.taken is None
    assert plc.report()["counts"] == {"NG": 1}


def test_silence_rejects_at_the_end_of_the_window() -> None:
    """A part without a verdict gets the reject output; one with OK does not."""
    plc = PlcProgram(Program(rate_hz=10, parts=2, window_ms=300))
    now_ns = _fired(plc, 2)
    assert not plc.scan(now_ns, _ready(1), VerdictBlock(2, Verdict.OK, Reason.NONE, 1)).reject
    assert plc.scan(now_ns + 205 * MS, _ready(2), NONE).reject
    assert not plc.scan(now_ns + 301 * MS, _ready(3), NONE).reject
    report = plc.report()
    assert (report["passed"], report["rejected"], report["missing"]) == (1, 1, [1])


def test_an_ok_after_the_window_does_not_pass_the_part() -> None:
    """The PLC is the last to say what is too late."""
    plc = PlcProgram(Program(rate_hz=10, parts=1, window_ms=100))
    now_ns = _fired(plc, 1)
    plc.scan(now_ns + 101 * MS, _ready(1), NONE)
    plc.scan(now_ns + 102 * MS, _ready(2), VerdictBlock(1, Verdict.OK, Reason.NONE, 1))
    report = plc.report()
    assert (report["passed"], report["rejected"], report["after_window"]) == (0, 1, 1)


def test_twice_backwards_and_unknown_are_told_apart() -> None:
    """The report names each fault of vision by the part's id."""
    plc = PlcProgram(Program(rate_hz=100, parts=3))
    now_ns = _fired(plc, 3)
    for sequence, key in enumerate((2, 2, 1, 9), start=1):
        now_ns += MS
        plc.scan(now_ns, _ready(sequence), VerdictBlock(key, Verdict.OK, Reason.NONE, sequence))
    report = plc.report()
    assert report["duplicates"] == [2]
    assert report["out_of_order"] == [1]
    assert report["unknown"] == [9]
    assert report["missing"] == [3]


def test_a_heartbeat_that_stands_still_means_reject_everything() -> None:
    """Ready alone is not believed; parts pass unasked and are counted."""
    plc = PlcProgram(Program(rate_hz=10, stale_ms=500))
    now_ns = _fired(plc, 1)
    scans = [plc.scan(now_ns + beat * 5 * MS, _ready(1), NONE) for beat in range(200)]
    report = plc.report()
    assert scans[-1].part.flags & Flag.REJECT_ALL
    assert report["heartbeat_lost"] == 1
    assert int(str(report["passed_unready"])) >= 4
