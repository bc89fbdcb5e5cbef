"""The rules of a station, as a table of examples and as properties."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.config.schema import CountRule, EachHasRule, ForbidRule, Rule
from inspectd.frame import Detection, Reason, Verdict
from inspectd.stages.judge.rules import Judgement, _most_pairs, evaluate

FRAME_W, FRAME_H = 200, 100


def box(label: str, *corners: float, score: float = 0.9) -> Detection:
    """A detection: `x1 y1 x2 y2`."""
    return Detection(label, score, *corners)


def judge(rule: Rule, *found: Detection, um_per_px: float = 0.0) -> Judgement:
    """Hold what was found against one rule."""
    return evaluate((rule,), found, FRAME_W, FRAME_H, um_per_px)


NO_SCRATCH = ForbidRule(
    kind="forbid", name="no-scratch", labels=("Scratch", "Dent"), min_score=0.5, min_size_px=10
)
IN_REGION = ForbidRule(
    kind="forbid", name="r", labels=("Scratch",), min_score=0.5, region=(50, 20, 150, 80)
)
TWO_TOLERATED = ForbidRule(
    kind="forbid", name="few", labels=("Scratch",), min_score=0.5, max_count=2
)
IN_MM = ForbidRule(kind="forbid", name="mm", labels=("Scratch",), min_score=0.5, min_size_mm=1.0)
ONE_TO_TWO = CountRule(kind="count", name="pins", label="Pin", min_score=0.5, min=1, max=2)
HAS_CAP = EachHasRule(
    kind="each_has",
    name="cap",
    label="Bottle",
    needs="Cap",
    min_score=0.5,
    needs_min_score=0.3,
)
CUT_COUNTS = EachHasRule(
    kind="each_has",
    name="cap",
    label="Bottle",
    needs="Cap",
    min_score=0.5,
    needs_min_score=0.3,
    ignore_cut=False,
)
LEFT_ONLY = EachHasRule(
    kind="each_has",
    name="cap",
    label="Bottle",
    needs="Cap",
    min_score=0.5,
    needs_min_score=0.3,
    region=(0, 0, 100, 100),
)
PIN = box("Pin", 10, 10, 20, 20)
BOTTLE = box("Bottle", 20, 10, 60, 90)
CAP = box("Cap", 30, 10, 50, 20)
ON_LEFT_EDGE = box("Scratch", 45, 40, 55, 60)
ON_RIGHT_EDGE = box("Scratch", 145, 40, 155, 60)


@pytest.mark.parametrize(
    ("rule", "found", "reason"),
    [
        pytest.param(NO_SCRATCH, (), Reason.NONE, id="nothing forbidden found"),
        pytest.param(NO_SCRATCH, (box("Dent", 5, 5, 15, 8),), Reason.DEFECT, id="longer side"),
        pytest.param(NO_SCRATCH, (box("Dent", 5, 5, 14.9, 8),), Reason.NONE, id="too small"),
        pytest.param(
            NO_SCRATCH, (box("Dent", 5, 5, 50, 50, score=0.49),), Reason.NONE, id="low score"
        ),
        pytest.param(
            NO_SCRATCH, (box("Dent", 5, 5, 50, 50, score=0.5),), Reason.DEFECT, id="at limit"
        ),
        pytest.param(NO_SCRATCH, (box("Cap", 5, 5, 50, 50),), Reason.NONE, id="another class"),
        pytest.param(IN_REGION, (ON_LEFT_EDGE,), Reason.DEFECT, id="left edge is inside"),
        pytest.param(IN_REGION, (ON_RIGHT_EDGE,), Reason.NONE, id="right edge is outside"),
        pytest.param(IN_REGION, (box("Scratch", 60, 70, 70, 90),), Reason.NONE, id="lower edge"),
        pytest.param(TWO_TOLERATED, (ON_LEFT_EDGE,) * 2, Reason.NONE, id="as many as tolerated"),
        pytest.param(TWO_TOLERATED, (ON_LEFT_EDGE,) * 3, Reason.DEFECT, id="one too many"),
        pytest.param(ONE_TO_TWO, (), Reason.COUNT_LOW, id="too few"),
        pytest.param(ONE_TO_TWO, (PIN,), Reason.NONE, id="enough"),
        pytest.param(ONE_TO_TWO, (PIN,) * 2, Reason.NONE, id="still enough"),
        pytest.param(ONE_TO_TWO, (PIN,) * 3, Reason.COUNT_HIGH, id="too many"),
        pytest.param(HAS_CAP, (), Reason.NONE, id="no bottle needs no cap"),
        pytest.param(HAS_CAP, (BOTTLE,), Reason.PAIR_MISSING, id="no cap"),
        pytest.param(HAS_CAP, (BOTTLE, CAP), Reason.NONE, id="its cap"),
        pytest.param(HAS_CAP, (CAP,), Reason.NONE, id="a cap needs no bottle"),
        pytest.param(
            HAS_CAP, (BOTTLE, BOTTLE, CAP), Reason.PAIR_MISSING, id="one cap serves one bottle"
        ),
        pytest.param(
            HAS_CAP, (BOTTLE, box("Cap", 55, 10, 65, 20)), Reason.NONE, id="half of the cap inside"
        ),
        pytest.param(
            HAS_CAP,
            (BOTTLE, box("Cap", 56, 10, 66, 20)),
            Reason.PAIR_MISSING,
            id="less than half inside",
        ),
        pytest.param(
            HAS_CAP,
            (BOTTLE, box("Cap", 30, 10, 30, 10)),
            Reason.PAIR_MISSING,
            id="an empty box is no cap",
        ),
        pytest.param(HAS_CAP, (box("Bottle", 2, 10, 60, 90),), Reason.NONE, id="cut left"),
        pytest.param(HAS_CAP, (box("Bottle", 50, 10, 198, 90),), Reason.NONE, id="cut right"),
        pytest.param(HAS_CAP, (box("Bottle", 50, 1, 90, 90),), Reason.NONE, id="cut at the top"),
        pytest.param(HAS_CAP, (box("Bottle", 50, 9, 90, 99),), Reason.NONE, id="cut at the foot"),
        pytest.param(
            HAS_CAP, (box("Bottle", 2.1, 2.1, 197.9, 97.9),), Reason.PAIR_MISSING, id="just whole"
        ),
        pytest.param(
            CUT_COUNTS, (box("Bottle", 0, 10, 60, 90),), Reason.PAIR_MISSING, id="cut ones count"
        ),
        pytest.param(
            LEFT_ONLY, (box("Bottle", 120, 10, 160, 90),), Reason.NONE, id="outside the region"
        ),
    ],
)
def test_a_rule_counts_what_its_words_say(
    rule: Rule, found: tuple[Detection, ...], reason: Reason
) -> None:
    """Each row is one sentence of the manual."""
    judgement = judge(rule, *found)
    assert judgement.reason is reason
    assert judgement.verdict is (Verdict.OK if reason is Reason.NONE else Verdict.NG)


def test_a_size_in_mm_is_taken_from_the_size_of_a_pixel() -> None:
    """At 50 um a pixel, 1 mm is 20 px of the longer side."""
    assert judge(IN_MM, box("Scratch", 0, 0, 20, 5), um_per_px=50).verdict is Verdict.NG
    assert judge(IN_MM, box("Scratch", 0, 0, 19, 5), um_per_px=50).verdict is Verdict.OK


def test_an_unknown_size_of_a_pixel_never_makes_a_part_good() -> None:
    """A limit in mm that cannot be applied lets the object count."""
    assert judge(IN_MM, box("Scratch", 0, 0, 1, 1), um_per_px=0).verdict is Verdict.NG


def test_the_first_broken_rule_gives_the_reason_and_all_are_named() -> None:
    """The order of the station file decides which code the PLC gets; the record has all."""
    found = [BOTTLE, box("Scratch", 0, 0, 20, 20)]
    judgement = evaluate((ONE_TO_TWO, HAS_CAP, NO_SCRATCH), found, FRAME_W, FRAME_H, 0)
    assert judgement.reason is Reason.COUNT_LOW
    assert [(one.rule, one.found) for one in judgement.broken] == [
        ("pins", 0),
        ("cap", 1),
        ("no-scratch", 1),
    ]


def test_words_tell_what_was_found_against_what_was_wanted() -> None:
    """The record can be read without the station file."""
    found = (box("Scratch", 0, 0, 20, 20), box("Dent", 0, 0, 20, 20))
    assert judge(NO_SCRATCH, *found).broken[0].words == "2 objects of Dent, Scratch, 0 tolerated"
    assert judge(HAS_CAP, BOTTLE).broken[0].words == "1 of 1 object of Bottle without Cap"
    assert judge(ONE_TO_TWO).broken[0].words == "0 objects of Pin, at least 1 wanted"


def test_caps_are_shared_out_so_that_a_good_part_is_not_called_bad() -> None:
    """Both caps lie in the first bottle's box, one also in the second's: both are served."""
    first, second = box("Bottle", 20, 10, 80, 90), box("Bottle", 60, 10, 120, 90)
    shared, own = box("Cap", 62, 10, 78, 20), box("Cap", 25, 10, 45, 20)
    for order in permutations((first, second, shared, own)):
        assert judge(HAS_CAP, *order).verdict is Verdict.OK


def _brute_force(choices: list[list[int]]) -> int:
    """The largest assignment, by trying all."""
    if not choices:
        return 0
    head, rest = choices[0], choices[1:]
    best = _brute_force(rest)
    for thing in head:
        best = max(best, 1 + _brute_force([[i for i in row if i != thing] for row in rest]))
    return best


@pytest.mark.slow
@given(st.lists(st.lists(st.integers(0, 5), unique=True, max_size=5), max_size=5))
def test_the_assignment_is_the_largest_there_is(choices: list[list[int]]) -> None:
    """Against trying all assignments."""
    assert _most_pairs(choices) == _brute_force(choices)


def test_a_long_chain_of_second_choices_is_followed_to_its_end() -> None:
    """Each owner can have its own or its neighbour's; the last one only its neighbour's."""
    size = 2000
    choices = [[i, i + 1] for i in range(size)] + [[0]]
    assert _most_pairs(choices) == size + 1


COORDINATE = st.floats(0, 200, allow_nan=False, width=32)
DETECTION = st.builds(
    Detection,
    st.sampled_from(["Scratch", "Dent", "Pin", "Bottle", "Cap"]),
    st.floats(0, 1, width=32),
    COORDINATE,
    COORDINATE,
    COORDINATE,
    COORDINATE,
)
ALL_RULES: tuple[Rule, ...] = (NO_SCRATCH, IN_REGION, TWO_TOLERATED, ONE_TO_TWO, HAS_CAP, LEFT_ONLY)


@pytest.mark.slow
@given(st.lists(DETECTION, max_size=12))
def test_the_order_of_detections_changes_nothing(found: list[Detection]) -> None:
    """Models give no order that means anything."""
    shuffled = sorted(found, key=lambda one: (one.y2, one.x1, one.score), reverse=True)
    assert evaluate(ALL_RULES, found, FRAME_W, FRAME_H, 10) == evaluate(
        ALL_RULES, shuffled, FRAME_W, FRAME_H, 10
    )


@pytest.mark.slow
@given(st.lists(DETECTION, max_size=12))
def test_a_part_is_good_only_when_each_rule_alone_calls_it_good(found: list[Detection]) -> None:
    """All must hold; no rule hides another."""
    together = evaluate(ALL_RULES, found, FRAME_W, FRAME_H, 10)
    alone = [evaluate((rule,), found, FRAME_W, FRAME_H, 10) for rule in ALL_RULES]
    assert together.broken == tuple(broken for one in alone for broken in one.broken)
    assert (together.verdict is Verdict.OK) == all(one.verdict is Verdict.OK for one in alone)


@pytest.mark.slow
@given(st.lists(DETECTION, max_size=12), DETECTION)
def test_one_more_defect_never_makes_a_part_good(found: list[Detection], more: Detection) -> None:
    """Forbidding is monotonic in what is found."""
    before = evaluate((NO_SCRATCH,), found, FRAME_W, FRAME_H, 0).verdict
    after = evaluate((NO_SCRATCH,), [*found, more], FRAME_W, FRAME_H, 0).verdict
    assert not (before is Verdict.NG and after is Verdict.OK)
