"""A small anchor-free detector whose stem reads every pixel.

Defects of 2 to 3 pixels vanish in a half-size picture, so the first convolution is 8x8, stride 4:
full resolution enters, and everything after it is cheap. It is followed by plain residual 3x3
convolutions (fast on every engine, unlike depthwise ones on a CPU), a top-down pyramid, and one
decoupled head a level that gives class scores and the distances to the four box sides.

This file imports paddle and nothing else, runs under Paddle 2.6 and 3.x, and is loaded by path in a
Paddle 2.6 environment when `inspectd export --format pdmodel` writes the legacy format.
"""

from typing import Any

import paddle
from paddle import nn
from paddle.nn import functional as fn

__all__ = ["DeployedDetector", "Detector", "anchor_centres"]

_STEM_KERNEL = 8
_STEM_STRIDE = 4
_PRIOR = 0.01
"""Score of every anchor before training: few are positive (RetinaNet, section 4.1)."""
_START_REACH = 2.2
"""Distance to each box side before training, in strides: a box of 35 px at stride 8."""


def anchor_centres(
    height: int, width: int, strides: list[int]
) -> tuple[list[list[float]], list[int]]:
    """Answer each anchor's centre (x, y in input pixels) and its stride, level after level."""
    centres: list[list[float]] = []
    reach: list[int] = []
    for stride in strides:
        for row in range(height // stride):
            for column in range(width // stride):
                centres.append([(column + 0.5) * stride, (row + 0.5) * stride])
                reach.append(stride)
    return centres, reach


def _conv(inputs: int, outputs: int, kernel: int = 3, stride: int = 1) -> nn.Sequential:
    pad = (kernel - stride + 1) // 2 if kernel == _STEM_KERNEL else kernel // 2
    return nn.Sequential(
        nn.Conv2D(inputs, outputs, kernel, stride, pad, bias_attr=False),
        nn.BatchNorm2D(outputs),
        nn.ReLU(),
    )


class _Block(nn.Layer):
    """Add a 3x3 convolution to what came in."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv = _conv(width, width)

    def forward(self, x: Any) -> Any:
        return x + self.conv(x)


class _Head(nn.Layer):
    """Scores and distances of one level."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.cls_tower = _conv(width, width)
        self.reg_tower = _conv(width, width)
        prior = float(paddle.log(paddle.to_tensor(_PRIOR / (1 - _PRIOR))))
        self.cls = nn.Conv2D(
            width,
            classes,
            1,
            bias_attr=paddle.ParamAttr(initializer=nn.initializer.Constant(prior)),
        )
        self.reg = nn.Conv2D(
            width,
            4,
            1,
            bias_attr=paddle.ParamAttr(initializer=nn.initializer.Constant(_START_REACH)),
        )

    def forward(self, x: Any) -> tuple[Any, Any]:
        return self.cls(self.cls_tower(x)), fn.softplus(self.reg(self.reg_tower(x)))


class Detector(nn.Layer):
    """Picture in, class logits and side distances for every anchor out.

    `widths` and `depths` give channels and number of residual convolutions at strides 4, 8, 16, 32;
    `levels` are the strides that carry a head.
    """

    def __init__(
        self,
        classes: int,
        widths: list[int],
        depths: list[int],
        neck_width: int,
        levels: list[int],
    ) -> None:
        super().__init__()
        self.levels = list(levels)
        self.stages = nn.LayerList()
        previous = 3
        for index, (width, depth) in enumerate(zip(widths, depths, strict=True)):
            enter = (
                _conv(previous, width, _STEM_KERNEL, _STEM_STRIDE)
                if index == 0
                else _conv(previous, width, 3, 2)
            )
            self.stages.append(nn.Sequential(enter, *[_Block(width) for _ in range(depth)]))
            previous = width
        self.strides = [_STEM_STRIDE * 2**index for index in range(len(widths))]
        self.lateral = nn.LayerList(
            [
                nn.Conv2D(width, neck_width, 1)
                for width, stride in zip(widths, self.strides, strict=True)
                if stride >= min(levels)
            ]
        )
        self.smooth = nn.LayerList([_conv(neck_width, neck_width) for _ in levels])
        self.heads = nn.LayerList([_Head(neck_width, classes) for _ in levels])

    def forward(self, x: Any) -> tuple[Any, Any]:
        """Answer logits (B, C, A) and distances (B, 4, A), left top right bottom, in strides.

        `x` is float32 (B, 3, H, W), normalised; H and W must be multiples of the largest stride.
        """
        features = []  # no zip(strict=True) here: paddle.jit cannot convert it
        for stride, stage in zip(self.strides, self.stages):  # noqa: B905
            x = stage(x)
            if stride >= min(self.levels):
                features.append((stride, x))
        pyramid = {}
        above = None
        for (stride, feature), lateral in zip(  # noqa: B905
            reversed(features), reversed(list(self.lateral))
        ):
            level = lateral(feature)
            if above is not None:
                level = level + fn.interpolate(above, scale_factor=2, mode="nearest")
            pyramid[stride] = above = level
        logits, distances = [], []
        for stride, smooth, head in zip(self.levels, self.smooth, self.heads):  # noqa: B905
            scores, sides = head(smooth(pyramid[stride]))
            logits.append(paddle.flatten(scores, 2))
            distances.append(paddle.flatten(sides, 2))
        if len(logits) == 1:
            return logits[0], distances[0]
        return paddle.concat(logits, -1), paddle.concat(distances, -1)


class DeployedDetector(nn.Layer):
    """The network with its decoding, as PaddleDetection exports it without NMS."""

    def __init__(self, detector: Detector, height: int, width: int) -> None:
        super().__init__()
        self.detector = detector
        centres, strides = anchor_centres(height, width, detector.levels)
        points = paddle.to_tensor(centres, dtype="float32")
        self.register_buffer("centres", paddle.unsqueeze(paddle.concat([points, points], -1), 0))
        reach = paddle.to_tensor(strides, dtype="float32").reshape([1, -1, 1])
        self.register_buffer("reach", paddle.concat([-reach, -reach, reach, reach], -1))

    def forward(self, image: Any, scale_factor: Any) -> tuple[Any, Any]:
        """Answer boxes float32 (B, A, 4), x1 y1 x2 y2 in frame pixels, and scores (B, C, A).

        `scale_factor` is float32 (B, 2), input size / frame size, vertical first.
        """
        logits, distances = self.detector(image)
        boxes = self.centres + paddle.transpose(distances, [0, 2, 1]) * self.reach
        vertical, horizontal = scale_factor[:, 0:1], scale_factor[:, 1:2]
        scale = paddle.concat([horizontal, vertical, horizontal, vertical], -1)
        return boxes / paddle.unsqueeze(scale, 1), fn.sigmoid(logits)
