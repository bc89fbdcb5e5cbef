"""Suppression of overlapping boxes, held against OpenCV's and against a loop over frames.

The same boxes go through all of them in turn, round after round, so that a busy machine is busy for
each. Boxes are drawn as a detector without NMS in its graph gives them: clusters around objects on
a floor of low scores.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from inspectd.bench.finding import Finding
from inspectd.model.nms import suppress, suppress_batch
from inspectd.model.spec import Nms

__all__ = ["Suppression", "drawn", "find", "measure"]

_Floats = npt.NDArray[np.float32]
_NMS = Nms(iou_threshold=0.5, score_threshold=0.05)
_OBJECTS = 12
_BOXES_AROUND = 25
_SIDE_PX = 640
_ROUNDS = 30


@dataclass(frozen=True, slots=True)
class Suppression:
    """Medians of a batch, microseconds."""

    frames: int
    anchors: int
    classes: int
    batched_us: float
    """The whole batch at once."""
    by_frame_us: float
    """Our own, frame after frame."""
    opencv_us: float
    """`cv2.dnn.NMSBoxesBatched`, frame after frame: it knows classes but not frames."""

    @property
    def to_opencv(self) -> float:
        """Our time by OpenCV's."""
        return self.batched_us / self.opencv_us

    @property
    def to_loop(self) -> float:
        """Our time for the batch by that of a loop."""
        return self.batched_us / self.by_frame_us


def find() -> Finding:
    """Measure one frame, a batch, and the tiles of a 4K frame."""
    each = [measure(frames) for frames in (1, 8, 28)]
    return Finding(
        title="suppression of overlapping boxes (8400 anchors, 6 classes), microseconds a batch",
        lines=[
            (
                f"{one.frames} frame{'s' if one.frames > 1 else ''}",
                (
                    f"at once {one.batched_us:8.0f}  in a loop {one.by_frame_us:8.0f}  "
                    f"OpenCV in a loop {one.opencv_us:8.0f}  ratios {one.to_loop:.2f}, "
                    f"{one.to_opencv:.2f}"
                ),
            )
            for one in each
        ],
        numbers={
            "batches": [
                {
                    "frames": one.frames,
                    "batched_us": round(one.batched_us, 1),
                    "by_frame_us": round(one.by_frame_us, 1),
                    "opencv_us": round(one.opencv_us, 1),
                }
                for one in each
            ]
        },
        aim="a batch of frames at once is not slower than OpenCV's in a loop",
        is_met=all(one.to_opencv <= 1 for one in each if one.frames > 1),
    )


def measure(frames: int, anchors: int = 8400, classes: int = 6) -> Suppression:
    """Measure on `frames` frames of `anchors` boxes with scores of `classes` classes."""
    boxes, scores = drawn(frames, anchors, classes)
    rivals: dict[str, Callable[[], object]] = {
        "batched": lambda: suppress_batch(boxes, scores, _NMS),
        "by_frame": lambda: [suppress(boxes[at], scores[at], _NMS) for at in range(frames)],
        "opencv": lambda: [_opencv(boxes[at], scores[at]) for at in range(frames)],
    }
    times: dict[str, list[float]] = {name: [] for name in rivals}
    for _ in range(_ROUNDS):
        for name, work in rivals.items():
            begin_ns = time.perf_counter_ns()
            work()
            times[name].append((time.perf_counter_ns() - begin_ns) / 1e3)
    median = {name: statistics.median(each) for name, each in times.items()}
    return Suppression(
        frames, anchors, classes, median["batched"], median["by_frame"], median["opencv"]
    )


def _opencv(boxes: _Floats, scores: _Floats) -> object:
    """One frame as a user of OpenCV would do it: each anchor in its best class."""
    classes = scores.argmax(axis=0)
    best = scores[classes, np.arange(scores.shape[1])]
    which = np.flatnonzero(best > _NMS.score_threshold)
    corner = boxes[which].copy()
    corner[:, 2:] -= corner[:, :2]
    return cv2.dnn.NMSBoxesBatched(
        corner.tolist(),
        best[which].tolist(),
        classes[which].tolist(),
        _NMS.score_threshold,
        _NMS.iou_threshold,
        top_k=_NMS.keep_top_k,
    )


def drawn(frames: int, anchors: int, classes: int) -> tuple[_Floats, _Floats]:
    """Boxes (frames, anchors, 4) and scores (frames, classes, anchors)."""
    random = np.random.default_rng(5)
    corner = random.uniform(0, _SIDE_PX, (frames, anchors, 2))
    boxes = np.concatenate([corner, corner + random.uniform(8, 40, corner.shape)], axis=2)
    scores = random.uniform(0, 0.04, (frames, classes, anchors))
    for frame in range(frames):
        for at in range(_OBJECTS):
            near = slice(at * _BOXES_AROUND, (at + 1) * _BOXES_AROUND)
            x, y = random.uniform(0, _SIDE_PX - 40, 2)
            box = np.array([x, y, x + 30, y + 30])
            boxes[frame, near] = box + random.normal(0, 2, (_BOXES_AROUND, 4))
            scores[frame, at % classes, near] = random.uniform(0.1, 0.95, _BOXES_AROUND)
    return boxes.astype(np.float32), scores.astype(np.float32)
