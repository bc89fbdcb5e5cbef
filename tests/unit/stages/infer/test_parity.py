"""Parity tells what an engine finds otherwise than plain FP32, place by place in the batch."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.frame import Detection
from inspectd.model import directory
from inspectd.stages.infer.engine import Array, Batch
from inspectd.stages.infer.look import Look
from inspectd.stages.infer.parity import Comparison, compared, places_of
from inspectd.stages.infer.selftest import TOLERANCES

MODEL = Path(__file__).parents[4] / "inspectd" / "models" / "bottle_cap"
FP32, FP16 = TOLERANCES["fp32"], TOLERANCES["fp16"]


def box(score: float = 0.9, x1: float = 10.0, label: str = "Cap") -> Detection:
    """A box of 40 x 20 px."""
    return Detection(label, score, x1, 10.0, x1 + 40.0, 30.0)


class TestCompared:
    """One picture."""

    def test_the_same_differs_by_nothing(self) -> None:
        """Whatever the order."""
        found = [box(0.9), box(0.8, 100)]
        assert compared(found, found[::-1], 0.5, 1e-3) == Comparison()

    @pytest.mark.parametrize(
        ("found", "expected"),
        [
            ([], {"missing": 1, "is_blind": True}),
            ([box(label="Bottle")], {"missing": 1, "too_many": 1}),
            ([box(), box(0.7, 200)], {"too_many": 1}),
            ([box(0.85)], {"score": pytest.approx(0.05)}),
            ([box(0.9, 12)], {"box_px": 2.0, "iou": pytest.approx(38 / 42)}),
            ([box(0.9, 100)], {"missing": 1, "too_many": 1}),
        ],
    )
    def test_each_difference_is_named(
        self, found: list[Detection], expected: dict[str, object]
    ) -> None:
        """One cap is wanted."""
        comparison = compared([box()], found, 0.5, 1e-3)
        for name, value in expected.items():
            assert getattr(comparison, name) == value
        assert not comparison.is_within(FP32)

    def test_what_lies_at_the_threshold_may_be_on_either_side(self) -> None:
        """Rounding decides there, and no rule of a station should."""
        assert compared([box(0.5005)], [box(0.4999)], 0.5, 1e-3).is_within(FP32)
        assert compared([box(0.5005)], [], 0.5, 1e-3) == Comparison()

    def test_faint_boxes_are_no_business_of_it(self) -> None:
        """The model's threshold says what counts."""
        assert compared([], [box(0.3)], 0.5, 1e-3) == Comparison()

    @given(st.floats(0, 0.2), st.floats(0, 3))
    def test_the_tolerance_is_kept_at_its_edge(self, score: float, side: float) -> None:
        """At it: within; above it: over."""
        comparison = Comparison(score=score, box_px=side)
        assert comparison.is_within(FP16) == (score <= FP16.score and side <= FP16.box_px)

    def test_numbers_that_are_none_are_never_within(self) -> None:
        """Whatever else is right."""
        assert not Comparison(is_finite=False).is_within(FP16)


class Fake:
    """Answers one cap in each frame whose tensor is marked, with a fault at one place."""

    def __init__(self, fault: str = "", at: int = -1, size: int = 0) -> None:
        self.fault, self.at, self.size = fault, at, size
        self.batches: list[int] = []

    def run(self, images: Batch, side: Mapping[str, Batch]) -> Sequence[Array]:
        """One anchor for each frame, of class 1."""
        batch = len(images)
        self.batches.append(batch)
        assert side["scale_factor"].shape == (batch, 2)
        boxes = np.tile(np.array([10, 10, 50, 30], np.float32), (batch, 1, 1))
        scores = np.zeros((batch, 2, 1), np.float32)
        scores[:, 1, 0] = np.where(images[:, 0, 0, 0] == 7.0, 0.9, 0.0)
        if batch == self.size and self.fault == "blind":
            scores[self.at] = 0
        elif batch == self.size and self.fault == "nan":
            scores[self.at] = np.nan
        elif batch == self.size and self.fault == "moved":
            boxes[self.at, :, 0] += 5
        return boxes, scores

    def describe(self) -> Mapping[str, str]:
        """It is none."""
        return {"kind": "fake"}


def looks(count: int) -> list[Look]:
    """Marked frames."""
    spec = directory.read(str(MODEL))
    tensors = [np.full(spec.tensor_shape, 7.0, np.float32) for _ in range(count)]
    return [Look(spec, tensor, 320, 320) for tensor in tensors]


@pytest.mark.parametrize("count", [1, 3, 6])
class TestPlaces:
    """All pictures, alone and at every place of a batch of four."""

    def test_an_engine_without_fault_is_within(self, count: int) -> None:
        """Each picture comes once at each place."""
        places = places_of((Fake(), Fake()), looks(count), 4, FP32)
        assert [(one.size, one.place) for one in places] == [(1, 1), (4, 1), (4, 2), (4, 3), (4, 4)]
        assert all(len(one.comparisons) == count for one in places)
        assert all(one.worst.is_within(FP32) for one in places)

    @pytest.mark.parametrize("fault", ["blind", "nan", "moved"])
    def test_a_fault_at_the_last_place_is_found_there_alone(self, count: int, fault: str) -> None:
        """Half precision has been seen wrong on the last frame of a batch only."""
        places = places_of((Fake(), Fake(fault, at=3, size=4)), looks(count), 4, FP32)
        over = [(one.size, one.place) for one in places if not one.worst.is_within(FP32)]
        assert over == [(4, 4)]
        worst = places[-1].worst
        assert worst.is_finite == (fault != "nan")
        assert places[-1].blind == (0 if fault == "moved" else count)

    def test_the_reference_sees_each_picture_once(self, count: int) -> None:
        """Alone: what a batch does to it is another matter."""
        reference = Fake()
        places_of((reference, Fake()), looks(count), 4, FP32)
        assert reference.batches == [1] * count
