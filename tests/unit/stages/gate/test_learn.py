"""Limits learnt from numbers: what they keep, what they cost, and when they are left out."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspectd.config.load import line_of
from inspectd.config.schema import Gate
from inspectd.stages.gate.learn import PICTURES_MIN, Learnt, learn, numbers_of
from inspectd.stages.gate.limits import Bound, Numbers
from inspectd.stages.gate.proposal import block_of

REGION_PX = 640 * 640

_numbers = st.builds(
    Numbers,
    sharpness=st.floats(0, 20_000),
    mean=st.floats(0, 255),
    share=st.floats(0, 1),
    blob_px=st.integers(0, REGION_PX).map(float),
    likeness=st.floats(-1, 1),
    fingerprint=st.integers(0, 3),
)
_folders = st.lists(_numbers, min_size=PICTURES_MIN, max_size=40)


def folder(count: int = 100, seed: int = 1) -> list[Numbers]:
    """Pictures of an ordinary station."""
    rng = np.random.default_rng(seed)
    return [
        Numbers(
            sharpness=float(200 * np.exp(rng.normal(0, 0.2))),
            mean=float(rng.normal(110, 4)),
            share=float(0.003 * np.exp(rng.normal(0, 0.2))),
            blob_px=float(round(500 * np.exp(rng.normal(0, 0.3)))),
            likeness=float(np.tanh(rng.normal(1.8, 0.1))),
            fingerprint=number,
        )
        for number in range(count)
    ]


def bound(learnt: Learnt, key: str) -> Bound:
    """One limit of all."""
    return next(one for one in learnt.bounds if one.key == key)


def with_all(taken: Sequence[Numbers], **values: float) -> list[Numbers]:
    """The same pictures, each with these numbers."""
    return [
        Numbers(
            sharpness=values.get("sharpness", one.sharpness),
            mean=values.get("mean", one.mean),
            share=values.get("share", one.share),
            blob_px=values.get("blob_px", one.blob_px),
            likeness=values.get("likeness", one.likeness or 0),
            fingerprint=one.fingerprint,
        )
        for one in taken
    ]


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(_folders, st.floats(0, 3))
def test_every_picture_learnt_from_is_fit_when_none_may_be_bad(
    taken: list[Numbers], margin: float
) -> None:
    """With `outliers` 0 the worst picture keeps the limit, whatever the numbers are."""
    learnt = learn(taken, REGION_PX, margin, outliers=0)
    assert learnt.unfit == 0
    assert all(one.beyond == 0 for one in learnt.bounds)


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(_folders, st.floats(0, 2), st.floats(0, 2))
def test_more_margin_never_tightens_a_limit(taken: list[Numbers], one: float, other: float) -> None:
    """Margin is room."""
    less, more = sorted((one, other))
    tight, wide = (learn(taken, REGION_PX, margin) for margin in (less, more))
    for narrow, roomy in zip(tight.bounds, wide.bounds, strict=True):
        moved = narrow.limit - roomy.limit
        assert moved >= 0 if narrow.is_lower else moved <= 0


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(_folders)
def test_limits_can_stand_in_a_station_file(taken: list[Numbers]) -> None:
    """Each inside of what its key allows."""
    ends = {"sharpness.min": 1e9, "glare.max_blob_px": REGION_PX, "saturation.max_share": 1}
    for one in learn(taken, REGION_PX).bounds:
        least = -1 if one.key.startswith("presence") else 0
        assert least <= one.limit <= ends.get(one.key, 255)


@pytest.mark.parametrize(("pictures", "order"), [(20, 1), (199, 1), (200, 2), (1000, 6)])
def test_seen_is_the_kth_worst(pictures: int, order: int) -> None:
    """One of two hundred pictures may be bad after all."""
    taken = folder(pictures)
    learnt = learn(taken, REGION_PX)
    assert learnt.order == order
    assert bound(learnt, "sharpness.min").seen == sorted(one.sharpness for one in taken)[order - 1]


def test_a_bad_picture_among_many_does_not_widen_the_limits() -> None:
    """A black one slipped in."""
    taken = folder(400)
    black = Numbers(0, 0, 0, 0, 0, -1)
    clean, soiled = (learn(some, REGION_PX) for some in (taken, [black, *taken]))
    assert bound(soiled, "exposure.min_mean").limit > 0.95 * bound(clean, "exposure.min_mean").limit
    assert soiled.unfit == 1


def test_the_arithmetic_is_the_one_described() -> None:
    """Sharpness on the scale log(1 + x), moved on by the distance from the median."""
    one = bound(learn(folder(), REGION_PX, margin=1.0), "sharpness.min")
    expected = (1 + one.seen) ** 2 / (1 + one.median) - 1
    assert one.limit == pytest.approx(expected, rel=1e-3)


def test_pictures_that_are_all_alike_still_get_slack() -> None:
    """A lamp ages: sharpness may fall by a third, the mean by an eighth."""
    taken = with_all(folder(), sharpness=300, mean=100, share=0, blob_px=0, likeness=0.999)
    learnt = learn(taken, REGION_PX, margin=0)
    limits = {one.key: one.limit for one in learnt.bounds}
    assert limits["sharpness.min"] == pytest.approx(200, rel=0.01)
    assert limits["exposure.min_mean"] == pytest.approx(87, rel=0.01)
    assert limits["exposure.max_mean"] == pytest.approx(115, rel=0.01)
    assert limits["saturation.max_share"] == 0.002
    assert limits["glare.max_blob_px"] == 82
    assert limits["presence.min_likeness"] == 0.9


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("saturation.max_share", {"share": 0.95}),
        ("glare.max_blob_px", {"blob_px": 0.4 * REGION_PX}),
        ("presence.min_likeness", {"likeness": 0.1}),
    ],
)
def test_a_check_that_would_find_nothing_is_left_out(key: str, values: dict[str, float]) -> None:
    """It says why, and does not count as a chance of a false call."""
    usual, learnt = (learn(some, REGION_PX) for some in (folder(), with_all(folder(), **values)))
    assert bound(learnt, key).left_out
    assert not bound(usual, key).left_out
    assert learnt.expected_unfit_share < usual.expected_unfit_share


def test_the_expected_rate_is_k_of_n_plus_one_for_each_limit() -> None:
    """Six limits, the worst of 99 pictures each."""
    assert learn(folder(99), REGION_PX).expected_unfit_share == pytest.approx(6 / 100)


@pytest.mark.slow
def test_the_expected_rate_holds_without_any_margin() -> None:
    """1000 stations, one more picture each, against the worst of 30 itself: 1 of 31 is beyond."""
    pictures = folder(31_000)
    beyond = 0
    for start in range(0, len(pictures), 31):
        *taken, following = pictures[start : start + 31]
        seen = bound(learn(taken, REGION_PX), "sharpness.min").seen
        beyond += following.sharpness < seen
    assert beyond / 1000 == pytest.approx(1 / 31, abs=0.02)


def test_kept_out_pictures_show_a_scene_that_changed() -> None:
    """The last fifth was taken under another lamp: the others do not teach it."""
    taken = folder(100)
    taken[80:] = with_all(taken[80:], mean=200)
    assert learn(folder(100), REGION_PX).unfit_kept_out <= 2
    assert learn(taken, REGION_PX).unfit_kept_out == 20


def test_repetitions_among_the_pictures_are_allowed_for() -> None:
    """The longest run of equal fingerprints."""
    taken = [Numbers(1, 1, 0, 0, None, one) for one in [1, 2, 2, 2, 3, 3, *range(10, 30)]]
    assert learn(taken, REGION_PX).max_repeats == 2


def test_too_few_pictures_are_refused() -> None:
    """Nothing is learnt from a handful."""
    with pytest.raises(ValueError, match="19 pictures"):
        learn(folder(PICTURES_MIN - 1), REGION_PX)


def test_likeness_is_measured_with_a_reference_only() -> None:
    """Without one, presence is not learnt either."""
    grey = np.random.default_rng(0).integers(0, 256, (40, 40), np.uint8)
    numbers = numbers_of(grey, (10, 10, 30, 30), 250, None)
    assert numbers.likeness is None
    learnt = learn([numbers] * PICTURES_MIN, 400)
    assert not any(one.key.startswith("presence") for one in learnt.bounds)


def gate_of(block: str, root: Path) -> Gate:
    """What the loader reads from the demo line with another gate."""
    text = (root / "stations" / "demo.yaml").read_text(encoding="utf-8")
    before, _, rest = text.partition("    gate:")
    after = "    model: bottle_cap\n" + rest.partition("    model: bottle_cap\n")[2]
    gate = "".join(f"    {line}\n" for line in block.splitlines())
    file = str(root / "stations" / "demo.yaml")
    line, _ = line_of((before + gate + after).encode(), file, must_exist=False)
    return line.stations[0].gate


def test_the_block_says_to_the_loader_what_was_learnt(root: Path) -> None:
    """Every limit, the region and the level arrive."""
    learnt = learn(folder(), REGION_PX)
    region = (8, 16, 600, 620)
    gate = gate_of(block_of(learnt, region, 240, "/there/it's a reference.png"), root)
    assert gate.sharpness is not None
    assert gate.exposure is not None
    assert gate.saturation is not None
    assert gate.glare is not None
    assert gate.presence is not None
    assert gate.frozen is not None
    read = {
        "sharpness.min": gate.sharpness.min,
        "exposure.min_mean": gate.exposure.min_mean,
        "exposure.max_mean": gate.exposure.max_mean,
        "saturation.max_share": gate.saturation.max_share,
        "glare.max_blob_px": gate.glare.max_blob_px,
        "presence.min_likeness": gate.presence.min_likeness,
    }
    assert read == {one.key: one.limit for one in learnt.bounds}
    assert gate.presence.reference == "/there/it's a reference.png"
    assert gate.glare.level == gate.saturation.level == 240
    assert {gate.sharpness.region, gate.exposure.region, gate.presence.region} == {region}


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(_folders, st.sampled_from([None, (0, 0, 640, 640)]))
def test_every_block_loads(root: Path, taken: list[Numbers], region: None) -> None:
    """Whatever was measured; checks left out are comments."""
    learnt = learn(taken, REGION_PX)
    gate = gate_of(block_of(learnt, region, 250, "ref.png"), root)
    left_out = {one.key.partition(".")[0] for one in learnt.bounds if one.left_out}
    assert all(
        (getattr(gate, name) is None) == (name in left_out)
        for name in ("sharpness", "exposure", "saturation", "glare", "presence")
    )
